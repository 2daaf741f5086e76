/** Random programs over shapes: chains in which every step goes on from the ones before and nothing is left unread, with
 *  hostile weights and inputs. `random-program.ts` makes programs of any steps; here it is how they follow each other. */
import { encodeInput } from "../../inference/codecs/input.ts";
import { INPUT_CODEC_CODES } from "../../inference/program/codes.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import {
  elementCount,
  findJudgedOnly,
  INPUT_CODECS,
  type InputCodec,
  isStep,
  type Model,
  type OutputCodec,
  type Program,
} from "../../inference/program/form.ts";
import { weightBytes } from "../../inference/program/shape.ts";
import { readProgram, validateProgram } from "../../inference/program/validate.ts";
import { CHUNK_BYTES } from "../../protocol/chain/execution/publication.ts";
import { followStep, joinEnds, lookupOf, typesOf } from "./chain-steps.ts";
import { matrixIdiom } from "./matrix-idioms.ts";
import { breakProgram } from "./mutations.ts";
import { ProgramBuilder, randomDims, type Value } from "./program-builder.ts";
import { randomInput, randomProgram } from "./random-program.ts";
import { createRng, type Rng } from "./rng.ts";
import { edgeLength, factors, shuffled } from "./views.ts";

/** A program and inputs of it. */
export interface Subject {
  readonly name: string;
  readonly model: Model;
  readonly selector: Uint8Array;
  /** calldata */
  readonly inputs: readonly Uint8Array[];
}

/** Steps behind the first tensor, and elements of a tensor at most. */
interface Size {
  readonly steps: number;
  readonly most: number;
}

function sizeOf(rng: Rng): Size {
  const kind = rng.int(1, 100);
  if (kind <= 3) return { steps: rng.int(100, 400), most: rng.pick([4, 16, 40]) };
  if (kind <= 5) return { steps: rng.int(1, 3), most: 9_000 };
  if (kind <= 8) return { steps: rng.int(0, 1), most: 300 };
  if (kind <= 11) return { steps: rng.int(1, 8), most: 1 };
  if (kind <= 20) return { steps: rng.int(1, 5), most: 4_500 };
  return { steps: rng.int(1, 14), most: rng.pick([40, 200, 600, 600, 1_200]) };
}

const CODECS: readonly InputCodec[] = [...INPUT_CODECS, "int16s", "raw", "raw", "raw"];
/** Matrices of a text or of prices are shaped by steps of their own. */
const MATRIX_CODECS: readonly InputCodec[] = [
  ...INPUT_CODECS,
  "int16s",
  "int16s",
  "int16s",
  "raw",
  "raw",
  "raw",
];

/** The same seed gives the same program.
 *  @param isExecutable without steps that no interpreter runs */
export function shapedProgram(seed: number, isExecutable = false): Subject {
  const rng = createRng(seed);
  // Of every opcode's steps, whatever they follow.
  if (rng.chance(0.1)) {
    const { model } = randomProgram(rng, { hostile: rng.chance(0.7) });
    if (!isExecutable || findJudgedOnly(model.program) === undefined)
      return subjectOf(rng, `program ${seed}`, model);
  }
  for (;;) {
    const subject = attempt(rng, `program ${seed}`);
    if (subject !== undefined) return subject;
  }
}

function attempt(rng: Rng, name: string): Subject | undefined {
  const isMatrix = rng.chance(0.5);
  const { steps, most } = isMatrix ? { steps: 0, most: rng.pick([100, 600, 600]) } : sizeOf(rng);
  const integers = rng.chance(0.6);
  const inputCodec = rng.pick(isMatrix ? MATRIX_CODECS : CODECS);
  const sizes = { text: rng.int(1, 600), prices: rng.int(2, 65), int16s: rng.int(most, 4096), raw: 0 };
  const size = inputCodec === "int16s" && most > 4096 ? 4096 : sizes[inputCodec];
  if (inputCodec === "int16s" && size < most) return undefined;
  const b = new ProgramBuilder(rng, {
    inputCodec,
    inputSize: size,
    hostile: true,
    floatSane: false,
    integers,
  });
  fillChunk(b);
  if (isMatrix) for (let i = rng.int(1, 4); i > 0; i--) grow(b, matrixIdiom(b, most), rng.int(0, 2), most);
  else grow(b, first(b, most), steps, most);
  const read = new Set(b.steps.flatMap(({ a, b: second, c }) => [a, second, c]));
  const ends = b.values.filter(({ operand }) => isStep(operand) && !read.has(operand));
  // Constants alone are no chain.
  if (ends.length === 0) return undefined;
  const last = joinEnds(b, [...ends.slice(-5).reverse(), ...others(b, ends, most)]);
  if (last.operand !== b.steps.length - 1) return undefined;
  const program: Program = {
    inputCodec,
    outputCodec: outputCodecFor(rng, last),
    inputSize: inputCodec === "raw" ? Math.max(1, b.used) : size,
    weights: b.weights,
    steps: b.steps,
  };
  if (validateProgram(program).length > 0) return undefined;
  return subjectOf(rng, name, { program, weights: b.weightBytes });
}

/** Half of the time tensors that other steps read as well: what a clamp hides behind them is seen here. */
function others(b: ProgramBuilder, ends: readonly Value[], most: number): Value[] {
  if (b.rng.chance(0.5)) return [];
  const found: Value[] = [];
  let left = 4 * most;
  for (const value of shuffled(b.rng, b.values).slice(0, 10)) {
    const count = elementCount(value.dims);
    if (ends.includes(value) || count > left || !isStep(value.operand)) continue;
    left -= count;
    found.push(value);
  }
  return found;
}

