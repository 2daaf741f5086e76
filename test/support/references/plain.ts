/** Tensors as the references of operators read them: numbers by position. Nothing here knows of programs, steps or the
 *  importer: each reference is written from the operator's text, in loops. */
import type { NamedTensors } from "../../../inference/model-values.ts";
import type { OnnxType } from "../../../inference/onnx/graph.ts";
import type { ImportSettings } from "../../../inference/onnx/import.ts";
import type { TestGraph, TestNode, TestTensor } from "../onnx-file.ts";
import type { Rng } from "../rng.ts";

/** Numbers in row-major order. */
export interface Plain {
  readonly dims: readonly number[];
  readonly data: readonly number[];
}

/** What an output must be. */
export interface Expected extends Plain {
  /** How far a result may be from the number; absent: it is the number. */
  readonly within?: number;
  /** True where onnxruntime's float32 result is one unit off at most: 2^-20 of its size. */
  readonly isNear?: true;
}

export interface ReferenceCase {
  readonly graph: TestGraph;
  readonly inputs: NamedTensors;
  readonly expected: Readonly<Record<string, Expected>>;
  readonly settings?: ImportSettings;
  /** Why onnxruntime gives something else. */
  readonly isElsewhere?: string;
}

/** Draws a graph, its inputs, and what must come of them. */
export type Reference = (rng: Rng) => ReferenceCase;

export type Byte = "uint8" | "int8";
export const BYTES = ["uint8", "int8"] as const;
export const LIMITS: Readonly<Record<Byte, readonly [number, number]>> = {
  uint8: [0, 255],
  int8: [-128, 127],
};

export const f32 = Math.fround;
export const sizeOf = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);
export const clamp = (x: number, [low, high]: readonly [number, number]): number =>
  Math.min(Math.max(x, low), high);

export function halfEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}

/** Every position of these dims, last axis fastest. */
export function* positions(dims: readonly number[]): Generator<number[]> {
  const at = dims.map(() => 0);
  for (let i = 0; i < sizeOf(dims); i++) {
    yield [...at];
    for (let axis = dims.length - 1; axis >= 0; axis--) {
      at[axis] = (at[axis] as number) + 1;
      if ((at[axis] as number) < (dims[axis] as number)) break;
      at[axis] = 0;
    }
  }
}

export const build = (dims: readonly number[], f: (at: readonly number[]) => number): Plain => ({
  dims,
  data: [...positions(dims)].map(f),
});

/** @throws RangeError outside of the tensor */
export function read({ dims, data }: Plain, at: readonly number[]): number {
  const inside = at.length === dims.length && at.every((p, i) => p >= 0 && p < (dims[i] as number));
  if (!inside) throw new RangeError(`[${at}] is no position of [${dims}]`);
  return data[at.reduce((place, p, i) => place * (dims[i] as number) + p, 0)] as number;
}

/** With broadcasting: a missing or single axis counts for all positions. */
export const readWide = (x: Plain, at: readonly number[]): number =>
  read(
    x,
    x.dims.map((dim, i) => (dim === 1 ? 0 : (at[at.length - x.dims.length + i] as number))),
  );

/** Dims of operands that broadcast against each other. */
export function joined(...all: readonly (readonly number[])[]): number[] {
  const rank = Math.max(...all.map((dims) => dims.length));
  return Array.from({ length: rank }, (_, axis) =>
    Math.max(...all.map((dims) => dims[dims.length - rank + axis] ?? 1)),
  );
}

/** The attribute axis, counted from either end; now and then left out where it is the operator's default. */
export const axisOf = (rng: Rng, axis: number, rank: number, otherwise: number): { axis?: number } =>
  axis === (otherwise < 0 ? otherwise + rank : otherwise) && rng.chance(0.5)
    ? {}
    : { axis: eitherEnd(rng, axis, rank) };

export const integers = (rng: Rng, n: number, low: number, high: number): number[] =>
  Array.from({ length: n }, () => rng.int(low, high));
export const shape = (rng: Rng, rank: number, most = rank > 3 ? 3 : 5): number[] =>
  integers(rng, rank, 1, most);
export const shuffled = <T>(rng: Rng, items: readonly T[]): T[] => {
  const left = [...items];
  return items.map(() => left.splice(rng.int(0, left.length - 1), 1)[0] as T);
};
/** An axis, counted from either end. */
export const eitherEnd = (rng: Rng, axis: number, rank: number): number =>
  rng.chance(0.5) ? axis : axis - rank;

export const tensor = (type: OnnxType, { dims, data }: Plain): TestTensor => ({ type, dims, data });
export const scalar = (type: OnnxType, value: number): TestTensor => ({ type, dims: [], data: [value] });
export const list = (type: OnnxType, data: readonly number[]): TestTensor => ({
  type,
  dims: [data.length],
  data,
});

const ENDS: Readonly<Record<string, readonly [number, number]>> = {
  ...LIMITS,
  int32: [-20_000, 20_000],
  float32: [-400, 400],
};
/** Random numbers of a type, now and then its ends or a number that was there before. */
export function drawn(rng: Rng, type: OnnxType, dims: readonly number[]): TestTensor {
  const [low, high] = ENDS[type] as readonly [number, number];
  const data: number[] = [];
  for (let i = 0; i < sizeOf(dims); i++) {
    const other = rng.chance(0.1) ? rng.pick([low, high, 0]) : rng.chance(0.1) ? data.at(-1) : undefined;
    data.push(other ?? (type === "float32" ? rng.int(8 * low, 8 * high) / 8 : rng.int(low, high)));
  }
  return { type, dims, data };
}

export const node = (
  op: string,
  inputs: readonly string[],
  attributes: NonNullable<TestNode["attributes"]> = {},
  output = "y",
): TestNode => ({ op, inputs, outputs: [output], attributes });

export interface CaseParts {
  readonly inputs: Readonly<Record<string, TestTensor>>;
  readonly nodes: readonly TestNode[];
  readonly constants?: Readonly<Record<string, TestTensor>>;
  readonly outputs: TestGraph["outputs"];
  readonly expected: Readonly<Record<string, Expected>>;
  readonly opset?: number;
  readonly settings?: ImportSettings;
}

export const caseOf = ({
  inputs,
  nodes,
  constants = {},
  outputs,
  expected,
  opset = 21,
  settings = {},
}: CaseParts) =>
  ({
    graph: {
      nodes,
      inputs: Object.fromEntries(
        Object.entries(inputs).map(([name, { type, dims }]) => [name, { type, dims }]),
      ),
      outputs,
      constants,
      opset,
    },
    inputs,
    expected,
    settings,
  }) satisfies ReferenceCase;

/** int32 input `x` inside of bounds that import can see, as `i`. */
export const bounded = (low: number, high: number) => ({
  nodes: [node("Clip", ["x", "least", "most"], {}, "i")],
  constants: { least: scalar("int32", low), most: scalar("int32", high) },
});
