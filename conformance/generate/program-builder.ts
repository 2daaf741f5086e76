import { INPUT_CODEC_CODES } from "../../inference/program/codes.ts";
import {
  ARITH_VARIANTS,
  elementBytes,
  elementCount,
  FLOAT_VARIANTS,
  type InputCodec,
  NONE,
  type Opcode,
  type Operand,
  type Step,
  type Tensor,
  type TensorType,
  WEIGHT,
  type WeightDescriptor,
} from "../../inference/program/form.ts";
import { storedBytes } from "../../inference/program/tensor.ts";
import {
  type Range,
  randomFloatBits,
  randomInteger,
  randomTensor,
  SANE_FLOATS,
  TYPE_RANGES,
} from "./random-values.ts";
import type { Rng } from "./rng.ts";

/** A tensor of the program under construction, with the values that it can hold. */
export interface Value {
  readonly operand: Operand;
  readonly type: TensorType;
  readonly dims: readonly number[];
  readonly range: Range;
}

export interface StepFields {
  readonly opcode: Opcode;
  readonly variant: number;
  readonly type: TensorType;
  readonly dims: readonly number[];
  readonly a?: Value;
  readonly b?: Value | Operand;
  readonly c?: Value;
  readonly k?: number;
  readonly coordinates?: Step["coordinates"];
}

export interface BuilderOptions {
  readonly inputCodec: InputCodec;
  readonly inputSize: number;
  /** Values may do anything that the structure rules allow: sums wrap, floats are not numbers. */
  readonly hostile: boolean;
  /** Floats stay ordinary: no NaN, infinity, subnormal or out-of-range cast. */
  readonly floatSane: boolean;
  /** No binary32 at all: only such programs have plans. */
  readonly integers?: boolean;
}

/** Grows a valid program, step by step, and knows what each tensor can hold. */
export class ProgramBuilder {
  readonly rng: Rng;
  readonly options: BuilderOptions;
  readonly weights: WeightDescriptor[] = [];
  readonly weightBytes: Uint8Array[] = [];
  readonly steps: Step[] = [];
  readonly values: Value[] = [];
  #used = 0;

  constructor(rng: Rng, options: BuilderOptions) {
    this.rng = rng;
    this.options = options;
  }

  /** Bytes of a raw input that no step reads yet; also the bytes read so far, for the caller to set the size. */
  get used(): number {
    return this.#used;
  }

  step(fields: StepFields, range: Range = TYPE_RANGES[fields.type]): Value {
    const operandOf = (value: Value | Operand | undefined): Operand =>
      value === undefined ? NONE : typeof value === "number" ? value : value.operand;
    this.steps.push({
      opcode: fields.opcode,
      variant: fields.variant,
      type: fields.type,
      dims: fields.dims,
      a: operandOf(fields.a),
      b: operandOf(fields.b),
      c: operandOf(fields.c),
      k: fields.k ?? 0,
      coordinates: fields.coordinates ?? [],
    });
    const value = { operand: this.steps.length - 1, type: fields.type, dims: fields.dims, range };
    this.values.push(value);
    return value;
  }

  /** Adds a weight tensor of another layout than PLAIN. */
  weight(descriptor: WeightDescriptor, bytes: Uint8Array): Operand {
    this.weights.push(descriptor);
    this.weightBytes.push(bytes);
    return WEIGHT + this.weights.length - 1;
  }

  /** Adds a PLAIN weight tensor. */
  constant(tensor: Tensor, range: Range): Value {
    const { type, dims } = tensor;
    const operand = this.weight({ layout: "plain", type, dims }, storedBytes(tensor.data).slice());
    return { operand, type, dims, range };
  }

  randomConstant(type: TensorType, dims: readonly number[], range?: Range): Value {
    const wild = type === "f32" ? !this.options.floatSane : this.options.hostile;
    const within = range ?? (type === "f32" ? SANE_FLOATS : TYPE_RANGES[type]);
    if (type === "f32" && !wild && range !== undefined) {
      const data = Float32Array.from({ length: elementCount(dims) }, () => {
        const unit = 2 ** Math.max(range.quantum, -10);
        return this.rng.int(Math.ceil(range.low / unit), Math.floor(range.high / unit)) * unit;
      });
      return this.constant({ type, dims, data }, range);
    }
    return this.constant(randomTensor(this.rng, type, dims, wild, within), within);
  }

