/** The perceptrons that lanes are measured on: the task itself, and others of the same form. */
import type { Hex } from "viem";
import { toHex } from "../../base/bytes.ts";
import { createRng, type Rng } from "../../conformance/generate/rng.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import type { Model } from "../../inference/program/form.ts";
import { SELECTOR } from "../chain.ts";
import { type MlpDims, mlpInput, mlpModel } from "../tasks/mlp.ts";

export interface Subject {
  readonly dims: MlpDims;
  readonly model: Model;
  readonly prepared: PreparedModel;
  readonly multiplications: number;
  /** Deterministic: the next input and what the int8 executor makes of it. */
  next(): Case;
}

export interface Case {
  readonly calldata: Uint8Array;
  readonly input: Hex;
  readonly expected: Uint8Array;
  readonly output: Hex;
}

export function subjectOf(dims: MlpDims, seed = 1): Subject {
  const { model } = mlpModel(dims);
  const prepared = prepare(model, SELECTOR);
  const rng = createRng(seed);
  const [inputs, first, second, outputs] = dims;
  const next = (): Case => {
    const bytes = inputBytes(rng, inputs);
    const calldata = encodeInput(model.program, SELECTOR, { codec: "raw", bytes });
    const expected = execute(prepared, calldata);
    return { calldata, input: toHex(calldata), expected, output: toHex(expected) };
  };
  const multiplications = inputs * first + first * second + second * outputs;
  return { dims, model, prepared, multiplications, next };
}

/** Pictures, cut or repeated to the length. */
function inputBytes(rng: Rng, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 256) bytes.set(mlpInput(rng).subarray(0, length - at), at);
  return bytes;
}
