/** Grows a program whose last step is under test. */

import { ProgramBuilder, type Value } from "../../conformance/generate/program-builder.ts";
import { randomInteger } from "../../conformance/generate/random-values.ts";
import {
  elementBytes,
  elementCount,
  type Opcode,
  type Tensor,
  type TensorType,
} from "../../inference/program/form.ts";
import { newData } from "../../inference/program/tensor.ts";
import type { Rng } from "./rng.ts";

/** Bytes that an input of the codec raw has at most. */
const MAX_RAW_BYTES = 65_536;

/** What the last step computes. */
export interface Target {
  readonly opcode: Exclude<Opcode, "codec" | "move">;
  readonly variant: number;
  readonly type: TensorType;
}

/** What an input or a constant holds. */
export interface Content {
  readonly type: TensorType;
  /** Numbers, both included; binary32: sizes from 2^-20 on, any mantissa. */
  readonly low: number;
  readonly high: number;
  /** Instead of any number of the range. */
  readonly pick?: (rng: Rng, element: number) => number;
}

/** A program under construction that remembers what its inputs hold. */
export class DirectedBuilder extends ProgramBuilder {
  readonly contents: Content[] = [];

  constructor(rng: Rng) {
    super(rng, { inputCodec: "raw", inputSize: 0, hostile: false, floatSane: true });
  }

  /** An operand with this content: from the request, or a constant, which it is where the request has no room. */
  operand(content: Content, dims: readonly number[], constant = this.rng.chance(0.15)): Value {
    const { type, low, high } = content;
    const isTooLong = this.used + elementBytes(type) * elementCount(dims) > MAX_RAW_BYTES;
    if (constant || isTooLong) return this.constant(draw(this.rng, content, dims), { low, high, quantum: 0 });
    this.contents.push(content);
    return this.input(type, dims);
  }
}

/** Random content. One in eight is an end of the range or another edge. */
export function draw(rng: Rng, { type, low, high, pick }: Content, dims: readonly number[]): Tensor {
  const data = newData(type, elementCount(dims));
  const offset = type === "s8" ? 128 : 0;
  for (let i = 0; i < data.length; i++) {
    const number =
      pick !== undefined
        ? pick(rng, i)
        : type === "f32"
          ? randomFloat(rng, low, high)
          : rng.chance(0.125)
            ? randomInteger(rng, { low, high, quantum: 0 })
            : rng.int(low, high);
    data[i] = number + offset;
  }
  return { type, dims, data };
}

/** A binary32 number with all its mantissa bits, an integer, a half, or a zero of either sign. */
function randomFloat(rng: Rng, low: number, high: number): number {
  for (let attempt = 0; attempt < 20; attempt++) {
    const kind = rng.int(0, 15);
    const x =
      kind === 0
        ? rng.pick([0, -0, 1, -1, 0.5, -0.5, 1.5, 2.5, low, high])
        : kind <= 3
          ? rng.int(-4096, 4096) / 2
          : (rng.chance(0.5) ? 1 : -1) * (2 ** 23 + rng.int(0, 2 ** 23 - 1)) * 2 ** (rng.int(-20, 19) - 23);
    if (x >= low && x <= high) return Math.fround(x);
  }
  return Math.fround(low + (rng.int(0, 2 ** 23) / 2 ** 23) * (high - low));
}