  /** A value that the request brings, of any type and dims. */
  input(type: TensorType, dims: readonly number[]): Value {
    const { inputCodec } = this.options;
    const variant = INPUT_CODEC_CODES[inputCodec];
    const count = elementCount(dims);
    if (inputCodec === "raw") {
      const k = this.#used;
      this.#used += count * elementBytes(type);
      return this.step({ opcode: "codec", variant, type, dims, k });
    }
    if (inputCodec === "int16s") {
      const k = this.rng.int(0, this.options.inputSize - count);
      const range = { low: -32_768, high: 32_767, quantum: 0 };
      return this.convert(this.step({ opcode: "codec", variant, type: "s32", dims, k }, range), type);
    }
    const whole = inputCodec === "prices" ? this.#prices(variant) : this.#text(variant);
    return this.convert(this.reshape(whole, dims), type);
  }

  #prices(variant: number): Value {
    const dims = [3, this.options.inputSize - 1];
    return this.step(
      { opcode: "codec", variant, type: "s32", dims },
      { low: -32_767, high: 32_767, quantum: 0 },
    );
  }

  #text(variant: number): Value {
    const dims = [this.rng.int(1, 64), this.rng.int(1, 16)];
    const rows = this.rng.chance(0.5) ? this.rng.int(2, 300) : this.rng.int(2, 2 ** 24);
    return this.step(
      { opcode: "codec", variant, type: "s32", dims, k: rows },
      { low: 0, high: rows - 1, quantum: 0 },
    );
  }

  /** The elements of a tensor from the first on, under other dims; beyond the last one zeros. */
  reshape(value: Value, dims: readonly number[]): Value {
    const count = elementCount(value.dims);
    const flat = (view: number, a: number, p: number) => ({ view, a, p, b: 0, q: 0, c: 0 });
    const ones = [flat(1, 0, 0), flat(1, 0, 0), flat(1, 0, 0)];
    const range = union(value.range, { low: 0, high: 0, quantum: value.range.quantum });
    const total = elementCount(dims);
    const line = this.step(
      {
        opcode: "move",
        variant: 0,
        type: value.type,
        dims: [total],
        a: value,
        coordinates: [...ones, flat(count, 1, 0)],
        k: value.type === "s8" ? 128 : 0,
      },
      total > count ? range : value.range,
    );
    if (dims.length === 1) return line;
    // At most two of the axes can be long: the row-major position is affine in two output axes only.
    const [rest, last] = [dims.slice(0, -1), dims[dims.length - 1] as number];
    const p = rest.indexOf(Math.max(...rest));
    const coordinates = [...ones, { view: total, a: last, p, b: 1, q: dims.length - 1, c: 0 }];
    return this.step(
      { opcode: "move", variant: 0, type: value.type, dims, a: line, coordinates },
      line.range,
    );
  }

  /** The same numbers, clamped where they do not fit, in another type. */
  convert(value: Value, type: TensorType): Value {
    if (value.type === type) return value;
    if (type === "f32") {
      const variant = FLOAT_VARIANTS.indexOf("tofloat");
      const { low, high } = value.range;
      const range = { low: Math.fround(low), high: Math.fround(high), quantum: 0 };
      return this.step({ opcode: "float", variant, type, dims: value.dims, a: value }, range);
    }
    if (value.type === "f32") {
      const variant = FLOAT_VARIANTS.indexOf("toint");
      const a = this.clampFloat(value, TYPE_RANGES[type]);
      return this.step({ opcode: "float", variant, type, dims: value.dims, a });
    }
    if (type === "bool" && this.rng.chance(0.7)) {
      const b = this.randomConstant("s32", [1], { low: -100, high: 100, quantum: 0 });
      return this.step({
        opcode: "arith",
        variant: ARITH_VARIANTS.indexOf("lt"),
        type,
        dims: value.dims,
        a: value,
        b,
      });
    }
    const a = this.clamp(value, TYPE_RANGES[type]);
    const variant = ARITH_VARIANTS.indexOf("cast");
    return this.step({ opcode: "arith", variant, type, dims: value.dims, a }, a.range);
  }

  /** Integers brought into a range, where the program is meant to hold it. */
  clamp(value: Value, { low, high }: Range): Value {
    let clamped = value;
    const bound = (name: "min" | "max", limit: number): void => {
      const b = this.constant(
        { type: "s32", dims: [1], data: Int32Array.of(limit) },
        { low: limit, high: limit, quantum: 0 },
      );
      const range = {
        low: name === "max" ? Math.max(clamped.range.low, limit) : Math.min(clamped.range.low, limit),
        high: name === "max" ? Math.max(clamped.range.high, limit) : Math.min(clamped.range.high, limit),
        quantum: 0,
      };
      const variant = ARITH_VARIANTS.indexOf(name);
      clamped = this.step({ opcode: "arith", variant, type: "s32", dims: value.dims, a: clamped, b }, range);
    };
    if (this.options.hostile) return value;
    if (value.range.low < low) bound("max", low);
    if (clamped.range.high > high) bound("min", high);
    return clamped;
  }

  /** binary32 numbers brought into a range, where floats are meant to be sane. */
  clampFloat(value: Value, { low, high }: Range): Value {
    let clamped = value;
    const bound = (name: "min" | "max", limit: number): void => {
      const range = {
        low: name === "max" ? Math.max(clamped.range.low, limit) : clamped.range.low,
        high: name === "max" ? clamped.range.high : Math.min(clamped.range.high, limit),
        quantum: clamped.range.quantum,
      };
      const b = this.constant(
        { type: "f32", dims: [1], data: Float32Array.of(limit) },
        { low: limit, high: limit, quantum: 0 },
      );
      const variant = FLOAT_VARIANTS.indexOf(name);
      clamped = this.step({ opcode: "float", variant, type: "f32", dims: value.dims, a: clamped, b }, range);
    };
    if (!this.options.floatSane) return value;
    if (value.range.low < low) bound("max", low);
    // 2^31 − 1 is not a binary32 number; the largest one below it is.
    if (clamped.range.high > high) bound("min", high === 2 ** 31 - 1 ? 2_147_483_520 : high);
    return clamped;
  }

  /** A tensor of one of the types and exactly these dims: an input, a constant, or one that is there. */
  value(types: readonly TensorType[], dims: readonly number[]): Value {
    const same = this.values.filter(
      (value) =>
        types.includes(value.type) &&
        value.dims.length === dims.length &&
        value.dims.every((dim, i) => dim === dims[i]),
    );
    if (same.length > 0 && this.rng.chance(0.5)) return this.rng.pick(same);
    const type = this.rng.pick(types);
    return this.rng.chance(0.15) ? this.randomConstant(type, dims) : this.fresh(type, dims);
  }

  /** An input, or, for floats that must stay ordinary, one made of integers. */
  fresh(type: TensorType, dims: readonly number[]): Value {
    if (type !== "f32" || !this.options.floatSane) return this.input(type, dims);
    const integers = this.input(this.rng.pick(["u8", "s8", "s32"] as const), dims);
    return this.convert(integers, "f32");
  }

  /** A value that broadcasts to the dims. */
  broadcast(types: readonly TensorType[], dims: readonly number[]): Value {
    return this.value(types, broadcastDims(this.rng, dims));
  }

  padFor(type: TensorType): number {
    if (type === "f32")
      return this.options.floatSane ? this.rng.pick([0, 0x3f800000, 0xc0000000]) : randomFloatBits(this.rng);
    if (type === "s32") return randomInteger(this.rng, TYPE_RANGES.s32) >>> 0;
    return this.rng.int(0, type === "bool" && !this.options.hostile ? 1 : 255);
  }
}

export const union = (a: Range, b: Range): Range => ({
  low: Math.min(a.low, b.low),
  high: Math.max(a.high, b.high),
  quantum: Math.min(a.quantum, b.quantum),
});

/** Dims of rank 1 to 6 with at most `most` elements. */
export function randomDims(rng: Rng, most: number, rank = rng.int(1, 6)): number[] {
  const dims: number[] = [];
  let room = rng.int(1, most);
  for (let i = 0; i < rank; i++) {
    const dim = i === rank - 1 && rng.chance(0.7) ? room : rng.int(1, Math.max(1, Math.min(room, 9)));
    dims.push(dim);
    room = Math.max(1, Math.floor(room / dim));
  }
  return rng.chance(0.3) ? dims.reverse() : dims;
}

function broadcastDims(rng: Rng, dims: readonly number[]): readonly number[] {
  if (rng.chance(0.4)) return dims;
  if (rng.chance(0.3)) return [1];
  const kept = dims.slice(rng.int(0, dims.length - 1));
  return kept.map((dim) => (rng.chance(0.3) ? 1 : dim));
}
