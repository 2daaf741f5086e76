/** Appends steps and weight tensors to a program, each step with its intervals as soon as it is there. */

import { IntervalAnalysis } from "../profile/intervals.ts";
import { exactly, type Range } from "../profile/range.ts";
import { MAX_ELEMENTS, MAX_HEIGHT, MAX_STEPS, MAX_WEIGHTS } from "../program/check.ts";
import { INPUT_CODEC_CODES, type Variant, variantCode } from "../program/codes.ts";
import { MAX_RANK } from "../program/encode.ts";
import {
  type Coordinate,
  elementCount,
  type InputCodec,
  isStep,
  lastDim,
  type Model,
  NONE,
  type Operand,
  type OutputCodec,
  type Step,
  type TensorData,
  type TensorType,
  WEIGHT,
  type WeightDescriptor,
  weightIndex,
} from "../program/form.ts";
import { tensorShape } from "../program/shape.ts";
import { fromStoredBytes, storedBytes } from "../program/tensor.ts";
import { type ChannelParameters, packChannel, packLookup } from "../program/weights.ts";
import { Budget } from "./budget.ts";
import { refuse } from "./refusal.ts";
import { MAX_ONNX_RANK } from "./tensor.ts";

export type ArithName = Exclude<Variant<"arith">, "rotate">;
export type FloatName = Variant<"float">;
export type ReduceName = Exclude<Variant<"reduce">, "norm">;

/** A character for each byte. */
const LATIN1 = new TextDecoder("latin1");
const EMPTY = { a: NONE, b: NONE, c: NONE, k: 0, coordinates: [] } as const;

/** Dims of an element-wise result. */
export function broadcastDims(...operands: readonly (readonly number[])[]): number[] {
  const rank = operands.reduce((most, dims) => Math.max(most, dims.length), 0);
  if (rank > MAX_ONNX_RANK) refuse(`an operand has rank ${rank}`, `Use ranks up to ${MAX_ONNX_RANK}.`);
  return Array.from({ length: rank }, (_, axis) => {
    let dim = 1;
    for (const dims of operands) {
      const d = dims[axis - rank + dims.length] ?? 1;
      if (d !== 1 && dim !== 1 && d !== dim) {
        refuse(`dims ${operands.map((o) => `[${o}]`).join(" and ")} do not broadcast`, "Correct the shapes.");
      }
      if (d !== 1) dim = d;
    }
    return dim;
  });
}

/** What numbers are multiplied by, one by one; or, once they are multiplied by a number, divided by in equal parts of their
 *  rows. */
export interface Changed {
  readonly by: Operand;
  /** u32, not 0; absent: `by` has factors */
  readonly multiplier?: number;
}

export class ProgramBuilder {
  readonly steps: Step[] = [];
  /** ONNX node of each step. */
  readonly nodes: string[] = [];
  readonly analysis: IntervalAnalysis;
  /** Name that the next steps carry. */
  node = "";
  private readonly descriptors: WeightDescriptor[] = [];
  private readonly bytes: Uint8Array[] = [];
  private readonly known = new Map<string, Operand>();

  constructor(
    readonly inputCodec: InputCodec,
    readonly inputSize: number,
    outputCodec: OutputCodec = "words",
    readonly budget = new Budget(),
  ) {
    this.analysis = new IntervalAnalysis(this.model(outputCodec));
  }

  model(outputCodec: OutputCodec): Model {
    const { inputCodec, inputSize } = this;
    const program = { inputCodec, outputCodec, inputSize, weights: this.descriptors, steps: this.steps };
    return { program, weights: this.bytes };
  }

  push(step: Pick<Step, "opcode" | "variant" | "type" | "dims"> & Partial<Step>): Operand {
    const { type, dims } = step;
    const elements = elementCount(dims);
    if (!dims.every((dim) => dim >= 1)) refuse(`it needs a tensor of dims [${dims}]`, "Correct the shapes.");
    if (dims.length > MAX_RANK || elements > MAX_ELEMENTS || tensorShape(type, dims).height > MAX_HEIGHT) {
      const limit = `rank ${MAX_RANK}, ${MAX_ELEMENTS} elements and 2^${MAX_HEIGHT} padded words of 32 bytes`;
      refuse(`it needs a tensor of dims [${dims}], above ${limit}`, "Use smaller shapes or split the node.");
    }
    if (this.steps.length >= MAX_STEPS) {
      refuse(`the program has more than ${MAX_STEPS} steps`, "Split the model.");
    }
    this.budget.spend(elements);
    this.steps.push({ ...EMPTY, ...step });
    this.nodes.push(this.node);
    this.analysis.next(this.node);
    return this.steps.length - 1;
  }

  /** Adds a weight tensor, or finds one with the same content. */
  weight(descriptor: WeightDescriptor, bytes: Uint8Array): Operand {
    const { layout, type, dims } = descriptor;
    const content = bytes.length <= 4096 ? LATIN1.decode(bytes) : `#${this.bytes.length}`;
    const key = `${layout} ${type} ${dims} ${content}`;
    const found = this.known.get(key);
    if (found !== undefined) return found;
    if (this.bytes.length >= MAX_WEIGHTS)
      refuse(`the program has more than ${MAX_WEIGHTS} weight tensors`, "Split it.");
    this.budget.store(bytes.length);
    this.descriptors.push(descriptor);
    this.bytes.push(bytes);
    const operand = WEIGHT + this.bytes.length - 1;
    this.known.set(key, operand);
    return operand;
  }

