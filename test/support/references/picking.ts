/** References of operators that pick elements by ids. */
import type { OnnxType } from "../../../inference/onnx/graph.ts";
import type { TestNode, TestTensor } from "../onnx-file.ts";
import type { Rng } from "../rng.ts";
import {
  axisOf,
  bounded,
  build,
  type CaseParts,
  caseOf,
  drawn,
  integers,
  LIMITS,
  node,
  type Plain,
  type Reference,
  read,
  scalar,
  shape,
  sizeOf,
} from "./plain.ts";

const PICKED = ["uint8", "int8", "int32"] as const;

/** Ids of an axis of so many positions, counted from either end. */
const idsOf = (rng: Rng, dims: readonly number[], size: number): TestTensor => ({
  type: "int32",
  dims,
  data: integers(rng, sizeOf(dims), -size, size - 1),
});
const fromStart = (id: number, size: number): number => (id < 0 ? id + size : id);

/** `data[ids]` along an axis. */
function gathered(data: Plain, ids: Plain, axis: number): Plain {
  const dims = [...data.dims.slice(0, axis), ...ids.dims, ...data.dims.slice(axis + 1)];
  const size = data.dims[axis] as number;
  return build(dims, (at) => {
    const id = read(ids, at.slice(axis, axis + ids.dims.length));
    return read(data, [...at.slice(0, axis), fromStart(id, size), ...at.slice(axis + ids.dims.length)]);
  });
}

function gatheredElements(data: Plain, ids: Plain, axis: number): Plain {
  const size = data.dims[axis] as number;
  return build(ids.dims, (at) =>
    read(
      data,
      at.map((p, i) => (i === axis ? fromStart(read(ids, at), size) : p)),
    ),
  );
}

/** The data d of a pick: an input, a constant, or what DequantizeLinear makes of bytes. */
interface Source {
  readonly parts: Pick<CaseParts, "inputs" | "nodes" | "constants">;
  readonly output: OnnxType;
  /** of integers what they stand for */
  readonly numberOf: (integer: number) => number;
}

function sourceOf(rng: Rng, data: TestTensor): Source {
  const isByte = data.type !== "int32";
  const kind = rng.pick(["input", "input", "constant", ...(isByte ? (["numbers"] as const) : [])] as const);
  if (kind === "constant")
    return {
      parts: { inputs: {}, nodes: [], constants: { d: data } },
      output: data.type,
      numberOf: (q) => q,
    };
  if (kind === "input")
    return { parts: { inputs: { d: data }, nodes: [] }, output: data.type, numberOf: (q) => q };
  const zero = data.type === "uint8" ? 100 : -20;
  return {
    parts: {
      inputs: { q: data },
      nodes: [node("DequantizeLinear", ["q", "qs", "qz"], {}, "d")],
      constants: { qs: scalar("float32", 0.25), qz: scalar(data.type, zero) },
    },
    output: "float32",
    numberOf: (q) => (q - zero) / 4,
  };
}

/** A pick from d by the ids i. */
function picking(
  rng: Rng,
  data: TestTensor,
  ids: TestTensor,
  size: number,
  made: TestNode,
  expected: Plain,
): ReturnType<typeof caseOf> {
  const { parts, output, numberOf } = sourceOf(rng, data);
  const low = Math.min(0, ...ids.data);
  const { nodes, constants } = bounded(low < 0 ? -size : 0, size - 1);
  return caseOf({
    inputs: { ...parts.inputs, x: ids },
    nodes: [...parts.nodes, ...nodes, made],
    constants: { ...constants, ...parts.constants },
    outputs: { y: output },
    expected: { y: { dims: expected.dims, data: expected.data.map(numberOf) } },
  });
}

const gatherElements: Reference = (rng) => {
  const dims = shape(rng, rng.int(1, 4));
  const axis = rng.int(0, dims.length - 1);
  const size = dims[axis] as number;
  const data = drawn(rng, rng.pick(PICKED), dims);
  const ids = idsOf(
    rng,
    dims.map((d, i) => (i === axis ? rng.int(1, 5) : d)),
    size,
  );
  const made = node("GatherElements", ["d", "i"], axisOf(rng, axis, dims.length, 0));
  return picking(rng, data, ids, size, made, gatheredElements(data, ids, axis));
};

/** Computed data and computed ids; of a constant table ids that count from the start, as it is clamped into. */
const gather: Reference = (rng) => {
  const dims = shape(rng, rng.int(1, 3));
  const axis = rng.int(0, dims.length - 1);
  const size = dims[axis] as number;
  const data = drawn(rng, rng.pick(PICKED), dims);
  const drawnIds = idsOf(rng, shape(rng, rng.int(0, 2)), size);
  const ids = { ...drawnIds, data: drawnIds.data.map((id) => fromStart(id, size)) };
  const made = node("Gather", ["d", "i"], axisOf(rng, axis, dims.length, 0));
  return picking(rng, data, ids, size, made, gathered(data, ids, axis));
};

