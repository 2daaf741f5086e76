/** Programs by name: two steps that meet in a way that an implementation that looked across steps got wrong, and weights
 *  over the end of a chunk, which random programs seldom read there. */
import { encodeInput } from "../../inference/codecs/input.ts";
import {
  type Coordinate,
  elementBytes,
  elementCount,
  type Model,
  REDUCE_VARIANTS,
  type Step,
  type TensorType,
  type WeightDescriptor,
} from "../../inference/program/form.ts";
import { type ChannelParameters, packChannel, packDot } from "../../inference/program/weights.ts";
import { CHUNK_BYTES } from "../../protocol/chain/execution/publication.ts";
import { createRng } from "./rng.ts";
import type { Subject } from "./shaped-program.ts";
import { rawInput, rawProgram, step, weight } from "./small-programs.ts";

const at = (view: number, a = 0, p = 0, { b = 0, q = 0, c = 0 } = {}): Coordinate => ({
  view,
  a,
  p,
  b,
  q,
  c,
});

function move(
  a: number,
  type: TensorType,
  dims: readonly number[],
  coordinates: readonly Coordinate[],
  rest: Partial<Step> = {},
): Step {
  const ones = Array.from({ length: 4 - coordinates.length }, () => at(1));
  return step({ opcode: "move", type, dims, a, coordinates: [...ones, ...coordinates], ...rest });
}

const reduce = (a: number, name: (typeof REDUCE_VARIANTS)[number], dims: readonly number[]): Step =>
  step({ opcode: "reduce", variant: REDUCE_VARIANTS.indexOf(name), dims, a });

/** A shift for each channel, with another zero point. */
const channelsOf = (channels: number, shift: number): ChannelParameters[] =>
  Array.from({ length: channels }, (_, i) => ({
    ...{ bias: 3 * i, multiplier: 1, addend: 1n << BigInt(shift + i - 1), shift: shift + i, scaleBits: 0 },
    ...{ zeroPoint: 100 + 60 * i, lower: 0, upper: 255, weightOffset: 128 },
  }));
const parameters = (channels: number, shift: number): Uint8Array => packChannel(channelsOf(channels, shift));

/** A program on raw inputs of these tensors; their steps come first. */
function onRaw(
  name: string,
  inputs: readonly (readonly [type: TensorType, dims: readonly number[]])[],
  steps: readonly Step[],
  channels = 0,
): Subject {
  let size = 0;
  const codecs = inputs.map(([type, dims]) => {
    const codec = rawInput(type, dims, size);
    size += elementCount(dims) * elementBytes(type);
    return codec;
  });
  const weights = channels === 0 ? [] : [{ layout: "channel", type: "u8", dims: [channels] } as const];
  const program = rawProgram(size, [...codecs, ...steps], weights);
  return withInputs(name, { program, weights: channels === 0 ? [] : [parameters(channels, 24)] });
}

function withInputs(name: string, model: Model): Subject {
  const { program } = model;
  const rng = createRng(program.steps.length + program.inputSize);
  const selector = Uint8Array.of(1, 2, 3, 4);
  const inputs = Array.from({ length: 3 }, () =>
    encodeInput(
      program,
      selector,
      program.inputCodec === "int16s"
        ? {
            codec: "int16s",
            int16s: Int16Array.from({ length: program.inputSize }, () => rng.int(-900, 900)),
          }
        : { codec: "raw", bytes: rng.bytes(program.inputSize) },
    ),
  );
  return { name, model, selector, inputs };
}

/** CODEC int16s, REQUANT, and so many rows of it transposed. */
function transposedInt16s(rows: number): Subject {
  const dims = [64, 2];
  const steps = [
    step({ opcode: "codec", variant: 3, dims }),
    step({ opcode: "requant", variant: 1, type: "u8", dims, a: 0, b: weight(0) }),
    move(1, "u8", [2, rows], [at(64, 1, 1), at(2, 1, 0)]),
  ];
  const descriptor = { layout: "channel", type: "u8", dims: [2] } as const;
  const program = { ...rawProgram(128, steps, [descriptor]), inputCodec: "int16s" } as const;
  return withInputs(`int16s requantized, ${rows} rows of them transposed`, {
    program,
    weights: [parameters(2, 3)],
  });
}

/** Bytes in front of the weights that are read, so that these run over the chunk's end. */
const FILLER = CHUNK_BYTES - 44;