  /** @param data as in a Tensor: s8 as stored bytes */
  plain(type: TensorType, dims: readonly number[], data: TensorData): Operand {
    if (!dims.every((dim) => dim >= 1)) refuse(`a constant has the dims [${dims}]`, "Use no empty tensors.");
    return this.weight(
      { layout: "plain", type, dims: dims.length === 0 ? [1] : dims },
      storedBytes(data).slice(),
    );
  }

  /** @param values s8, [rows, length] row-major */
  lookupTable(values: Int8Array, rows: number, length: number): Operand {
    return this.weight({ layout: "lookup", type: "s8", dims: [rows, length] }, packLookup(values, length));
  }

  s32(...values: number[]): Operand {
    return this.plain("s32", [values.length], Int32Array.from(values));
  }

  f32(...values: number[]): Operand {
    return this.plain("f32", [values.length], Float32Array.from(values));
  }

  /** Type and dims of a step or plain weight tensor. */
  shape(operand: Operand): { readonly type: TensorType; readonly dims: readonly number[] } {
    return isStep(operand)
      ? (this.steps[operand] as Step)
      : (this.descriptors[weightIndex(operand)] as WeightDescriptor);
  }

  range(step: Operand): Range {
    return this.analysis.ranges[step] as Range;
  }

  /** Intervals of a float32 step or plain weight tensor. */
  realRange(operand: Operand): Range {
    if (isStep(operand)) return this.range(operand);
    const index = weightIndex(operand);
    return exactly(fromStoredBytes("f32", this.bytes[index] as Uint8Array), true);
  }

  /** True where import proves that a FLOAT step of these operands, as the next one, is finite and not subnormal. */
  proves(name: FloatName, a: Operand, b: Operand): boolean {
    const variant = variantCode("float", name);
    const step: Step = { ...EMPTY, opcode: "float", variant, type: "f32", dims: this.broadcast(a, b), a, b };
    return this.analysis.proves(step);
  }

  /** Accumulators of a DOT step that is not there yet: one interval an output element, or one a channel. */
  accumulators(
    a: Operand,
    groups: number,
    rows: readonly number[],
    weights: { readonly descriptor: WeightDescriptor; readonly bytes: Uint8Array },
    form: "s32" | "planes" = "s32",
  ): { low: Float64Array; high: Float64Array } {
    const n = weights.descriptor.dims[0] as number;
    const step: Step = {
      ...EMPTY,
      opcode: "dot",
      variant: variantCode("dot", form),
      type: "s32",
      dims: [...rows, n],
      a,
      k: groups,
    };
    return this.analysis.accumulators(step, weights);
  }

  codec(type: TensorType, dims: readonly number[], k: number): Operand {
    return this.push({ opcode: "codec", variant: INPUT_CODEC_CODES[this.inputCodec], type, dims, k });
  }

  claimed(type: TensorType, dims: readonly number[]): Operand {
    return this.push({ opcode: "codec", variant: variantCode("codec", "claimed"), type, dims });
  }

  move(
    a: Operand,
    dims: readonly number[],
    coordinates: readonly Coordinate[],
    fill: { readonly other?: Operand; readonly pad?: number } = {},
  ): Operand {
    const { type } = this.shape(a);
    const b = fill.other ?? NONE;
    return this.push({ opcode: "move", variant: 0, type, dims, a, b, k: fill.pad ?? 0, coordinates });
  }

  arith(name: ArithName, type: TensorType, a: Operand, b: Operand = NONE): Operand {
    const dims = this.broadcast(a, b);
    return this.push({ opcode: "arith", variant: variantCode("arith", name), type, dims, a, b });
  }

  /** Pairs of neighbours of a as complex numbers, times those of b, divided by 2^shift, to the nearest integer of the
   *  type. */
  rotate(type: TensorType, a: Operand, b: Operand, shift: number): Operand {
    const [variant, dims] = [variantCode("arith", "rotate"), this.broadcast(a, b)];
    return this.push({ opcode: "arith", variant, type, dims, a, b, k: shift });
  }

  float(name: FloatName, type: TensorType, a: Operand, b: Operand = NONE, c: Operand = NONE): Operand {
    const dims = this.broadcast(a, b, c);
    return this.push({ opcode: "float", variant: variantCode("float", name), type, dims, a, b, c });
  }

  select(a: Operand, b: Operand, c: Operand): Operand {
    const { type } = this.shape(b);
    return this.push({ opcode: "select", variant: 0, type, dims: this.broadcast(a, b, c), a, b, c });
  }

  /** Reduces the last axis; `dims` has as many elements as a has rows. */
  reduce(name: ReduceName, a: Operand, dims: readonly number[]): Operand {
    const type = name === "sum" ? "s32" : this.shape(a).type;
    return this.push({ opcode: "reduce", variant: variantCode("reduce", name), type, dims, a });
  }

