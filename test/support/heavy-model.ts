/** A model whose run takes a good part of a second and whose trace takes seconds, from 17 KB of input. */
import { toHex } from "../../base/bytes.ts";
import { rawInput, rawProgram, step, weight } from "../../conformance/generate/small-programs.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { commitModel } from "../../inference/commit/commitments.ts";
import { selectorOf } from "../../inference/manifest/abi.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import type { Model } from "../../inference/program/form.ts";
import { packDot } from "../../inference/program/weights.ts";
import { modelIdOf } from "../../protocol/rules/ids.ts";
import { LANE } from "../../protocol/rules/types.ts";
import { loadForecast } from "./forecast.ts";
import { createRng } from "./rng.ts";

const [ROWS, COLUMNS] = [4_096, 256];
const INPUT_BYTES = 4 * (ROWS + COLUMNS);
const dims = [ROWS, COLUMNS];
/** Steps of a million elements. */
const SUMS = 6;

const INFER = {
  type: "function",
  name: "infer",
  inputs: [{ name: "input", type: "bytes" }],
  outputs: [{ name: "output", type: "bytes" }],
  stateMutability: "view",
} as const;

const MODEL: Model = {
  program: rawProgram(INPUT_BYTES, [
    rawInput("s32", [1, COLUMNS]),
    rawInput("s32", [ROWS, 1], 4 * COLUMNS),
    // Each adds the row to all rows of the one before.
    ...Array.from({ length: SUMS }, (_, i) => step({ opcode: "arith", dims, a: 1 + i, b: 0 })),
    step({ opcode: "reduce", dims: [ROWS, 1], a: 1 + SUMS }),
  ]),
  weights: [],
};

export const heavySelector = selectorOf(INFER);

/** @param fill each byte of the input */
export const heavyCalldata = (fill: number): Uint8Array =>
  encodeInput(MODEL.program, heavySelector, { codec: "raw", bytes: new Uint8Array(INPUT_BYTES).fill(fill) });

export const heavyModel = () => ({ model: MODEL, selector: heavySelector, calldata: heavyCalldata(1) });

/** One that a second thread pays for, with a trace of a megabyte: products of 64 rows with 1,024 of 992 weights, several
 *  times. */
export function wideModel() {
  const [rows, n, k] = [64, 1_024, 992];
  const rng = createRng(1);
  const channels = Array.from({ length: n }, () => ({
    ...{ bias: rng.int(-9_999, 9_999), multiplier: 0, addend: 0n, shift: 0, scaleBits: 0 },
    ...{ zeroPoint: 0, lower: 0, upper: 255, weightOffset: 128 },
  }));
  const program = rawProgram(rows * k, [
    rawInput("u8", [rows, k]),
    ...Array.from({ length: 5 }, () => step({ opcode: "dot", dims: [rows, n], a: 0, b: weight(0), k: 1 })),
    step({ opcode: "reduce", dims: [rows, 1], a: 5 }),
  ]);
  const weights = [{ layout: "dot", type: "u8", dims: [n, k] } as const];
  const model: Model = {
    program: { ...program, weights },
    weights: [packDot(rng.bytes(n * k), k, channels)],
  };
  const bytes = rng.bytes(rows * k);
  const calldata = encodeInput(model.program, heavySelector, { codec: "raw", bytes });
  return { model, selector: heavySelector, calldata };
}

/** As a node would load it; there is no folder. */
export function loadHeavyModel(): LoadedModel {
  const forecast = loadForecast();
  const commitment = commitModel(MODEL);
  const vkHash = new Uint8Array(32);
  const identity = { ...commitment, selector: heavySelector, lanes: LANE.BOND, vkHash };
  return {
    ...forecast,
    manifest: {
      ...forecast.manifest,
      name: "heavy",
      abi: [INFER],
      assay: { ...forecast.manifest.assay, vkHash: toHex(vkHash) },
    },
    ...{ model: MODEL, commitment, selector: heavySelector, laneBits: LANE.BOND },
    modelId: modelIdOf(identity),
    verificationKey: undefined,
  };
}
