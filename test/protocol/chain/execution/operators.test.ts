import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../../../base/bytes.ts";
import { encodeInput } from "../../../../inference/codecs/input.ts";
import { execute } from "../../../../inference/executor/execute.ts";
import { prepare } from "../../../../inference/executor/prepare.ts";
import { importOnnx } from "../../../../inference/onnx/import.ts";
import { inferFastOnChain, inferOnChain } from "../../../../protocol/chain/execution/infer.ts";
import { type LocalChain, startLocalChain } from "../../../support/anvil.ts";
import { CHAINS } from "../../../support/attention-graphs.ts";
import { openLocalSystem } from "../../../support/deploy.ts";
import { publishPrepared } from "../../../support/executed-models.ts";
import { onnxFile } from "../../../support/onnx-file.ts";
import { EXACT, NEAR } from "../../../support/operator-graphs.ts";
import { createRng } from "../../../support/rng.ts";
import { scaled } from "../../../support/scale.ts";
import { TREE_GRAPHS } from "../../../support/tree-ensembles.ts";

const GRAPHS = { ...EXACT, ...NEAR, ...CHAINS, ...TREE_GRAPHS };
const SELECTOR = Uint8Array.of(1, 2, 3, 4);
const INPUTS = scaled(2, 20);

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
});

describe("inferOnChain", () => {
  // One graph for each way in which operators become several steps.
  it.each([
    "Attention",
    "LayerNormalization",
    "Softmax of an inner axis",
    "AveragePool",
    "QLinearGlobalAveragePool",
    "QLinearMatMul, both computed",
    "GatherElements",
    "Ceil float32",
    "Where int32",
    "ArgMax float32",
    "Gelu written out",
    "TreeEnsembleRegressor",
    "TreeEnsembleClassifier, label",
    "TreeEnsembleClassifier, ZipMap",
  ])("behavior: %s, imported, is the executor's output", async (name) => {
    const rng = createRng(1000);
    const generator = GRAPHS[name];
    if (generator === undefined) throw new Error(`there is no graph ${name}`);
    // No interpreter runs DOT activations.
    const { model } = importOnnx(onnxFile(generator(rng).graph), { products: "pairs" });
    const prepared = prepare(model, SELECTOR);
    const modelId = await publishPrepared(system.chain, system.sender, prepared);
    for (let i = 0; i < INPUTS; i++) {
      const bytes = Uint8Array.from({ length: model.program.inputSize }, () => rng.int(0, 255));
      const input = encodeInput(model.program, SELECTOR, { codec: "raw", bytes });
      const right = toHex(execute(prepared, input));
      expect(await inferOnChain(system.chain, modelId, toHex(input))).toBe(right);
      expect(await inferFastOnChain(system.chain, modelId, toHex(input))).toBe(right);
    }
  });
});