/** Goes on from the newest tensor, or now and then from another one. */
function grow(b: ProgramBuilder, from: Value, steps: number, most: number): void {
  let value = from;
  for (let i = 0; i < steps; i++) {
    value = followStep(b, value, most);
    if (b.rng.chance(0.1)) value = b.rng.pick(b.values);
  }
}

const HOSTILE_RUNS = 2;

function subjectOf(rng: Rng, name: string, model: Model): Subject {
  const selector = rng.bytes(4);
  const inputs = Array.from({ length: HOSTILE_RUNS + 1 }, (_, i) =>
    encodeInput(model.program, selector, randomInput(rng, model.program, i < HOSTILE_RUNS)),
  );
  return { name, model, selector, inputs };
}

/** Weights that nothing reads, so that the tensors behind them run over the end of a chunk. */
function fillChunk(b: ProgramBuilder): void {
  if (!b.rng.chance(0.15)) return;
  const bytes = CHUNK_BYTES - b.rng.pick([1, 4, 31, 32, 33, 64, 96, 500, b.rng.int(1, 3000)]);
  b.randomConstant("u8", [bytes]);
}

/** The tensor that a chain begins with. */
function first(b: ProgramBuilder, most: number): Value {
  const { rng } = b;
  const { inputCodec, inputSize } = b.options;
  const variant = INPUT_CODEC_CODES[inputCodec];
  if (rng.chance(0.6) && inputCodec === "prices" && 3 * (inputSize - 1) <= most) {
    return b.step({ opcode: "codec", variant, type: "s32", dims: [3, inputSize - 1] });
  }
  if (rng.chance(0.6) && inputCodec === "text") {
    const dims = [rng.int(1, Math.min(64, most)), rng.int(1, Math.min(16, most))];
    if (elementCount(dims) <= most) return textLookup(b, dims, most);
  }
  return b.value([rng.pick(typesOf(b))], firstDims(rng, most));
}

/** Ids of a text, and the table that they choose from; it may have fewer rows than the ids know, or run over a chunk. */
function textLookup(b: ProgramBuilder, [tokens = 1, width = 1]: readonly number[], most: number): Value {
  const { rng } = b;
  const isLong = rng.chance(0.35) && most >= 600;
  const v = isLong ? rng.int(300, 600) : rng.int(1, 300);
  const k = rng.chance(0.4) ? Math.max(2, v) : rng.chance(0.5) ? rng.int(2, 2 * v + 2) : rng.int(2, 2 ** 24);
  const dims = isLong ? [rng.int(1, 16), 16] : [tokens, width];
  const ids = b.step({ opcode: "codec", variant: 1, type: "s32", dims, k });
  const columns = isLong ? rng.int(33, 70) : edgeLength(rng);
  const d = Math.min(columns, Math.floor(most / (dims[0] as number)));
  return rng.chance(0.85) && d > 0 ? lookupOf(b, ids, v, d) : ids;
}

function firstDims(rng: Rng, most: number): readonly number[] {
  if (rng.chance(0.3)) return randomDims(rng, most);
  const dims = [edgeLength(rng, most)];
  while (dims.length < 6 && rng.chance(dims.length === 1 ? 0.85 : 0.4)) {
    const room = Math.floor(most / elementCount(dims));
    if (room <= 1) break;
    dims.push(edgeLength(rng, Math.min(70, room)));
  }
  // A long last axis now and then: rows of weights are longest there.
  if (most >= 992 && rng.chance(0.1))
    return [rng.pick([1, Math.floor(most / 992)]), rng.pick([991, 992, 768])];
  return rng.chance(0.1) ? factors(rng, elementCount(dims), rng.int(1, 6)) : dims;
}

function outputCodecFor(rng: Rng, { type, dims }: Value): OutputCodec {
  const count = elementCount(dims);
  const codecs: OutputCodec[] = ["raw"];
  if (type !== "f32" && count <= 256) codecs.push("words");
  if (type === "s32" && count <= 4096) codecs.push("int16s");
  return rng.pick(codecs);
}

/** A program's bytes with a field or two changed. @returns a subject as well, where the validator accepts them and a
 *  run is no larger than any other */
export function brokenProgram(
  seed: number,
  { name, model }: Subject,
): { readonly bytes: Uint8Array; readonly accepted: boolean; readonly subject?: Subject } {
  const rng = createRng(seed);
  const bytes = breakProgram(rng, encodeProgram(model.program));
  const program = accepted(bytes);
  if (program === undefined) return { bytes, accepted: false };
  const elements = program.steps.reduce((sum, { dims }) => sum + elementCount(dims), 0);
  const sizes = program.weights.map(weightBytes);
  if (elements > 40_000 || sizes.reduce((sum, size) => sum + size, 0) > 100_000) {
    return { bytes, accepted: true };
  }
  const weights = sizes.map((size, i) => {
    const before = model.weights[i];
    return before?.length === size ? before : rng.bytes(size);
  });
  return { bytes, accepted: true, subject: subjectOf(rng, `${name}, changed`, { program, weights }) };
}

function accepted(bytes: Uint8Array): Program | undefined {
  try {
    return readProgram(bytes);
  } catch {
    return undefined;
  }
}
