/** Commands that prove by ezkl: verify a folder, prove and verify without a chain, settle manually. Before it
 *  `assay proof ezkl install --data build/ezkl-data` ran (tools/named-suite.ts). */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { readDeployment } from "../../protocol/chain/deployment-file.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { runAssay } from "../support/assay.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { windowNumbers } from "../support/make-ezkl-vectors.ts";

const NAME = "forecast-ezkl";
const EZKL = join(projectRoot, "build/ezkl-data/ezkl");
const folder = temporaryFolder();
const deployment = join(folder.path, "deployment.json");
let local: LocalChain;

beforeAll(async () => {
  local = await startLocalChain();
  await assay(["deploy", "--answer-seconds", "5"]);
});

afterAll(async () => {
  await local?.stop();
  folder.remove();
});

/** Runs a command as an account; it must end with this code. @returns its JSON, the error's where it fails */
async function assay(args: readonly string[], code = 0, account = 0) {
  const result = await runAssay([...args, "--json"], {
    ASSAY_RPC_URL: local.rpcUrl,
    ASSAY_KEY: ANVIL_KEYS[account] as string,
    ASSAY_DATA: join(folder.path, `data-${account}`),
    ASSAY_DEPLOYMENT: deployment,
    ASSAY_POLL_INTERVAL_MS: "20",
  });
  expect(result.code, result.stderr).toBe(code);
  return JSON.parse(result.stdout === "" ? result.stderr.slice(result.stderr.indexOf("{\n")) : result.stdout);
}

describe("assay model verify", () => {
  it("default: keys, the verifier's source and a proof", async () => {
    const { ok, checks } = await assay(["model", "verify", NAME, "--ezkl", EZKL]);
    expect(ok).toBe(true);
    const names = checks.map(({ name }: { name: string }) => name);
    expect(names.slice(-3)).toEqual(["keys", "verifier's source", "proof"]);
  });

  it("error: a manifest that names another verification key", async () => {
    const copy = join(folder.path, "other-key");
    cpSync(join(projectRoot, "models", NAME), copy, { recursive: true });
    const manifest = JSON.parse(readFileSync(join(copy, "manifest.json"), "utf8"));
    manifest.assay.ezkl.vkSha256 = "00".repeat(32);
    writeFileSync(join(copy, "manifest.json"), JSON.stringify(manifest));
    const result = await runAssay(["model", "verify", copy, "--ezkl", EZKL]);
    expect(result.code).toBe(1);
    expect(result.stdout).toContain("FAIL keys: SHA-256 of the verification key is ");
  });
});

describe("assay proof prove, verify and settle", () => {
  it("default: the same output without a chain and on it; a changed proof is invalid", async () => {
    const bits = 13;
    const inputs = join(folder.path, "inputs.json");
    writeFileSync(inputs, JSON.stringify({ window: windowNumbers().map((n) => n / 2 ** bits) }));
    const file = join(folder.path, "proof.json");
    const proofLane = readDeployment(deployment).contracts.proofAdapter as string;
    const binding = ["--submitter", accountAt(1).address, "--proof-lane", proofLane];
    const prove = ["proof", "prove", NAME, "--inputs", inputs, ...binding, "--ezkl", EZKL, "--out", file];
    const proven = await assay(prove);
    expect(proven.values.forecast).toHaveLength(96);
    const verify = (code: number) => assay(["proof", "verify", NAME, "--proof", file, "--ezkl", EZKL], code);
    expect(await verify(0)).toMatchObject({ valid: true });

    await assay(["model", "register", NAME]);
    const call = join(folder.path, "call.json");
    writeFileSync(call, JSON.stringify({ window: packed() }));
    const asked = await assay(["request", NAME, "--inputs", call], 0, 2);
    const none = await assay(["settle", asked.requestId, "--lane", "execution"], 1, 1);
    expect(none.error.code).toBe("EXECUTION_REFUSED");
    const settled = await assay(["settle", asked.requestId, "--ezkl", EZKL], 0, 1);
    expect(settled.hashes).toHaveLength(1);
    expect(settled).toMatchObject({ lane: "PROOF", requests: [asked.requestId], outputs: [proven.output] });
    // Now it is settled: nothing is proven or sent again.
    expect(await assay(["settle", asked.requestId, "--ezkl", EZKL], 0, 1)).toEqual({
      ...settled,
      hashes: [],
    });

    const stated = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...stated, submitter: accountAt(2).address }));
    expect(await verify(1)).toMatchObject({ valid: false });
  });
});

/** The window as the function takes it: 16 signed 16-bit numbers a word. */
function packed(): string[] {
  const numbers = windowNumbers();
  return Array.from({ length: numbers.length / 16 }, (_, word) =>
    numbers
      .slice(16 * word, 16 * word + 16)
      .reduce((bits, number) => (bits << 16n) | BigInt.asUintN(16, BigInt(number)), 0n)
      .toString(),
  );
}
