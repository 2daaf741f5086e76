/** Writes test/vectors/codecs.json, the vectors that CodecJudge.sol is tested against: `tsx tools/make-codec-vectors.ts`.
 *  Roots, return data and verdicts come from inference/codecs and inference/commit. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toHex, viewOf } from "../base/bytes.ts";
import { isBaseError } from "../base/errors.ts";
import { decodeInput, encodeInput, fillInputTensor } from "../inference/codecs/input.ts";
import { encodeOutput } from "../inference/codecs/output.ts";
import { tensorRoot } from "../inference/commit/commitments.ts";
import { INPUT_CODEC_CODES } from "../inference/program/codes.ts";
import { encodeProgram, HEADER_BYTES, RECORD_BYTES } from "../inference/program/encode.ts";
import {
  elementBytes,
  elementCount,
  type InputCodec,
  NONE,
  type OutputCodec,
  type Program,
  type Step,
  type TensorType,
} from "../inference/program/form.ts";
import { modelWord, stepShape } from "../inference/program/shape.ts";
import { fromStoredBytes, newData } from "../inference/program/tensor.ts";
import { assertValid } from "../inference/program/validate.ts";
import { type InputCase, inputCases, makeRandomBytes, refusedCases } from "./codec-cases.ts";
import { projectRoot } from "./foundry.ts";

const SELECTOR = 0x1d2c3b4a;
const selectorBytes = Uint8Array.of(0x1d, 0x2c, 0x3b, 0x4a);

/** Columns of a table: one array a field, all of the same length, as forge reads them at once. */
type Columns = Record<string, string[]>;

function push(columns: Columns, row: Readonly<Record<string, string>>): void {
  for (const [field, value] of Object.entries(row)) {
    columns[field] ??= [];
    columns[field].push(value);
  }
}

/** A program of one CODEC step. */
function makeProgram(
  inputCodec: InputCodec,
  inputSize: number,
  outputCodec: OutputCodec,
  step: Pick<Step, "type" | "dims" | "k">,
): Program {
  const variant = INPUT_CODEC_CODES[inputCodec];
  const record: Step = { opcode: "codec", variant, a: NONE, b: NONE, c: NONE, coordinates: [], ...step };
  const program: Program = { inputCodec, outputCodec, inputSize, weights: [], steps: [record] };
  assertValid(program);
  return program;
}

const word = (value: bigint): string => `0x${value.toString(16).padStart(64, "0")}`;

function headOf(program: Program): Readonly<Record<string, string>> {
  return {
    modelWord: word(modelWord(program, SELECTOR, 4)),
    record: toHex(encodeProgram(program).subarray(HEADER_BYTES, HEADER_BYTES + RECORD_BYTES)),
  };
}

/** The output codec of an input's program does not matter: one that encodes its tensor. */
const inputProgram = ({ input, size, step }: InputCase): Program =>
  makeProgram(input.codec, size, "raw", step);

function inputs(): Columns {
  const columns: Columns = {};
  for (const one of inputCases()) {
    const program = inputProgram(one);
    const step = program.steps[0] as Step;
    const calldata = encodeInput(program, selectorBytes, one.input);
    const data = newData(step.type, elementCount(step.dims));
    fillInputTensor(step, decodeInput(program, selectorBytes, calldata), data);
    const root = toHex(tensorRoot(step, data));
    push(columns, { name: one.name, ...headOf(program), calldata: toHex(calldata), root });
  }
  return columns;
}

function refused(): Columns {
  const columns: Columns = {};
  for (const one of inputCases().filter(({ mutate }) => mutate)) {
    const program = inputProgram(one);
    for (const [name, calldata] of refusedCases(encodeInput(program, selectorBytes, one.input), one)) {
      try {
        decodeInput(program, selectorBytes, calldata);
        throw new Error(`${one.name}, ${name}: accepted by inference/codecs`);
      } catch (error) {
        if (!isBaseError(error)) throw error;
      }
      push(columns, {
        name: `${one.name}, ${name}`,
        modelWord: headOf(program).modelWord as string,
        calldata: toHex(calldata),
      });
    }
  }
  return columns;
}

