/** Vectors of the claimed output: what a CODEC step of variant claimed makes of any bytes that a claim can state. */
import { encodeAbiParameters, type Hex } from "viem";
import { toHex } from "../../base/bytes.ts";
import { claimedProgram } from "../../conformance/generate/claimed-program.ts";
import { claimedOutput } from "../../conformance/generate/running-model.ts";
import { step } from "../../conformance/generate/small-programs.ts";
import { fillClaimedTensor } from "../../inference/codecs/claimed.ts";
import { encodeOutput } from "../../inference/codecs/output.ts";
import { commitTrace } from "../../inference/commit/commitments.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import {
  elementCount,
  lastDim,
  OUTPUT_CODECS,
  type OutputCodec,
  type Program,
  type Tensor,
  type TensorType,
} from "../../inference/program/form.ts";
import { outputLength } from "../../inference/program/shape.ts";
import { newData } from "../../inference/program/tensor.ts";
import { assertValid } from "../../inference/program/validate.ts";
import { modelOf } from "./claimed-models.ts";
import { createRng, type Rng } from "./rng.ts";
import { VECTOR_ABIS, verdictsAround } from "./vectors.ts";

const SELECTOR = "0x01020304";

/** One CodecVector, whose input is a claimed output. Two of three outputs are any bytes. */
export function claimedVector(seed: number): Hex {
  const rng = createRng(seed);
  const outputCodec = OUTPUT_CODECS[seed % OUTPUT_CODECS.length] as OutputCodec;
  const type: TensorType = outputCodec === "int16s" ? "s32" : rng.pick(["u8", "s8", "s32"] as const);
  const dims = randomDims(rng);
  const steps = [step({ opcode: "codec", variant: 4, type: "u8", dims: [1] }), claimedOutput(type, dims)];
  const { program } = modelOf({ inputSize: 1, outputCodec, steps });
  assertValid(program);
  const output = randomOutput(rng, program, type, dims);
  const data = newData(type, elementCount(dims));
  fillClaimedTensor(program, steps[1] as (typeof steps)[number], output, data);
  const trace = commitTrace(program, [
    { type: "u8", dims: [1], data: new Uint8Array(1) },
    { type, dims, data },
  ]);
  const vector = {
    program: toHex(encodeProgram(program)),
    selector: SELECTOR,
    input: toHex(output),
    step: 1n,
    traceRoot: toHex(trace.root),
    tensorRoot: toHex(trace.roots.node(0, 1)),
    path: trace.roots.siblings(0, 1).map(toHex),
  } as const;
  return encodeAbiParameters(VECTOR_ABIS.codec, [vector]);
}

/** ProgramVectors of one program that reads the claimed output, and of some with changed bytes. */
export function claimedProgramVectors(seed: number): Hex[] {
  const rng = createRng(seed);
  return verdictsAround(rng, claimedProgram(rng).model.program);
}

/** Rows around the ends of words. */
function randomDims(rng: Rng): number[] {
  const last = rng.pick([1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64]);
  const rows = rng.int(1, Math.max(1, Math.floor(128 / last)));
  return rng.chance(0.3) ? [last] : rng.chance(0.5) ? [rows, last] : [1, rows, 1, last];
}

function randomOutput(rng: Rng, program: Program, type: TensorType, dims: readonly number[]): Uint8Array {
  if (rng.chance(0.67)) return Uint8Array.from({ length: outputLength(program) }, () => rng.int(0, 255));
  const data = newData(type, elementCount(dims));
  const [low, high] = type === "s32" ? [-(2 ** 31), 2 ** 31 - 1] : [0, 255];
  for (let i = 0; i < data.length; i++) data[i] = rng.int(low, high);
  return encodeOutput(program, { type, dims, data });
}

/** The tensor by the definition alone: docs/EXACT.md, section 5. */
export function definedTensor({ outputCodec, steps }: Program, output: Uint8Array): Tensor {
  const { type, dims } = steps.at(-1) as Program["steps"][number];
  const data = newData(type, elementCount(dims));
  const size = { words: 32, int16s: 2, raw: type === "s32" ? 4 : 1 }[outputCodec];
  const start = outputCodec === "words" ? 0 : 64;
  for (let e = 0; e < data.length; e++) {
    const bytes = output.slice(start + e * size, start + (e + 1) * size);
    const number = BigInt(toHex(outputCodec === "raw" ? bytes.reverse() : bytes));
    const value = Number(BigInt.asIntN(outputCodec === "int16s" ? 16 : type === "s32" ? 32 : 8, number));
    data[e] = type === "s8" ? value + 128 : value;
  }
  return { type, dims, data };
}

/** Whether a row of the tensor ends inside of a word. */
export const hasPadding = ({ type, dims }: Tensor): boolean =>
  (lastDim(dims) * (type === "s32" ? 4 : 1)) % 32 !== 0;
