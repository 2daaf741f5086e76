import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { accountOf, loadAccount } from "../../../protocol/chain/account.ts";
import { parseDeployment, renderDeployment } from "../../../protocol/chain/deployment.ts";
import { decryptKeystore, encryptKeystore } from "../../../protocol/chain/keystore.ts";
import { CHAIN_SETTINGS, integer, loadConfig } from "../../../protocol/service/config.ts";
import { temporaryFolder } from "../../support/deploy.ts";
import { fileOf, PASSWORD, VECTORS } from "../../support/keystore-vectors.ts";

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, "assay.json");
});
afterEach(() => folder.remove());

const load = (content: unknown, env: Record<string, string> = {}, flags: Record<string, unknown> = {}) => {
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return loadConfig(CHAIN_SETTINGS, { flags: { config: file, ...flags }, env });
};

describe("loadConfig", () => {
  test("default: flag before variable before file before default", () => {
    const content = { rpcUrl: "http://file:1", data: "file", pollIntervalMs: 70 };
    const env = { ASSAY_RPC_URL: "http://env:2", ASSAY_DATA: "env", ASSAY_POLL_INTERVAL_MS: "" };
    const config = load(content, env, { data: "flag" });
    expect(config).toEqual({
      rpcUrl: "http://env:2",
      deployment: join(folder.path, "deployments"),
      dataFee: "auto",
      data: "flag",
      pollIntervalMs: 70,
      maxFee: 500_000_000_000n,
    });
  });

  test("behavior: a path of the file and the default beside it follow the file, others the current folder", () => {
    const held = { keystore: "keys/one.json", data: "/var/lib/assay" };
    expect(load(held)).toMatchObject({
      keystore: join(folder.path, "keys/one.json"),
      data: "/var/lib/assay",
      deployment: join(folder.path, "deployments"),
    });
    const given = load(
      { ...held, deployment: "file.json" },
      { ASSAY_KEYSTORE: "env.json" },
      { data: "flag" },
    );
    expect(given).toMatchObject({
      keystore: "env.json",
      data: "flag",
      deployment: join(folder.path, "file.json"),
    });
  });

  test("args: a section has its own names", () => {
    writeFileSync(file, JSON.stringify({ prover: { port: 9_000 } }));
    const settings = { port: { schema: integer(0, 65_535), default: 8_080, description: "port" } };
    const read = (env: Record<string, string>) =>
      loadConfig(settings, { flags: { config: file }, env }, "prover");
    expect(read({})).toEqual({ port: 9_000 });
    expect(read({ ASSAY_PROVER_PORT: "1" })).toEqual({ port: 1 });
  });

  test("error: names value, source, limit and what to set", () => {
    const message = (() => {
      try {
        load({}, { ASSAY_POLL_INTERVAL_MS: "5" });
      } catch (error) {
        return (error as Error).message.replace(file, "FILE");
      }
      return undefined;
    })();
    expect(message).toMatchInlineSnapshot(
      `"pollIntervalMs is "5" (from ASSAY_POLL_INTERVAL_MS): must be an integer from 10 to 600000. Set --poll-interval-ms, ASSAY_POLL_INTERVAL_MS or pollIntervalMs in FILE: pause between looks at the chain, ms."`,
    );
    expect(() => load({ rpcUrl: "ftp://x" })).toThrow(
      /rpcUrl is "ftp:\/\/x" \(from rpcUrl in .*must be an http/,
    );
    expect(() => load({ rpcURL: "http://x" })).toThrow(/there is no setting "rpcURL".*known are rpcUrl/);
  });

  test("error: secrets in the file, files that are no configuration", () => {
    const code = (content: unknown) => {
      try {
        load(content);
      } catch (error) {
        return (error as { code: string }).code;
      }
      return undefined;
    };
    expect(code({ key: "0x1" })).toBe("CONFIG_INVALID");
    expect(code("{")).toBe("CONFIG_UNREADABLE");
    expect(code("[]")).toBe("CONFIG_UNREADABLE");
    expect(() => loadConfig(CHAIN_SETTINGS, { flags: { config: `${file}x` }, env: {} })).toThrow(
      /does not exist/,
    );
  });
});

const KEY = "0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";

describe("keystore", () => {
  test("default: opens what it wrote, with the password alone", () => {
    const text = encryptKeystore(KEY, "correct horse", 2 ** 10);
    expect(text).not.toContain(KEY.slice(2));
    expect(decryptKeystore(text, "correct horse", "k.json")).toBe(KEY);
    expect(() => decryptKeystore(text, "battery staple", "k.json")).toThrow(
      expect.objectContaining({ code: "KEYSTORE_PASSWORD_WRONG" }),
    );
  });

  test("default: opens a file of the definition's pbkdf2 vector", () => {
    expect(decryptKeystore(fileOf(VECTORS.pbkdf2), PASSWORD, "vector")).toBe(KEY);
  });

  test("error: one flipped bit, other ciphers, absurd costs", () => {
    const text = encryptKeystore(KEY, "correct horse", 2 ** 10);
    const flipped = text.replace(
      /"ciphertext": "(.)/,
      (_all, digit) => `"ciphertext": "${digit === "0" ? "1" : "0"}`,
    );
    const code = (content: string) => {
      try {
        return decryptKeystore(content, "correct horse", "k.json");
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(code(flipped)).toBe("KEYSTORE_PASSWORD_WRONG");
    expect(code(text.replace("aes-128-ctr", "aes-256-gcm"))).toBe("KEYSTORE_INVALID");
    expect(code(text.replace('"n": 1024', '"n": 1073741824'))).toBe("KEYSTORE_INVALID");
    expect(code("{}")).toBe("KEYSTORE_INVALID");
  });
});

describe("loadAccount", () => {
  test("default: the environment before the keystore", () => {
    expect(loadAccount({ keystore: "absent.json" }, { ASSAY_KEY: KEY })?.address).toBe(
      "0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b",
    );
    expect(loadAccount({}, {})).toBeUndefined();
  });

  test("default: a keystore file with its password file", () => {
    const keystore = join(folder.path, "key.json");
    const password = join(folder.path, "password");
    writeFileSync(keystore, encryptKeystore(KEY, "correct horse", 2 ** 10));
    writeFileSync(password, "correct horse\nanother line\n");
    const account = loadAccount({ keystore, keystorePasswordFile: password }, {});
    expect(account?.address).toBe(accountOf(KEY, "test").address);
    expect(() => loadAccount({ keystore }, {})).toThrow(
      expect.objectContaining({ code: "KEYSTORE_PASSWORD_MISSING" }),
    );
    expect(() => loadAccount({ keystore: "absent", keystorePasswordFile: password }, {})).toThrow(
      expect.objectContaining({ code: "KEYSTORE_UNREADABLE" }),
    );
  });

  test("error: the key is never in the message", () => {
    for (const bad of [`${KEY}00`, "0x".padEnd(66, "f"), "0x".padEnd(66, "0"), "not a key"]) {
      try {
        accountOf(bad, "ASSAY_KEY");
        expect.unreachable();
      } catch (error) {
        const { code, message, cause } = error as { code: string; message: string; cause?: unknown };
        expect(code).toBe("KEY_INVALID");
        expect(`${message}${String(cause)}`).not.toContain(bad.slice(2, 30));
      }
    }
  });
});

describe("deployment file", () => {
  const address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
  const deployment = {
    chainId: 31337,
    judgeVersion: 1,
    contracts: { assay: address, registry: address, judge: address },
    constants: { answerSeconds: 5, gasPriceFloor: 1n, gasBase: 2n, gasPerDemand: 3n },
    block: { number: 4n, hash: `0x${"ab".repeat(32)}` },
  } as const;

  test("default: reads what it wrote", () => {
    expect(parseDeployment(renderDeployment(deployment), "x")).toEqual(deployment);
  });

  test("error: names the field", () => {
    const broken = renderDeployment(deployment).replace(address, "0x12");
    expect(() => parseDeployment(broken, "x.json")).toThrow(/x\.json.*contracts\.assay: is no address/);
    expect(() => parseDeployment("{", "x.json")).toThrow(/is not JSON/);
  });
});
