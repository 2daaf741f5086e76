import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Address, Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { clockFinding } from "../../cli/doctor/chain.ts";
import type { Finding } from "../../cli/doctor/finding.ts";
import { diskFinding } from "../../cli/doctor/machine.ts";
import { modelFolder } from "../../cli/model-source.ts";
import { accountOf } from "../../protocol/chain/account.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { parseDeployment } from "../../protocol/chain/deployment.ts";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import { encryptKeystore } from "../../protocol/chain/keystore.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import { lockFolder } from "../../protocol/service/journal/database.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { runAssay, runInProcess } from "../support/assay.ts";
import { deployLocal, temporaryFolder } from "../support/deploy.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";

describe("clockFinding", () => {
  test.each([
    [1_000, 1_012, "ok"],
    [1_000, 985, "ok"],
    [1_000, 1_031, "warn"],
    [1_000, 960, "fail"],
  ] as const)("default: a block of %i seen at %i is %s", (head, local, status) => {
    expect(clockFinding(head, local).status).toBe(status);
  });
});

describe("diskFinding", () => {
  test.each([
    [99, "fail"],
    [1_000, "warn"],
    [2_000, "ok"],
  ] as const)("default: %i MiB are %s", (free, status) => {
    expect(diskFinding("data", free).status).toBe(status);
  });
});

