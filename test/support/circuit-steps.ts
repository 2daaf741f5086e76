/** Steps that small circuit programs are made of. */

import { ProgramBuilder, type Value } from "../../conformance/generate/program-builder.ts";
import { TYPE_RANGES } from "../../conformance/generate/random-values.ts";
import { ARITH_VARIANTS, REDUCE_VARIANTS, type TensorType } from "../../inference/program/form.ts";
import { type ChannelParameters, packChannel, packDot, packLookup } from "../../inference/program/weights.ts";

type Arith = (typeof ARITH_VARIANTS)[number];

const CHANNEL: ChannelParameters = {
  bias: 0,
  multiplier: 1,
  addend: 0n,
  shift: 0,
  scaleBits: 0x3c800000,
  zeroPoint: 0,
  lower: 0,
  upper: 255,
  weightOffset: 128,
};

/** Grows a program whose numbers the caller chooses. */
export class CircuitSteps extends ProgramBuilder {
  s32(dims: readonly number[], ...data: number[]): Value {
    return this.constant({ type: "s32", dims, data: Int32Array.from(data) }, TYPE_RANGES.s32);
  }

  arith(name: Arith, a: Value, b?: Value, type: TensorType = "s32", dims = a.dims): Value {
    const variant = ARITH_VARIANTS.indexOf(name);
    return this.step({ opcode: "arith", variant, type, dims, a, ...(b === undefined ? {} : { b }) });
  }

  /** @param rows weights as numbers */
  dot(
    a: Value,
    rows: readonly (readonly number[])[],
    channel: Partial<ChannelParameters>,
    type: TensorType,
    k = 1,
  ): Value {
    const length = (rows[0] as readonly number[]).length;
    const bytes = Uint8Array.from(rows.flat(), (w) => w + 128);
    const words = packDot(
      bytes,
      length,
      rows.map(() => ({ ...CHANNEL, ...channel })),
    );
    const b = this.weight({ layout: "dot", type: "u8", dims: [rows.length, length] }, words);
    const variant = type === "s32" ? 0 : 1;
    return this.step({ opcode: "dot", variant, type, dims: [1, rows.length], a, b, k });
  }

  channels(
    opcode: "requant" | "rescale",
    type: TensorType,
    a: Value,
    ...channels: Partial<ChannelParameters>[]
  ): Value {
    const words = packChannel(channels.map((channel) => ({ ...CHANNEL, ...channel })));
    const b = this.weight({ layout: "channel", type: "u8", dims: [channels.length] }, words);
    return this.step({ opcode, variant: opcode === "requant" ? 1 : 0, type, dims: a.dims, a, b });
  }

  table(type: TensorType, a: Value, entry: (byte: number) => number): Value {
    const data = Uint8Array.from({ length: 256 }, (_, byte) => entry(byte));
    const b = this.constant({ type: "u8", dims: [256], data }, TYPE_RANGES.u8);
    return this.step({ opcode: "table", variant: 0, type, dims: a.dims, a, b });
  }

  lookup(a: Value, v: number, d: number, low = -128, high = 127): Value {
    const values = Int8Array.from({ length: v * d }, () => this.rng.int(low, high));
    const b = this.weight({ layout: "lookup", type: "s8", dims: [v, d] }, packLookup(values, d));
    return this.step({ opcode: "lookup", variant: 0, type: "s32", dims: [...a.dims.slice(0, -1), d], a, b });
  }

  pick(a: Value, type: TensorType, v: number, d: number, range = TYPE_RANGES[type]): Value {
    const b = this.randomConstant(type, [v, d], range);
    return this.step({ opcode: "lookup", variant: 1, type, dims: [...a.dims.slice(0, -1), d], a, b });
  }

  reduce(name: (typeof REDUCE_VARIANTS)[number], a: Value): Value {
    const variant = REDUCE_VARIANTS.indexOf(name);
    const type = name === "sum" ? "s32" : a.type;
    return this.step({ opcode: "reduce", variant, type, dims: [...a.dims.slice(0, -1), 1], a });
  }

  /** [m, n] → [n, m]. */
  transpose(a: Value): Value {
    const [m, n] = a.dims as [number, number];
    const one = { view: 1, a: 0, p: 0, b: 0, q: 0, c: 0 };
    const coordinates = [one, one, { ...one, view: m, a: 1, p: 1 }, { ...one, view: n, a: 1, p: 0 }];
    return this.step({ opcode: "move", variant: 0, type: a.type, dims: [n, m], a, coordinates });
  }

  /** Elements from `first` on, before the first and after the last a pad or those of b. */
  slice(a: Value, first: number, length: number, b?: Value): Value {
    const one = { view: 1, a: 0, p: 0, b: 0, q: 0, c: 0 };
    const n = a.dims.reduce((x, y) => x * y, 1);
    const coordinates = [one, one, one, { ...one, view: n, a: 1, c: first }];
    const k = b === undefined && a.type === "s8" ? 130 : 0;
    const fields = { opcode: "move", variant: 0, type: a.type, dims: [length], a, coordinates, k } as const;
    return this.step(b === undefined ? fields : { ...fields, b });
  }
}