const OUTPUTS: readonly (readonly [OutputCodec, TensorType, readonly number[]])[] = [
  ["words", "u8", [1]],
  ["words", "u8", [3, 33]],
  ["words", "s8", [2, 5]],
  ["words", "s8", [256]],
  ["words", "bool", [4, 1]],
  ["words", "s32", [3]],
  ["words", "s32", [2, 3, 9]],
  ["words", "s32", [256, 1]],
  ["int16s", "s32", [1]],
  ["int16s", "s32", [3, 5]],
  ["int16s", "s32", [16]],
  ["int16s", "s32", [17]],
  ["int16s", "s32", [2, 2, 8]],
  ["int16s", "s32", [7, 96]],
  ["int16s", "s32", [4096]],
  ["raw", "u8", [1]],
  ["raw", "u8", [5, 7]],
  ["raw", "u8", [2, 64]],
  ["raw", "s8", [33]],
  ["raw", "s8", [3, 31]],
  ["raw", "bool", [9, 3]],
  ["raw", "bool", [40]],
  ["raw", "s32", [1, 1]],
  ["raw", "s32", [3, 9]],
  ["raw", "f32", [8]],
  ["raw", "f32", [5, 11]],
  ["raw", "f32", [64, 1]],
];

/** Around the ends of 16 bits, where int16s saturates. */
const LANE_EDGES = [-32_769, -32_768, -32_767, 32_766, 32_767, 32_768, -(2 ** 31), 2 ** 31 - 1] as const;

/** Words of all rows, each row padded to whole words. */
function wordsOf(step: Step, stored: Uint8Array): Uint8Array {
  const { rows, rowBytes } = stepShape(step);
  const stride = 32 * Math.ceil(rowBytes / 32);
  const words = new Uint8Array(rows * stride);
  for (let row = 0; row < rows; row++) {
    words.set(stored.subarray(row * rowBytes, (row + 1) * rowBytes), row * stride);
  }
  return words;
}

function outputs(): Columns {
  const columns: Columns = {};
  const random = makeRandomBytes(3);
  for (const [codec, type, dims] of OUTPUTS) {
    const bytes = elementCount(dims) * elementBytes(type);
    const program = makeProgram("raw", bytes, codec, { type, dims, k: 0 });
    const stored = random(bytes);
    // Numbers of every length, so that some fit into 16 bits.
    if (type === "s32") {
      for (let i = 0; i < bytes; i += 12) stored.fill((stored[i + 2] as number) & 128 ? 255 : 0, i, i + 2);
      const view = viewOf(stored);
      LANE_EDGES.slice(0, bytes / 4).forEach((value, i) => {
        view.setInt32(4 * i, value);
      });
    }
    const returnData = encodeOutput(program, { type, dims, data: fromStoredBytes(type, stored) });
    push(columns, {
      name: `${codec} of ${type} [${dims}]`,
      ...headOf(program),
      words: toHex(wordsOf(program.steps[0] as Step, stored)),
      returnData: toHex(returnData),
    });
  }
  return columns;
}

export function makeCodecVectors() {
  return {
    source: "tools/make-codec-vectors.ts, from inference/codecs and inference/commit",
    selector: toHex(selectorBytes),
    inputs: inputs(),
    refused: refused(),
    outputs: outputs(),
  };
}

export const formatCodecVectors = (vectors: ReturnType<typeof makeCodecVectors>): string =>
  `${JSON.stringify(vectors, null, 1)}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const vectors = makeCodecVectors();
  writeFileSync(join(projectRoot, "test/vectors/codecs.json"), formatCodecVectors(vectors));
  for (const table of ["inputs", "refused", "outputs"] as const) {
    console.log(`${table}: ${vectors[table].name?.length ?? 0}`);
  }
}