  /** @param map stored byte of the result for each stored byte of the source */
  table(a: Operand, type: TensorType, map: Uint8Array): Operand {
    const b = this.plain("u8", [256], map);
    return this.push({ opcode: "table", variant: 0, type, dims: this.shape(a).dims, a, b });
  }

  /** @param channels one, or one for each index of the last axis */
  requant(
    a: Operand,
    form: Variant<"requant">,
    type: TensorType,
    channels: readonly ChannelParameters[],
  ): Operand {
    const b = this.weight({ layout: "channel", type: "u8", dims: [channels.length] }, packChannel(channels));
    return this.push({
      opcode: "requant",
      variant: variantCode("requant", form),
      type,
      dims: this.shape(a).dims,
      a,
      b,
    });
  }

  /** @param channels one, or one for each index of the last axis */
  rescale(a: Operand, channels: readonly ChannelParameters[]): Operand {
    const b = this.weight({ layout: "channel", type: "u8", dims: [channels.length] }, packChannel(channels));
    return this.push({ opcode: "rescale", variant: 0, type: "s32", dims: this.shape(a).dims, a, b });
  }

  /** Numbers of 16 bits, 0 to 65,535, as planes of bytes.
   *  @param channels one, or one for each number of a row @param dims in which a's elements are read, default a's own
   *  @param changed what they are multiplied or divided by first */
  planes(
    a: Operand,
    channels: readonly ChannelParameters[],
    dims: readonly number[] = this.shape(a).dims,
    changed?: Changed,
  ): Operand {
    const b = this.weight({ layout: "channel", type: "u8", dims: [channels.length] }, packChannel(channels));
    return this.push({
      opcode: "rescale",
      variant: variantCode("rescale", "planes"),
      type: "u8",
      dims: [...dims.slice(0, -1), 2 * lastDim(dims)],
      ...{ a, b, c: changed?.by ?? NONE, k: changed?.multiplier ?? 0 },
    });
  }

  /** `⌊√(Σx² + addend)⌋` of each row. @param addend u32 */
  norm(a: Operand, addend: number, dims: readonly number[]): Operand {
    const variant = variantCode("reduce", "norm");
    return this.push({ opcode: "reduce", variant, type: "s32", dims, a, k: addend });
  }

  /** Each element times a number, divided by its row's element of b, to the nearest s32. @param multiplier u32, not 0 */
  ratio(a: Operand, b: Operand, multiplier: number): Operand {
    const { dims } = this.shape(a);
    return this.push({
      opcode: "rescale",
      variant: variantCode("rescale", "ratio"),
      type: "s32",
      dims,
      a,
      b,
      k: multiplier,
    });
  }

  /** @param b words as packDot makes them, of N rows of K bytes @param added to what is rescaled, of the output's dims */
  dot(
    form: Variant<"dot">,
    type: TensorType,
    a: Operand,
    b: Operand,
    groups: number,
    rows: readonly number[],
    added: Operand = NONE,
  ): Operand {
    const n = this.shape(b).dims[0] as number;
    return this.push({
      opcode: "dot",
      variant: variantCode("dot", form),
      type,
      dims: [...rows, n],
      ...{ a, b, c: added, k: groups },
    });
  }

  /** DOT of rows of a and rows of b: each matrix of N rows of b for `rows.at(-1)` rows of a. */
  dotActivations(
    a: Operand,
    b: Operand,
    rows: readonly [matrices: number, share: number],
    n: number,
  ): Operand {
    const variant = variantCode("dot", "activations");
    this.budget.spend(rows[0] * rows[1] * n * lastDim(this.shape(a).dims));
    return this.push({ opcode: "dot", variant, type: "s32", dims: [...rows, n], a, b, k: rows[1] });
  }

  /** An element of a table [V, 1] for each id. */
  each(a: Operand, b: Operand): Operand {
    const [{ type }, { dims }] = [this.shape(b), this.shape(a)];
    return this.push({ opcode: "lookup", variant: variantCode("lookup", "each"), type, dims, a, b });
  }

  /** An element of a table [V, 1] for how far each one is below the largest of its row, 0 where its place does not count.
   *  @param mask bool, says which places count; absent: each does */
  below(a: Operand, b: Operand, mask: Operand = NONE): Operand {
    const [{ type }, { dims }] = [this.shape(b), this.shape(a)];
    return this.push({
      opcode: "lookup",
      variant: variantCode("lookup", "below"),
      type,
      dims,
      a,
      b,
      c: mask,
    });
  }

  lookup(name: "sum" | "pick", a: Operand, b: Operand, rows: readonly number[]): Operand {
    const table = this.shape(b);
    const type = name === "sum" ? "s32" : table.type;
    const variant = variantCode("lookup", name);
    return this.push({ opcode: "lookup", variant, type, dims: [...rows, lastDim(table.dims)], a, b });
  }

  private broadcast(...operands: Operand[]): number[] {
    return broadcastDims(...operands.filter((o) => o !== NONE).map((o) => this.shape(o).dims));
  }
}