const gatherFromEnd: Reference = (rng) => {
  const dims = shape(rng, rng.int(1, 3));
  const axis = rng.int(0, dims.length - 1);
  const size = dims[axis] as number;
  const data = drawn(rng, rng.pick(PICKED), dims);
  const ids = idsOf(rng, shape(rng, rng.int(0, 2)), size);
  const { nodes, constants } = bounded(-size, size - 1);
  return caseOf({
    inputs: { d: data, x: ids },
    nodes: [...nodes, node("Gather", ["d", "i"], { axis })],
    constants,
    outputs: { y: data.type },
    expected: { y: gathered(data, ids, axis) },
  });
};

/** int64 ids that the graph only hands on and looks up: they are given as int32. */
const wideIds: Reference = (rng) => {
  const dims = shape(rng, rng.int(1, 3));
  const axis = rng.int(0, dims.length - 1);
  const size = dims[axis] as number;
  const table = drawn(rng, rng.pick(["uint8", "int8", "int32", "float32"]), dims);
  const [rows, columns] = [rng.int(1, 4), rng.int(1, 4)];
  const ids = { dims: [rows, columns], data: integers(rng, rows * columns, 0, size - 1) };
  const way = rng.pick(["as they are", "flat", "transposed", "a row"]);
  const handedOn: Readonly<Record<string, readonly [TestNode, Plain]>> = {
    "as they are": [node("Identity", ["x"], {}, "i"), ids],
    flat: [node("Reshape", ["x", "flat"], {}, "i"), { dims: [rows * columns], data: ids.data }],
    transposed: [
      node("Transpose", ["x"], { perm: [1, 0] }, "i"),
      build([columns, rows], ([a = 0, b = 0]) => read(ids, [b, a])),
    ],
    "a row": [
      node("Slice", ["x", "zero", "one"], {}, "i"),
      { dims: [1, columns], data: ids.data.slice(0, columns) },
    ],
  };
  const [handing, seen] = handedOn[way] as readonly [TestNode, Plain];
  const made = caseOf({
    inputs: { x: { type: "int64", ...ids } },
    nodes: [handing, node("Gather", ["t", "i"], { axis })],
    constants: {
      t: table,
      flat: { type: "int64", dims: [1], data: [-1] },
      zero: { type: "int64", dims: [1], data: [0] },
      one: { type: "int64", dims: [1], data: [1] },
    },
    outputs: { y: table.type },
    expected: { y: gathered(table, seen, axis) },
  });
  return { ...made, inputs: { x: { type: "int32", ...ids } } };
};

const oneHot: Reference = (rng) => {
  const type = rng.pick(["int32", "int32", "int32", "uint8", "int8"] as const);
  const dims = shape(rng, rng.int(1, 3), 4);
  // Deeper than a byte can count, now and then.
  const depth = rng.chance(0.1) ? rng.int(120, 300) : rng.int(1, 6);
  const axis = rng.int(0, dims.length);
  const [least, most] = type === "int32" ? [-depth - 2, depth + 2] : LIMITS[type];
  const [low, high] = rng.chance(0.2)
    ? [least, most]
    : [Math.max(-depth - 2, least), Math.min(depth + 2, most)];
  const ids = { type, dims, data: integers(rng, sizeOf(dims), low, high) };
  const [off, on] = [rng.int(-9, 9), rng.int(-9, 9)];
  const values = rng.pick(["int32", "float32", "float32"] as const);
  const expected = build([...dims.slice(0, axis), depth, ...dims.slice(axis)], (at) => {
    const id = read(
      ids,
      at.filter((_, i) => i !== axis),
    );
    return id === at[axis] || id + depth === at[axis] ? on : off;
  });
  return caseOf({
    inputs: { x: ids },
    nodes: [node("OneHot", ["x", "d", "v"], axisOf(rng, axis, dims.length + 1, -1))],
    constants: { d: scalar("int32", depth), v: { type: values, dims: [2], data: [off, on] } },
    outputs: { y: values },
    expected: { y: expected },
  });
};

export const PICKING: Readonly<Record<string, Reference>> = {
  GatherElements: gatherElements,
  Gather: gather,
  "Gather of computed data from either end": gatherFromEnd,
  "Gather by int64 ids": wideIds,
  OneHot: oneHot,
};
