/** State of one import: values by name, the program so far, and how a value becomes an operand. */

import { highest, lowest } from "../../profile/range.ts";
import { elementCount, isStep, lastDim, type Operand } from "../../program/form.ts";
import { axisDims, coordinates, reshapeCoordinates } from "../axes.ts";
import type { ProgramBuilder } from "../builder.ts";
import type { MoveDescription } from "../compose.ts";
import { type Attribute, count, numbers, type OnnxGraph, type OnnxNode, type OnnxTensor } from "../graph.ts";
import type { ArithmeticForm, ProductForm } from "../named-settings.ts";
import { refuse } from "../refusal.ts";
import { makeTensor, movedConstant, storedConstant } from "./constants.ts";
import type { RequantizationReport, TreeReport } from "./reports.ts";
import { dimsOf, type Product, type TensorValue, type Value } from "./values.ts";

export interface ImportOptions {
  /** Moves weight scales by at most 1e-3 where that gives every channel the integer form. */
  readonly nudge: boolean;
  readonly products: ProductForm;
  readonly arithmetic: ArithmeticForm;
}

interface Origin {
  readonly source: TensorValue;
  readonly move: MoveDescription;
}

export class Lowering {
  readonly requantizations: RequantizationReport[] = [];
  readonly trees: TreeReport[] = [];
  /** What the reader of the import should know beyond errors. */
  readonly notes: string[] = [];
  /** What the numbers of a label stand for. */
  readonly words = new Map<Operand, readonly string[]>();
  private readonly values = new Map<string, Value>();
  private readonly uses = new Map<string, number>();
  private readonly moved = new Map<string, Operand>();
  private readonly origins = new Map<Operand, Origin>();

  constructor(
    readonly graph: OnnxGraph,
    readonly builder: ProgramBuilder,
    readonly options: ImportOptions,
    /** Emits the s32 accumulators of a product that nothing requantizes. */
    private readonly emitProduct: (ctx: Lowering, product: Product) => TensorValue,
  ) {
    for (const [name, tensor] of graph.constants) this.values.set(name, { kind: "constant", tensor });
    const used = [...graph.nodes.flatMap((n) => n.inputs), ...graph.outputs.map((o) => o.name)];
    for (const name of used) this.uses.set(name, (this.uses.get(name) ?? 0) + 1);
  }

  set(name: string | undefined, value: Value): void {
    if (name !== undefined && name !== "") this.values.set(name, value);
  }

  /** Sets a node's outputs: the first one, or as many as the operator has. */
  result(node: OnnxNode, result: Value | readonly Value[]): void {
    const values = [result].flat();
    for (const extra of node.outputs.slice(values.length)) {
      if (extra !== "" && (this.uses.get(extra) ?? 0) > 0) {
        refuse(`its output ${extra} is used`, "Only the first output of this operator can be used.");
      }
    }
    values.forEach((value, i) => {
      this.set(node.outputs[i], value);
    });
  }

  /** How often a value is read, graph outputs included. */
  usesOf(name: string | undefined): number {
    return this.uses.get(name ?? "") ?? 0;
  }

  has(name: string): boolean {
    return this.values.has(name);
  }

  get(name: string): Value {
    const value = this.values.get(name);
    if (value === undefined) throw new TypeError(`${name} is not lowered`);
    return value;
  }

  optional(node: OnnxNode, index: number): Value | undefined {
    const name = node.inputs[index];
    return name === undefined || name === "" ? undefined : this.get(name);
  }

  input(node: OnnxNode, index: number): Value {
    return this.optional(node, index) ?? refuse(`input ${index} is missing`, "Export the model again.");
  }

  /** A constant input. */
  constant(node: OnnxNode, index: number, what: string): OnnxTensor {
    const value = this.input(node, index);
    if (value.kind === "constant") return value.tensor;
    return refuse(
      `its ${what} (input ${index}) is computed, not constant`,
      `Make the ${what} an initializer.`,
    );
  }

  optionalConstant(node: OnnxNode, index: number, what: string): OnnxTensor | undefined {
    return this.optional(node, index) === undefined ? undefined : this.constant(node, index, what);
  }

  /** Numbers of a constant input. */
  numbers(node: OnnxNode, index: number, what: string): number[] {
    return numbers(this.constant(node, index, what));
  }

  /** A value as a tensor of the program; emits what it still waits for. */
  tensor(value: Value): TensorValue {
    const { builder } = this;
    switch (value.kind) {
      case "tensor":
        return value;
      case "constant": {
        const { type, dims } = value.tensor;
        const stored = storedConstant(value.tensor);
        return {
          kind: "tensor",
          operand: builder.plain(stored.type, dims, stored.data),
          type: stored.type,
          onnx: type,
          dims,
        };
      }
      case "product":
        return this.emitProduct(this, value.product);
      case "scaled":
        return this.real(value);
      case "dequantized":
        return this.dequantize(value.source, value.scale, value.zero, value.axis);
      case "mapped":
        return this.mapped(value.source, value.map);
      case "masked":
        return value.sum();
      case "picked": {
        const picked = this.pick(value.ids, value.table, value.dims);
        return value.cast ? this.cast(picked) : picked;
      }
    }
  }