/** A step whose weights come last, behind a filler. @param rest its fields but a and b */
function overEnd(
  name: string,
  input: readonly [type: TensorType, dims: readonly number[]],
  descriptor: WeightDescriptor,
  words: Uint8Array,
  rest: Partial<Step> & Pick<Step, "opcode">,
): Subject {
  const [type, dims] = input;
  const filler = { layout: "plain", type: "u8", dims: [FILLER] } as const;
  const steps = [rawInput(type, dims), step({ ...rest, a: 0, b: weight(1) })];
  const program = rawProgram(elementCount(dims) * elementBytes(type), steps, [filler, descriptor]);
  return withInputs(name, { program, weights: [new Uint8Array(FILLER).fill(0x5a), words] });
}

/** Rows around the one that the chunk ends in, and the table's first and last. */
function lookUpOverEnd(): Subject {
  const [v, d] = [600, 40];
  const over = Math.floor(CHUNK_BYTES / 64);
  const ids = [over - 1, over, over + 1, over, 0, v - 1];
  const descriptor = { layout: "lookup", type: "s8", dims: [v, d] } as const;
  const lookup = step({ opcode: "lookup", dims: [3, d], a: 0, b: weight(0) });
  const program = rawProgram(24, [rawInput("s32", [3, 2]), lookup], [descriptor]);
  const selector = Uint8Array.of(1, 2, 3, 4);
  const bytes = new Uint8Array(Int32Array.from(ids).buffer);
  const model = { program, weights: [createRng(7).bytes(v * 64)] };
  return {
    name: "rows of a table",
    model,
    selector,
    inputs: [encodeInput(program, selector, { codec: "raw", bytes })],
  };
}

// Those that an interpreter runs.
const columns = (["sum", "min", "max"] as const).flatMap((name) => [
  onRaw(
    `${name} over a repeat`,
    [["s32", [9]]],
    [move(0, "s32", [9, 8], [at(9, 1, 0)]), reduce(1, name, [9])],
  ),
  onRaw(
    `${name} over reversed columns`,
    [["s32", [8, 9]]],
    [move(0, "s32", [9, 8], [at(8, -1, 1, { c: 7 }), at(9, 1, 0)]), reduce(1, name, [9])],
  ),
]);

/** By the name of what went wrong, or might. */
export const DIRECTED_RUNS: Readonly<Record<string, readonly Subject[]>> = {
  "a part of a transposed tensor whose axes were joined": [
    onRaw(
      "[12,2] to [2,3,4] to [6,3], summed",
      [["s32", [12, 2]]],
      [
        move(0, "s32", [2, 3, 4], [at(12, 4, 1, { b: 1, q: 2 }), at(2, 1, 0)]),
        move(1, "s32", [6, 3], [at(6, 1, 0), at(4, 1, 1)]),
        reduce(2, "sum", [6]),
      ],
    ),
  ],
  "transposed int16s whose rows are no multiple of 32": [31, 32, 33, 47, 63, 64].map(transposedInt16s),
  "columns with a stride of 0 or below": columns,
  "a tall REQUANT that is turned into three axes": [
    onRaw(
      "[64,2] to [2,8,8]",
      [["s32", [64, 2]]],
      [
        step({ opcode: "requant", variant: 1, type: "u8", dims: [64, 2], a: 0, b: weight(0) }),
        move(1, "u8", [2, 8, 8], [at(64, 8, 1, { b: 1, q: 2 }), at(2, 1, 0)]),
      ],
      2,
    ),
  ],
  "a short strided run with a pad or an operand behind": [1, 2, 3, 5, 7, 8].flatMap((length) => [
    onRaw(
      `[${length},16] turned, padded behind`,
      [["s32", [length, 16]]],
      [move(0, "s32", [19, length], [at(length, 1, 1), at(16, 1, 0)], { k: 0xcafebabe })],
    ),
    onRaw(
      `[${length},16] turned, another tensor behind`,
      [
        ["s32", [length, 16]],
        ["s32", [19, length]],
      ],
      [move(0, "s32", [19, length], [at(length, 1, 1), at(16, 1, 0)], { b: 1 })],
    ),
  ]),
  "weights that run over a chunk's end": [
    lookUpOverEnd(),
    overEnd(
      "rows of a DOT",
      ["u8", [2, 40]],
      { layout: "dot", type: "u8", dims: [4, 40] },
      packDot(createRng(8).bytes(160), 40, channelsOf(4, 9)),
      { opcode: "dot", variant: 1, type: "u8", dims: [2, 4], k: 1 },
    ),
    overEnd(
      "parameters of a RESCALE",
      ["s32", [2, 3]],
      { layout: "channel", type: "u8", dims: [3] },
      parameters(3, 9),
      { opcode: "rescale", dims: [2, 3] },
    ),
    overEnd(
      "a PLAIN tensor",
      ["s32", [2, 20]],
      { layout: "plain", type: "s32", dims: [20] },
      createRng(9).bytes(80),
      { opcode: "arith", dims: [2, 20] },
    ),
  ],
};
