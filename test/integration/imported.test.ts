/** docs/IMPORT.md from files as others' tools write them: each to a claim that is answered, checked and final. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { runInProcess } from "../support/assay.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { keyOf, ROLES, type System, startSystem } from "../support/system.ts";

/** No deadline is at stake. */
const ANSWER_SECONDS = 120;
const SOON = { timeout: 240_000, interval: 100 };

interface WalkThrough {
  /** In test/vectors. */
  readonly file: string;
  /** Of `assay model import`. */
  readonly options: readonly string[];
  /** What registration notes of the lane EXECUTION. */
  readonly note: RegExp;
}

const FITS = /^(?!.*lane EXECUTION will not work)/s;
const ids = (name: string): string[] => ["--input-type", `${name}=int32`];
const WALK_THROUGHS: Readonly<Record<string, WalkThrough>> = {
  "convolutional-network": {
    file: "quantized/mobilenet.qdq.onnx",
    options: [],
    note: /lane EXECUTION will not work. An inference would take about [\d,]+ gas/,
  },
  "text-classifier": {
    file: "quantized/text.qdq.onnx",
    options: ["--dim", "sequence=16", ...ids("input_ids"), ...ids("attention_mask")],
    note: FITS,
  },
  transformer: {
    file: "quantized/distilbert.dynamic.onnx",
    options: [...ids("input_ids"), ...ids("attention_mask")],
    note: /lane EXECUTION will not work/,
  },
  trees: { file: "trees/sklearn-forest-zipmap.onnx", options: ["--keep", "output_label"], note: FITS },
  "dynamic-file": { file: "quantized/mlp.dynamic.onnx", options: [], note: FITS },
};
const NAMES = Object.keys(WALK_THROUGHS);

let system: System;

beforeAll(async () => {
  system = await startSystem({ models: [], answerSeconds: ANSWER_SECONDS });
});
afterAll(() => system?.stop());

const assay = (...args: readonly string[]) =>
  runInProcess([...args], {
    ASSAY_RPC_URL: system.rpcUrl,
    ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
    ASSAY_DATA: join(system.folder, "manual"),
    ASSAY_KEY: keyOf(ROLES.requester),
    ASSAY_POLL_INTERVAL_MS: "50",
  });
const folderOf = (name: string): string => join(system.folder, "models", name);

function calldataOf(name: string): Uint8Array {
  const { model, selector } = loadModelFolder(folderOf(name));
  return selfTestCalldata(model.program, selector, 7);
}

function toolOf(name: string) {
  const parameter = (role: string) => [{ name: role, type: "bytes" }];
  const abi = [{ type: "function", name: "infer", inputs: parameter("input"), outputs: parameter("output") }];
  return { name, description: `A ${name} of others.`, version: "1.0.0", abi, lanes: ["EXECUTION", "BOND"] };
}

describe("models of others", () => {
  test.each(NAMES)("default: import, verify and register the %s", async (name) => {
    const { file, options, note } = WALK_THROUGHS[name] as WalkThrough;
    const source = join(system.folder, "sources", name);
    mkdirSync(source, { recursive: true });
    copyFileSync(join(projectRoot, "test/vectors", file), join(source, "model.onnx"));
    writeFileSync(join(source, "tool.json"), JSON.stringify(toolOf(name)));
    const done = async (...args: readonly string[]) => {
      const { code, stderr } = await assay(...args);
      expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
    };
    await done("model", "import", join(source, "model.onnx"), ...options, "--out", folderOf(name));
    await done("model", "verify", folderOf(name));
    const { code, stderr } = await assay("model", "register", folderOf(name));
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(note) });
  });

  test("default: a request of each gets a claim that is right and final", async () => {
    const prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]);
    const challenger = system.daemon("challenger", ROLES.challenger, ["challenger", "defend", "--port", "0"]);
    await prover.logged("prover is up");
    const { url } = await challenger.logged("challenger is up");
    const ask = (name: string, calldata: Uint8Array, ...options: readonly string[]) => {
      const { model } = loadModelFolder(folderOf(name));
      const call = join(system.folder, `${name}.json`);
      // A selector, where the bytes begin and how many there are stand before them; zeros behind.
      const bytes = calldata.subarray(4 + 64, 4 + 64 + model.program.inputSize);
      writeFileSync(call, JSON.stringify({ input: toHex(bytes) }));
      return assay("request", folderOf(name), "--inputs", call, "--json", ...options);
    };
    const [last = "", ...others] = [...NAMES].reverse();
    const claims: { claimId: string; output: string }[] = [];
    const claimed = async (name: string, calldata: Uint8Array): Promise<void> => {
      const { model, selector, modelId } = loadModelFolder(folderOf(name));
      const { claimId, output } = await system.events.until("Claimed", (e) => e.claim.modelId === modelId);
      expect(output, name).toBe(toHex(execute(prepare(model, selector), calldata)));
      claims.push({ claimId, output });
    };
    for (const name of others) {
      const calldata = calldataOf(name);
      expect(await ask(name, calldata), name).toMatchObject({ code: 0 });
      await claimed(name, calldata);
    }
    // Only the last one waits: what programs in this process print is one stream.
    const waiting = ask(last, calldataOf(last), "--wait");
    await claimed(last, calldataOf(last));
    const right = 'assay_challenger_claims_checked_total{verdict="right"}';
    await vi.waitUntil(async () => (await fetchMetrics(String(url))).get(right) === NAMES.length, SOON);
    await system.passTime(4 * ANSWER_SECONDS);
    const { code, stdout } = await waiting;
    expect([code, JSON.parse(stdout).result]).toMatchObject([0, { lane: "BOND", ...claims.at(-1) }]);
    for (const { claimId } of claims) {
      await system.events.until("Finalized", (event) => event.claimId === claimId);
    }
    expect(system.events.all("Challenged", () => true)).toEqual([]);
  });
});