  /** The integers of scaled numbers. */
  integersOf({ source }: Extract<Value, { kind: "scaled" }>): TensorValue {
    return source.kind === "tensor" ? source : this.emitProduct(this, source);
  }

  private real(value: Extract<Value, { kind: "scaled" }>): TensorValue {
    if (value.fused && value.source.kind === "dot") {
      refuse(
        "its float32 result is read by something other than QuantizeLinear",
        "Quantize the result of every product: insert QuantizeLinear and DequantizeLinear after it.",
      );
    }
    const source = this.integersOf(value);
    const scale = value.scale.map((s) => Math.fround(value.factor * s));
    let tensor = this.dequantize(source, scale, [0], value.axis);
    const { builder } = this;
    const clamp = (name: "max" | "min", bound: number): void => {
      if (Number.isFinite(bound)) {
        tensor = { ...tensor, operand: builder.float(name, "f32", tensor.operand, builder.f32(bound)) };
      }
    };
    clamp("max", value.low);
    clamp("min", value.high);
    return tensor;
  }

  private dequantize(
    source: TensorValue | Extract<Value, { kind: "constant" }>,
    scale: readonly number[],
    zero: readonly number[],
    axis: number,
  ): TensorValue {
    const tensor = this.tensor(source);
    const operand = this.builder.float(
      "dequant",
      "f32",
      this.aligned(tensor),
      this.along(tensor, axis, Float32Array.from(scale)),
      this.along(tensor, axis, Int32Array.from(zero)),
    );
    return this.like(tensor, operand, "float32");
  }

  /** A constant with one element for each index of an ONNX axis, or one for all, that broadcasts to `aligned`. */
  along(tensor: TensorValue, axis: number, data: Float32Array | Int32Array): Operand {
    const dims = axisDims(data.length, axis, tensor.dims.length);
    const permuted = tensor.layout === undefined ? dims : tensor.layout.map((a) => dims[a] as number);
    return this.builder.plain(data instanceof Float32Array ? "f32" : "s32", permuted, data);
  }

  private mapped(source: TensorValue, map: Float32Array): TensorValue {
    return this.entryOf(source, makeTensor("float32", [map.length], map));
  }

  /** The entry of a vector at each integer of 8 or 16 bits, counted from the least integer of the type. */
  entryOf(source: TensorValue, entries: OnnxTensor): TensorValue {
    const { builder } = this;
    const lift = source.onnx === "int16" ? 32_768 : source.type === "s8" ? 128 : 0;
    const number = builder.arith("add", "s32", source.operand, builder.s32(lift));
    // In stored order: the result keeps the source's.
    const elements = elementCount(builder.shape(number).dims);
    const ids = this.reshape(number, [elements, 1]);
    const { type, data } = storedConstant(entries);
    const table = builder.plain(type, [count(entries.dims), 1], data);
    const operand = builder.lookup("pick", ids, table, [elements]);
    return this.like(source, operand, entries.type);
  }

  /** Rows of a plain table. */
  private pick(ids: TensorValue, table: OnnxTensor, dims: readonly number[]): TensorValue {
    const { builder } = this;
    const stored = storedConstant(table);
    const weights = builder.plain(stored.type, table.dims, stored.data);
    const rows = this.withLast(ids, 1);
    const operand = builder.lookup("pick", rows, weights, builder.shape(rows).dims.slice(0, -1));
    return { kind: "tensor", operand, type: stored.type, onnx: table.type, dims };
  }

  /** The move that made a tensor, if nothing renamed or reordered its axes since. */
  originOf({ operand, dims, layout }: TensorValue): Origin | undefined {
    const origin = this.origins.get(operand);
    return layout === undefined && origin?.move.dims.join() === dims.join() ? origin : undefined;
  }

  setOrigin({ operand }: TensorValue, origin: Origin): void {
    this.origins.set(operand, origin);
  }

