/** Small transformers of random weights that read the claimed output: a prompt and the claimed tokens, each shifted by one
 *  place, go through layers of attention over earlier places in several heads, and give a token at each place. */
import { claimedOutput } from "../../conformance/generate/running-model.ts";
import { step, weight } from "../../conformance/generate/small-programs.ts";
import { variantCode } from "../../inference/program/codes.ts";
import { type Coordinate, lastDim, type Model, type Step } from "../../inference/program/form.ts";
import { storedBytes } from "../../inference/program/tensor.ts";
import { packDot } from "../../inference/program/weights.ts";
import { modelOf, plain } from "./claimed-models.ts";
import type { Rng } from "./rng.ts";

export interface SequenceShape {
  readonly prompt: number;
  /** that are claimed */
  readonly tokens: number;
  readonly heads: number;
  /** channels of a head */
  readonly width: number;
  readonly layers: number;
}

type Weights = Parameters<typeof modelOf>[1] & object;

const IDS = 256;
const CHANNEL = {
  ...{ bias: 0, multiplier: 0, addend: 0n, shift: 0, scaleBits: 0 },
  ...{ zeroPoint: 0, lower: 0, upper: 255, weightOffset: 128 },
};
const at = (view: number, a = 0, p = 0, b = 0, q = 0, c = 0): Coordinate => ({ view, a, p, b, q, c });

class Builder {
  readonly steps: Step[] = [];
  readonly weights: Weights[number][] = [];
  readonly #rng: Rng;

  constructor(rng: Rng) {
    this.#rng = rng;
  }

  add(fields: Parameters<typeof step>[0]): number {
    return this.steps.push(step(fields)) - 1;
  }

  constant(made: Weights[number]): number {
    return weight(this.weights.push(made) - 1);
  }

  number(value: number): number {
    return this.constant(plain([1], storedBytes(Int32Array.of(value)), "s32"));
  }

  dims(index: number): readonly number[] {
    return (this.steps[index] as Step).dims;
  }

  arith(
    name: "add" | "min" | "max" | "div" | "cast",
    type: Step["type"],
    dims: readonly number[],
    operands: Partial<Step>,
  ): number {
    return this.add({ opcode: "arith", variant: variantCode("arith", name), type, dims, ...operands });
  }

  move(a: number, dims: readonly number[], coordinates: readonly Coordinate[], fields = {}): number {
    const { type } = this.steps[a] as Step;
    return this.add({ opcode: "move", type, dims, a, coordinates: [...coordinates], ...fields });
  }

  /** s32 numbers as bytes, those that are none as the nearest one. */
  bytes(a: number, divisor: number): number {
    const dims = this.dims(a);
    const smaller = this.arith("div", "s32", dims, { a, b: this.number(divisor) });
    const above = this.arith("max", "s32", dims, { a: smaller, b: this.number(0) });
    return this.arith("min", "u8", dims, { a: above, b: this.number(255) });
  }

  /** u8 rows times random weights. */
  linear(a: number, outputs: number, divisor: number): number {
    const [rows, inputs] = this.dims(a) as [number, number];
    const matrix = this.#rng.bytes(outputs * inputs);
    const made = {
      descriptor: { layout: "dot", type: "u8", dims: [outputs, inputs] },
      bytes: packDot(
        matrix,
        inputs,
        Array.from({ length: outputs }, () => CHANNEL),
      ),
    } as const;
    const [variant, dims] = [variantCode("dot", "s32"), [rows, outputs]];
    return this.bytes(this.add({ opcode: "dot", variant, dims, a, b: this.constant(made), k: 1 }), divisor);
  }

  activations(a: number, b: number, dims: readonly number[], k: number): number {
    return this.add({ opcode: "dot", variant: variantCode("dot", "activations"), dims, a, b, k });
  }
}

