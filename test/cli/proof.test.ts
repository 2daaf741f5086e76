import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { storeKey } from "../../protocol/chain/proof/store-key.ts";
import type { Sender } from "../../protocol/chain/sender.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { runInProcess } from "../support/assay.ts";
import { temporaryFolder } from "../support/deploy.ts";

let local: LocalChain;
let folder: ReturnType<typeof temporaryFolder>;
let model: string;
let keys: string;
let inputs: string;

beforeAll(async () => {
  local = await startLocalChain();
  folder = temporaryFolder();
  model = join(folder.path, "forecast");
  keys = join(folder.path, "keys");
  inputs = join(folder.path, "inputs.json");
  cpSync("models/forecast-btc", model, { recursive: true });
  const prices = (start: number): number[] =>
    Array.from({ length: 65 }, (_, i) => start + 37 * ((i * i) % 53));
  writeFileSync(
    inputs,
    JSON.stringify({ closes: prices(1_000_000), highs: prices(1_010_000), lows: prices(990_000) }),
  );
});
afterAll(async () => {
  await local?.stop();
  folder?.remove();
});

/** Runs a command as an account; it must end with this code. @returns its JSON */
async function run(args: string[], account: number, code = 0) {
  const result = await runInProcess([...args, "--json"], {
    ASSAY_RPC_URL: local.rpcUrl,
    ASSAY_KEY: ANVIL_KEYS[account] as string,
    ASSAY_DATA: join(folder.path, `data-${account}`),
    ASSAY_DEPLOYMENT: join(folder.path, "deployment.json"),
    ASSAY_POLL_INTERVAL_MS: "20",
  });
  expect(result, result.stderr).toMatchObject({ code });
  // Progress comes before the error.
  return JSON.parse(code === 0 ? result.stdout : result.stderr.slice(result.stderr.indexOf("{")));
}

describe("assay proof", () => {
  test("default: from keys to requests that proofs have settled", async () => {
    const tool = JSON.parse(readFileSync(join(model, "tool.json"), "utf8"));
    const onnx = join(model, "model.onnx");
    // The model as it was before it had a key.
    rmSync(join(model, "verification-key.bin"));
    writeFileSync(join(model, "tool.json"), JSON.stringify({ ...tool, lanes: ["BOND"] }));
    await run(["model", "import", onnx, "--out", model], 1);
    writeFileSync(join(model, "tool.json"), JSON.stringify({ ...tool, lanes: ["PROOF", "BOND"] }));
    expect((await run(["model", "import", onnx, "--out", model], 1, 1)).error.code).toBe(
      "VERIFICATION_KEY_MISSING",
    );
    const made = await run(["proof", "setup", model, "--out", model, "--keys", keys], 1);
    expect(made).toMatchObject({ origin: "development" });
    expect(existsSync(made.provingKey)).toBe(true);
    await run(["model", "import", onnx, "--out", model], 1);
    const { assay } = JSON.parse(readFileSync(join(model, "manifest.json"), "utf8"));
    expect(assay).toMatchObject({ vkHash: made.vkHash, keyOrigin: "development", lanes: ["PROOF", "BOND"] });

    const { deployment } = await run(["deploy", "--answer-seconds", "2"], 0);
    expect(await run(["model", "register", model], 1)).toMatchObject({ modelId: assay.modelId, isNew: true });
    expect(await run(["model", "register", model], 1)).toMatchObject({ isNew: false });
    const asked: string[] = [];
    for (let i = 0; i < 3; i++) {
      asked.push((await run(["request", model, "--inputs", inputs], 2)).requestId as string);
    }
    const [first, ...rest] = asked as [string, string, string];
    const options = ["--model", model, "--keys", keys];
    const one = await run(["settle", first, ...options], 1);
    expect(one).toMatchObject({ lane: "PROOF", requests: [first] });
    const two = await run(["settle", ...rest, ...options, "--lane", "proof"], 1);
    expect(two.outputs).toEqual([one.outputs[0], one.outputs[0]]);
    expect(readdirSync(keys)).toHaveLength(1);
    // One that is final is not proven again: without the key there is nothing to prove with.
    const none = ["--model", model, "--keys", join(folder.path, "no-keys"), "--seed", "another"];
    const again = await run(["settle", ...asked, ...none, "--lane", "proof"], 1);
    expect(again).toMatchObject({ hashes: [], outputs: [one.outputs[0], ...two.outputs] });
    const receipt = await local.client.getTransactionReceipt({ hash: two.hashes[0] });
    expect(receipt.status).toBe("success");
    expect((await run(["withdraw"], 1)).amountWei).not.toBe("0");

    const file = join(folder.path, "proof.json");
    const binding = ["--proof-lane", deployment.contracts.proofAdapter, "--submitter", accountAt(1).address];
    const shared = ["--inputs", inputs, "--keys", keys, "--out", file];
    const proven = await run(["proof", "prove", model, ...binding, ...shared], 1);
    expect(proven.output).toBe(one.outputs[0]);
    expect(await run(["proof", "verify", model, "--proof", file], 1)).toMatchObject({ valid: true });
    const stated = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...stated, submitter: accountAt(2).address }));
    const stolen = await runInProcess(["proof", "verify", model, "--proof", file, "--json"], {});
    expect(stolen.code).toBe(1);
    expect(JSON.parse(stolen.stdout)).toMatchObject({ valid: false });

    const { requestId: last } = await run(["request", model, "--inputs", inputs], 2);
    const settle = (...args: string[]) => run(["settle", last, ...args], 1, 2);
    expect((await settle("--lane", "bond")).error.code).toBe("ARGUMENT_INVALID");
    expect((await settle("--model", "forecast-btc")).error.code).toBe("ARGUMENT_INVALID");
    const wrong = await settle(...options, "--seed", "another");
    expect(wrong.error.code).toBe("KEY_MISMATCH");
  });
});

describe("storeKey", () => {
  const vectors = JSON.parse(readFileSync("test/vectors/proofs.json", "utf8")) as { key: string };

  const MODEL = `0x${"11".repeat(32)}` as ModelId;

  test("error: a development key on a chain that is not local", async () => {
    const chain = { game: { chainId: 10 }, deployment: { contracts: {} } } as unknown as Chain;
    const store = (options = {}) => storeKey(chain, {} as Sender, MODEL, fromHex(vectors.key), options);
    await expect(store()).rejects.toMatchObject({ code: "DEVELOPMENT_KEY" });
    // Allowed by name, it gets as far as the deployment, which has no such lane.
    await expect(store({ allowDevelopment: true })).rejects.toMatchObject({ code: "LANE_UNAVAILABLE" });
  });
});