describe("assay doctor", () => {
  const folder = temporaryFolder();
  const path = (...parts: string[]) => join(folder.path, ...parts);
  let local: LocalChain;
  let env: Record<string, string>;

  beforeAll(async () => {
    local = await startLocalChain();
    writeDeployment(path("deployment.json"), await deployLocal(local));
    cpSync(modelFolder("forecast-vix"), path("models", "forecast-vix"), { recursive: true });
    env = {
      ASSAY_RPC_URL: local.rpcUrl,
      ASSAY_DEPLOYMENT: path("deployment.json"),
      ASSAY_DATA: path("data"),
      ASSAY_PROVER_MODELS: path("models"),
      ASSAY_KEY: ANVIL_KEYS[1] as string,
    };
  });
  afterAll(async () => {
    await local?.stop();
    folder.remove();
  });

  async function doctor(changes: Record<string, string> = {}, args: readonly string[] = []) {
    const { code, stdout } = await runInProcess(["doctor", "--json", ...args], { ...env, ...changes });
    const { findings, isWell } = JSON.parse(stdout) as { findings: Finding[]; isWell: boolean };
    const of = (subject: string, status: Finding["status"]) =>
      findings.filter((finding) => finding.subject === subject && finding.status === status);
    return { code, isWell, findings, of };
  }

  /** A key of which the chain has never heard. */
  const POOR = `0x${"11".repeat(32)}` as const;

  test("behavior: paths in a file follow the file, from whatever folder it is used", async () => {
    const own = path("etc");
    mkdirSync(own);
    mkdirSync(path("elsewhere"));
    cpSync(path("deployment.json"), join(own, "deployment.json"));
    cpSync(path("models"), join(own, "models"), { recursive: true });
    const content = { rpcUrl: local.rpcUrl, deployment: "deployment.json", prover: { models: "models" } };
    writeFileSync(join(own, "assay.json"), JSON.stringify(content));
    const args = ["doctor", "--json", "--config", "../etc/assay.json"];
    const { stdout } = await runAssay(args, { ASSAY_KEY: ANVIL_KEYS[1] as string }, path("elsewhere"));
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    expect(findings.filter(({ status }) => status === "fail")).toEqual([]);
    const texts = findings.map(({ subject, text, nextStep }) => `${subject}: ${text} ${nextStep}`).join("\n");
    expect(texts).toContain("data: ../etc/data can be written");
    expect(texts).toContain("assay model register ../etc/models/forecast-vix");
    expect(existsSync(path("elsewhere/data"))).toBe(false);
    expect(existsSync(join(own, "data"))).toBe(true);
    rmSync(own, { recursive: true });
  });

  test("behavior: the contracts' code is that of this version; one byte of one of them is not", async () => {
    expect((await doctor()).of("code", "ok")).toMatchObject([
      { text: expect.stringMatching(/^all \d+ contracts/) },
    ]);
    const deployment = parseDeployment(readFileSync(path("deployment.json"), "utf8"), "deployment.json");
    for (const name of ["judge", "courier"] as const) {
      const address = deployment.contracts[name] as Address;
      const code = (await local.client.getCode({ address })) ?? "0x";
      await local.control.setCode({
        address,
        bytecode: `${code.slice(0, -1)}${code.endsWith("0") ? 1 : 0}` as Hex,
      });
      const changed = await doctor();
      expect([changed.code, changed.of("code", "ok"), changed.of("code", "fail")]).toMatchObject([
        4,
        [],
        [
          {
            text: expect.stringContaining(`other code stands at ${address}`),
            nextStep: expect.stringContaining("Send nothing"),
          },
        ],
      ]);
      await local.control.setCode({ address, bytecode: code });
    }
  });

  test("error: a data folder of another deployment, or of another key", async () => {
    const deployment = parseDeployment(readFileSync(path("deployment.json"), "utf8"), "deployment.json");
    const account = accountAt(1);
    const chain = requireAccount(await connect({ rpcUrl: local.rpcUrl, deployment, account }));
    await openDataFolder(path("used"), chain).close();
    expect((await doctor({ ASSAY_DATA: path("used") })).of("data", "fail")).toEqual([]);
    writeDeployment(path("second.json"), await deployLocal(local));
    const second = { ASSAY_DATA: path("used"), ASSAY_DEPLOYMENT: path("second.json") };
    expect(await doctor(second)).toMatchObject({ code: 4, isWell: false });
    expect((await doctor(second)).of("data", "fail")).toMatchObject([
      { text: expect.stringContaining("was used with assay"), nextStep: expect.stringContaining("--data") },
    ]);
    const other = { ASSAY_DATA: path("used"), ASSAY_KEY: ANVIL_KEYS[2] as string };
    expect((await doctor(other)).of("data", "fail")).toMatchObject([
      { text: expect.stringContaining("was used with account") },
    ]);
  });

  test("error: an empty balance, also before there is a deployment", async () => {
    const { of } = await doctor({ ASSAY_DEPLOYMENT: path("none.json"), ASSAY_KEY: POOR });
    expect(of("balance", "fail")).toMatchObject([
      { text: `${accountOf(POOR, "").address} has 0 ether`, nextStep: expect.stringContaining("Send ether") },
    ]);
  });

  test("error: `assay deploy` without money names account and amount", async () => {
    const args = ["deploy", "--deployment", path("new.json"), "--json"];
    const { code, stderr } = await runInProcess(args, { ...env, ASSAY_KEY: POOR, ASSAY_DEPLOYMENT: "" });
    expect([code, JSON.parse(stderr)]).toMatchObject([
      3,
      {
        error: {
          code: "INSUFFICIENT_FUNDS",
          message: expect.stringMatching(
            /^The account 0x\w{40} has 0 ether; deploying takes up to 0\.\d+ ether/,
          ),
          details: { account: accountOf(POOR, "").address },
        },
      },
    ]);
  });

  test("default: a system that is in order, and a model that is not registered yet", async () => {
    const { code, isWell, findings, of } = await doctor();
    expect(findings.filter(({ status }) => status === "fail")).toEqual([]);
    expect([code, isWell]).toEqual([0, true]);
    for (const subject of ["configuration", "node", "contracts", "balance", "data"])
      expect([subject, of(subject, "ok").length]).not.toEqual([subject, 0]);
    expect(of("models", "warn")).toMatchObject([
      { nextStep: expect.stringContaining(`assay model register ${path("models", "forecast-vix")}`) },
    ]);
  });

  test("behavior: for people, one line each and what to do below", async () => {
    const { stdout } = await runInProcess(["doctor"], env);
    expect(stdout).toMatch(/^ok {4}node +anvil or Hardhat \(chain 31337\), block \d+/m);
    expect(stdout).toMatch(/^warn {2}models .*\n +→ Register it/m);
  });

  test("error: no node; all else is still looked at", async () => {
    const { code, of } = await doctor({ ASSAY_RPC_URL: "http://127.0.0.1:9" });
    expect(code).toBe(4);
    expect(of("node", "fail")).toHaveLength(1);
    expect([of("models", "ok").length, of("data", "ok").length]).toEqual([1, 1]);
  });

  test("behavior: a connection that breaks once is no fault of the node", async () => {
    const proxy = await startRpcProxy(local.rpcUrl);
    let broken = 0;
    proxy.decide = () => (broken++ === 0 ? "break" : "pass");
    const { of } = await doctor({ ASSAY_RPC_URL: proxy.url });
    await proxy.stop();
    expect(broken).toBeGreaterThan(1);
    expect(of("node", "ok").length).toBeGreaterThan(0);
    expect(of("node", "fail")).toEqual([]);
  });

  test("error: a configuration that cannot be read says which value", async () => {
    const { code, of } = await doctor({ ASSAY_CHALLENGER_WIDTH: "0", ASSAY_CONFIRMATIONS: "-1" });
    expect(code).toBe(4);
    expect(of("configuration", "fail").map(({ text }) => text)).toEqual([
      expect.stringContaining("confirmations"),
      expect.stringContaining("width"),
    ]);
    expect(of("configuration", "warn")).toMatchObject([{ text: expect.stringContaining("not looked at") }]);
  });

  test("error: a configuration file that is not JSON is said once, with what is wrong in it", async () => {
    const file = path("broken.json");
    writeFileSync(file, '{\n  "rpcUrl": x1\n}');
    const { code, of } = await doctor({ ASSAY_CONFIG: file });
    expect([code, of("node", "ok").length]).toEqual([4, 0]);
    expect(of("configuration", "fail")).toMatchObject([
      { text: expect.stringMatching(/broken\.json cannot be read: it is not JSON: .*x/) },
    ]);
  });

  test("error: an empty account, and key files that others can read", async () => {
    const [keystore, password] = [path("key.json"), path("password")];
    const fresh = `0x${"00".repeat(31)}07` as const;
    writeFileSync(keystore, encryptKeystore(fresh, "a long password"));
    writeFileSync(password, "a long password\n");
    chmodSync(password, 0o600);
    chmodSync(keystore, 0o644);
    const { code, of } = await doctor({
      ASSAY_KEY: "",
      ASSAY_KEYSTORE: keystore,
      ASSAY_KEYSTORE_PASSWORD_FILE: password,
    });
    expect(code).toBe(4);
    expect(of("balance", "fail")).toMatchObject([{ text: expect.stringContaining("has 0 ether") }]);
    expect(of("key", "warn")).toMatchObject([{ nextStep: `Run \`chmod 600 ${keystore}\`.` }]);
    expect(of("key", "ok").at(-1)?.text).toContain(password);
  });

  test("error: an invalid key hides neither node nor contracts", async () => {
    const { code, of } = await doctor({ ASSAY_KEY: "0x12" });
    expect(code).toBe(4);
    expect(of("key", "fail")).toMatchObject([{ nextStep: "Make one with `assay key new`." }]);
    expect([of("contracts", "ok").length, of("balance", "ok").length]).toEqual([1, 0]);
  });

  test("error: no deployment file hides no key", async () => {
    const { code, of } = await doctor({ ASSAY_DEPLOYMENT: path("none.json") });
    expect([code, of("contracts", "fail").length]).toEqual([4, 1]);
    expect(of("key", "ok")).toMatchObject([{ text: expect.stringContaining(accountAt(1).address) }]);
  });

  test("error: a signer that is gone, or that does not hold the key", async () => {
    const sign = (signer: string, address: string) =>
      doctor({ ASSAY_KEY: "", ASSAY_SIGNER: signer, ASSAY_SIGNER_ADDRESS: address });
    // anvil signs for the accounts that it made.
    const own = await sign(local.rpcUrl, accountAt(1).address);
    expect([own.code, own.of("key", "ok").at(-1)?.text]).toEqual([0, "the signer holds it"]);
    const others = await sign(local.rpcUrl, "0x00000000000000000000000000000000000000AA");
    expect(others.of("key", "fail")).toMatchObject([
      {
        text: expect.stringContaining("does not hold the key of 0x00000000000000000000000000000000000000AA"),
      },
    ]);
    const gone = await sign("http://127.0.0.1:9", accountAt(1).address);
    expect([gone.code, gone.of("contracts", "ok").length]).toEqual([4, 1]);
    expect(gone.of("key", "fail")).toMatchObject([
      { nextStep: "Start it, or correct --signer (ASSAY_SIGNER)." },
    ]);
  });

  test.each([[["prover", "--port", "0"]], [["challenger", "defend"]]])(
    "behavior: %j says at its start that the key has no money",
    async (args) => {
      // It ends at the folder, which another process uses.
      const lock = lockFolder(path("data"));
      const { code, stdout } = await runAssay(args, { ...env, ASSAY_KEY: `0x${"00".repeat(31)}07` });
      lock.release();
      expect(code).not.toBe(0);
      const lines = stdout.split("\n").filter((line) => line.includes('"balance"'));
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([
        {
          level: "error",
          msg: expect.stringContaining("has 0 ether"),
          nextStep: expect.stringContaining("Send"),
        },
      ]);
    },
  );

  test("behavior: no key is no fault", async () => {
    const { code, of } = await doctor({ ASSAY_KEY: "" });
    expect([code, of("key", "warn").length]).toEqual([0, 1]);
  });

  test("behavior: transactions that wait to be mined are seen", async () => {
    await local.control.setAutomine(false);
    await local.control.sendUnsignedTransaction({
      from: accountAt(1).address,
      to: accountAt(2).address,
      value: 1n,
    });
    expect((await doctor()).of("key", "warn")).toMatchObject([{ text: expect.stringContaining("1 of its") }]);
    await local.control.mine({ blocks: 1 });
    await local.control.setAutomine(true);
  });

  test("error: a model folder that is not as its manifest says", async () => {
    cpSync(path("models"), path("damaged"), { recursive: true });
    appendFileSync(path("damaged", "forecast-vix", "weights.bin"), "x");
    cpSync(path("models", "forecast-vix"), path("damaged", "whole"), { recursive: true });
    const { code, of } = await doctor({}, ["--models", path("damaged")]);
    expect(code).toBe(4);
    expect(of("models", "fail")).toMatchObject([{ text: expect.stringContaining("weights.bin") }]);
    expect(of("models", "warn")).toHaveLength(1);
    rmSync(path("damaged", "whole"), { recursive: true });
    expect((await doctor({}, ["--models", path("damaged")])).of("models", "fail")).toMatchObject([
      { text: expect.stringContaining("weights.bin") },
      { text: expect.stringContaining("no usable model") },
    ]);
  });

  test("behavior: a data folder in use is left alone; one that cannot be written is a fault", async () => {
    const lock = lockFolder(path("data"));
    expect((await doctor()).of("data", "ok")).toMatchObject([{ text: expect.stringContaining("in use") }]);
    lock.release();
    writeFileSync(path("file"), "");
    const { code, of } = await doctor({ ASSAY_DATA: path("file") });
    expect([code, of("data", "fail")]).toMatchObject([
      4,
      [{ nextStep: expect.stringContaining("name another folder (--data, ASSAY_DATA)") }],
    ]);
    mkdirSync(path("broken"));
    writeFileSync(path("broken", "assay.sqlite"), "this is no database, whatever its name says".repeat(40));
    expect((await doctor({ ASSAY_DATA: path("broken") })).of("data", "fail")).toMatchObject([
      { text: expect.stringContaining("is damaged") },
    ]);
  });
});