/** @param leak of the mask: a place that sees one place further than it may */
export function sequenceProgram(rng: Rng, shape: SequenceShape, leak?: number): Model {
  const { prompt, tokens, heads, width, layers } = shape;
  const length = prompt + tokens;
  const channels = heads * width;
  const made = new Builder(rng);
  const line = (rows: number) => [rows, 1] as const;
  const input = made.add({ opcode: "codec", variant: 4, type: "u8", dims: line(prompt) });
  made.steps.push(claimedOutput("u8", line(tokens)));
  const front = made.move(input, line(length), [at(1), at(1), at(prompt, 1, 0), at(1, 1, 1)]);
  const joined = made.move(1, line(length), [at(1), at(1), at(tokens, 1, 0, 0, 0, -prompt), at(1, 1, 1)], {
    b: front,
  });
  const ids = made.arith("cast", "s32", line(length), { a: joined });
  const embedding = made.constant(plain([IDS, channels], rng.bytes(IDS * channels)));
  let last = made.add({
    ...{ opcode: "lookup", variant: variantCode("lookup", "pick"), type: "u8" },
    ...{ dims: [length, channels], a: ids, b: embedding },
  });
  const sees = Uint8Array.from({ length: length ** 2 }, (_, i) => {
    const [row, column] = [Math.floor(i / length), i % length];
    return Number(column <= row || (row === leak && column === row + 1));
  });
  const mask = made.constant(plain([length, length], sees, "bool"));
  const none = made.constant(plain([1], Uint8Array.of(0)));
  for (let layer = 0; layer < layers; layer++)
    last = attend(made, last, { heads, width, length, mask, none });
  // The last place of the prompt gives the first token.
  const from = made.move(
    last,
    [tokens, channels],
    [...[at(1), at(1), at(length, 1, 0, 0, 0, prompt - 1), at(channels, 1, 1)]],
  );
  const logits = made.linear(from, 2 * channels, 7 * channels);
  const total = made.add({
    ...{ opcode: "reduce", variant: variantCode("reduce", "sum"), type: "s32" },
    ...{ dims: line(tokens), a: logits },
  });
  // Any function of the logits that every change of one of them changes.
  const choices = 2 * channels * 255 + 1;
  made.add({
    ...{ opcode: "lookup", variant: variantCode("lookup", "pick"), type: "u8" },
    ...{ dims: line(tokens), a: total, b: made.constant(plain([choices, 1], rng.bytes(choices))) },
  });
  return modelOf({ inputSize: prompt, steps: made.steps }, made.weights);
}

interface Layer {
  readonly heads: number;
  readonly width: number;
  readonly length: number;
  readonly mask: number;
  readonly none: number;
}

function attend(made: Builder, a: number, { heads, width, length, mask, none }: Layer): number {
  const channels = heads * width;
  const [query, key, value] = [0, 1, 2].map(() => made.linear(a, channels, 40 * channels));
  /** Rows of one head after another. */
  const split = (source: number): number =>
    made.move(
      source,
      [heads, length, width],
      [...[at(1), at(length, 1, 1), at(heads, 1, 0), at(width, 1, 2)]],
    );
  const turned = made.move(
    value as number,
    [heads, width, length],
    [...[at(1), at(length, 1, 2), at(heads, 1, 0), at(width, 1, 1)]],
  );
  const all = [heads, length, length];
  const scores = made.bytes(
    made.activations(split(query as number), split(key as number), all, length),
    width * 90,
  );
  const table = made.constant(
    plain(
      [256],
      Uint8Array.from({ length: 256 }, (_, i) => 1 + (i >> 1)),
    ),
  );
  const exponentials = made.add({ opcode: "table", type: "u8", dims: all, a: scores, b: table });
  const masked = made.add({ opcode: "select", type: "u8", dims: all, a: mask, b: exponentials, c: none });
  const sum = variantCode("reduce", "sum");
  const total = made.add({ opcode: "reduce", variant: sum, type: "s32", dims: [heads, length], a: masked });
  const weighted = made.activations(masked, turned, [heads, length, width], length);
  const mean = made.add({
    ...{ opcode: "rescale", variant: variantCode("rescale", "ratio"), type: "u8" },
    ...{ dims: [heads, length, width], a: weighted, b: total, k: 1 },
  });
  const joined = made.move(
    mean,
    [length, channels],
    [...[at(1), at(heads, 0, 0, 0, 0, 0), at(length, 1, 0), at(width, 1, 1)]],
  );
  const merged = mergeHeads(made, mean, joined, { heads, width, length });
  const added = made.arith("add", "s32", [length, channels], {
    a,
    b: made.linear(merged, channels, 50 * channels),
  });
  const squares = made.add({
    ...{ opcode: "reduce", variant: variantCode("reduce", "norm"), type: "s32" },
    ...{ dims: [length], a: added, k: 1 },
  });
  return made.add({
    ...{ opcode: "rescale", variant: variantCode("rescale", "ratio"), type: "u8" },
    ...{ dims: [length, channels], a: added, b: squares, k: 200 },
  });
}

/** Channels of one head after another, at each place: a MOVE for each head over what the one before left. */
function mergeHeads(
  made: Builder,
  mean: number,
  first: number,
  { heads, width, length }: Pick<Layer, "heads" | "width" | "length">,
): number {
  let last = first;
  for (let head = 1; head < heads; head++)
    last = made.move(
      mean,
      [length, lastDim(made.dims(first))],
      [at(1), at(heads, 0, 0, 0, 0, head), at(length, 1, 0), at(width, 1, 1, 0, 0, -head * width)],
      { b: last },
    );
  return last;
}