  /** Interval of all elements of a tensor. */
  rangeOf(tensor: TensorValue): { low: number; high: number } {
    if (!isStep(tensor.operand)) return { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
    const range = this.builder.range(tensor.operand);
    return { low: lowest(range), high: highest(range) };
  }

  cast(tensor: TensorValue): TensorValue {
    return this.like(tensor, this.builder.arith("cast", "s32", tensor.operand), "int32");
  }

  /** Result of an element-wise step on `tensor`. */
  like(tensor: TensorValue, operand: Operand, onnx: TensorValue["onnx"]): TensorValue {
    return { ...tensor, operand, type: this.builder.shape(operand).type, onnx };
  }

  /** Operand in ONNX order. */
  plain(value: Value): Operand {
    return this.inLayout(value, undefined);
  }

  /** A tensor whose elements are stored in ONNX order. */
  plainTensor(value: Value): TensorValue {
    const { layout: _, ...tensor } = this.tensor(value);
    return { ...tensor, operand: this.plain(value) };
  }

  /** Operand whose dims are the ONNX dims in the order of `layout`, for broadcasting against others like it. */
  inLayout(value: Value, layout: readonly number[] | undefined): Operand {
    const rank = dimsOf(value).length;
    const order = layout ?? Array.from({ length: rank }, (_, axis) => axis);
    if (value.kind === "constant" && layout !== undefined) {
      return this.tensor({ kind: "constant", tensor: movedConstant(value.tensor, order) }).operand;
    }
    const tensor = this.tensor(value);
    const stored = tensor.layout ?? order.map((_, axis) => axis);
    const moving = (list: readonly number[]): number[] =>
      list.filter((axis) => (tensor.dims[axis] as number) > 1);
    const dims = order.map((axis) => tensor.dims[axis] as number);
    if (moving(stored).join() === moving(order).join()) return this.reshape(tensor.operand, dims);
    const axes = stored.map((axis) => ({
      dim: tensor.dims[axis] as number,
      terms: [{ axis: order.indexOf(axis), factor: 1 }],
      offset: 0,
      checked: false,
    }));
    return this.once(`${tensor.operand} ${stored} > ${order}`, () =>
      this.builder.move(tensor.operand, dims, coordinates(axes, dims)),
    );
  }

  /** The tensor's operand with dims that end in its stored dims: what element-wise steps need. */
  aligned(tensor: TensorValue): Operand {
    const order = tensor.layout ?? tensor.dims.map((_, axis) => axis);
    return this.reshape(
      tensor.operand,
      order.map((axis) => tensor.dims[axis] as number),
    );
  }

  /** Same elements with other dims; dims that differ only by leading ones are the same. */
  reshape(operand: Operand, dims: readonly number[]): Operand {
    const now = this.builder.shape(operand).dims;
    const bare = (list: readonly number[]): string => {
      const first = list.findIndex((dim) => dim > 1);
      return first < 0 ? "" : list.slice(first).join();
    };
    if (bare(now) === bare(dims)) return operand;
    const target = dims.length === 0 ? [1] : dims;
    return this.once(`${operand} = ${target}`, () =>
      this.builder.move(operand, target, reshapeCoordinates(target)),
    );
  }

  /** Operand in ONNX order whose last dim is `last`. */
  withLast(value: Value, last: number): Operand {
    const operand = this.plain(value);
    const { dims } = this.builder.shape(operand);
    if (lastDim(dims) === last) return operand;
    return this.reshape(operand, [elementCount(dims) / last, last]);
  }

  /** The operand that was made under this key before, or a new one. */
  once(key: string, make: () => Operand): Operand {
    const found = this.moved.get(key);
    if (found !== undefined) return found;
    const operand = make();
    this.moved.set(key, operand);
    return operand;
  }
}

/** An axis attribute or input as 0..rank−1. */
export function normalAxis(axis: number, rank: number): number {
  const positive = axis < 0 ? axis + rank : axis;
  if (!Number.isInteger(axis) || positive < 0 || positive >= Math.max(rank, 1)) {
    refuse(`its axis ${axis} is outside rank ${rank}`, "Export the model again.");
  }
  return positive;
}

export function intAttribute(node: OnnxNode, name: string, otherwise: number): number {
  const attribute = node.attributes.get(name);
  if (attribute === undefined) return otherwise;
  if (attribute.kind !== "int") return wrongAttribute(name, attribute);
  return attribute.value;
}

export function floatAttribute(node: OnnxNode, name: string, otherwise: number): number {
  const attribute = node.attributes.get(name);
  if (attribute === undefined) return otherwise;
  if (attribute.kind !== "float") return wrongAttribute(name, attribute);
  return attribute.value;
}

export function intsAttribute(node: OnnxNode, name: string): readonly number[] | undefined {
  const attribute = node.attributes.get(name);
  if (attribute === undefined) return undefined;
  if (attribute.kind !== "ints") return wrongAttribute(name, attribute);
  return attribute.value;
}

export function stringAttribute(node: OnnxNode, name: string, otherwise: string): string {
  const attribute = node.attributes.get(name);
  if (attribute === undefined) return otherwise;
  if (attribute.kind !== "string") return wrongAttribute(name, attribute);
  return attribute.value;
}

function wrongAttribute(name: string, attribute: Attribute): never {
  return refuse(`its attribute ${name} is of kind ${attribute.kind}`, "Export the model again.");
}

/** The only number of a constant. */
export function scalar(tensor: OnnxTensor, what: string): number {
  const [value] = numbers(tensor);
  if (value === undefined || count(tensor.dims) !== 1) {
    return refuse(`its ${what} has ${count(tensor.dims)} elements`, `Use one ${what} for the whole tensor.`);
  }
  return value;
}
