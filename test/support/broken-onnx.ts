/** ONNX files that are wrong in some way: bytes, fields of other files, structures that no exporter writes. */
import { decode } from "../../inference/onnx/proto/decode.ts";
import { encode } from "../../inference/onnx/proto/encode.ts";
import type { Message } from "../../inference/onnx/proto/schema.ts";
import type { Rng } from "./rng.ts";

type Graph = Message<"Graph">;
type Node = Message<"Node">;
type Tensor = Message<"Tensor">;

/** Some bytes changed, cut off, repeated or taken from another file. */
export function brokenBytes(rng: Rng, file: Uint8Array, other: Uint8Array): Uint8Array {
  const at = rng.int(0, file.length - 1);
  switch (rng.int(0, 4)) {
    case 0: {
      const bytes = file.slice();
      for (let i = rng.int(1, 4); i > 0; i--) {
        const place = rng.int(0, bytes.length - 1);
        bytes[place] = (bytes[place] as number) ^ (1 << rng.int(0, 7));
      }
      return bytes;
    }
    case 1:
      return file.slice(0, at);
    case 2:
      return joined(file.subarray(0, at), file.subarray(rng.int(0, at)));
    case 3: {
      const from = rng.int(0, other.length - 1);
      return joined(file.subarray(0, at), other.subarray(from, from + rng.int(1, 60)), file.subarray(at));
    }
    default: {
      // A length or number of ten bytes.
      const bytes = file.slice();
      bytes.fill(0xff, at, Math.min(at + 9, bytes.length));
      return bytes;
    }
  }
}

const joined = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

const NUMBERS = [-1, 0, 1, 2, 3, 7, 255, 65_536, 2 ** 24, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53)];
const NAMES = [
  "",
  "x",
  "__proto__",
  "constructor",
  "toString",
  "\u0000",
  "../../etc/passwd",
  "n".repeat(5000),
];
const OPERATORS = [
  "Add",
  "Concat",
  "Conv",
  "Expand",
  "Gather",
  "MatMul",
  "Pad",
  "Reshape",
  "Tile",
  "constructor",
  "If",
];

/** A file that decodes, with one to three things in it changed. */
export function brokenStructure(rng: Rng, file: Uint8Array, other: Uint8Array): Uint8Array {
  const model = decode("Model", file);
  const foreign = decode("Model", other).graph as Graph;
  for (let i = rng.int(1, 3); i > 0; i--) change(rng, model.graph as Graph, foreign);
  if (rng.chance(0.05)) model.opsetImport = [{ domain: "", version: rng.pick([...NUMBERS, 13, 21]) }];
  return encode("Model", model);
}

interface Place {
  readonly rng: Rng;
  readonly graph: Graph;
  readonly foreign: Graph;
  readonly nodes: Node[];
  readonly tensors: Tensor[];
  readonly node: Node;
  readonly tensor: Tensor;
}

/** Puts another name in the place of one. */
function rename({ rng, nodes }: Place, list: string[] | undefined): void {
  const values = [...nodes.flatMap((n) => [...(n.input ?? []), ...(n.output ?? [])]), ...NAMES];
  if (list !== undefined && list.length > 0) list[rng.int(0, list.length - 1)] = rng.pick(values);
}

const CHANGES: readonly ((place: Place) => void)[] = [
  (place) => rename(place, place.node.input),
  (place) => rename(place, place.node.output),
  ({ rng, node, nodes }) => {
    node.opType = rng.pick([...OPERATORS, ...nodes.map((n) => n.opType ?? "")]);
  },
  ({ rng, node, foreign }) => changeAttribute(rng, node, foreign),
  ({ rng, tensor }) => {
    tensor.dims = Array.from({ length: rng.int(0, 9) }, () => rng.pick(NUMBERS));
  },
  ({ rng, tensor }) => {
    tensor.dataType = rng.int(0, 24);
  },
  ({ rng, tensor }) => {
    tensor.rawData = rng.bytes(rng.int(0, 40));
  },
  ({ rng, tensor }) => {
    tensor.dataLocation = 1;
    tensor.externalData = [{ key: "location", value: rng.pick(["../../../etc/passwd", "/dev/zero"]) }];
  },
  ({ rng, graph, foreign, tensor, tensors }) => {
    graph.initializer = rng.chance(0.5)
      ? tensors.filter((t) => t !== tensor)
      : [...tensors, ...(foreign.initializer ?? [])];
  },
  ({ rng, graph, foreign, nodes }) => {
    graph.node = rng.chance(0.5) ? [...nodes].reverse() : [...nodes, ...(foreign.node ?? [])];
  },
  ({ rng, graph }) => {
    const shape = rng.pick(graph.input ?? [])?.type?.tensorType?.shape;
    if (shape?.dim !== undefined) shape.dim = shape.dim.map(() => ({ dimValue: rng.pick(NUMBERS) }));
  },
  ({ rng, node }) => {
    node.input = rng.chance(0.5) ? (node.input ?? []).slice(1) : [...(node.input ?? []), rng.pick(NAMES)];
  },
];

function change(rng: Rng, graph: Graph, foreign: Graph): void {
  const nodes = graph.node ?? [];
  const tensors = graph.initializer ?? [];
  if (nodes.length === 0 || tensors.length === 0) return;
  const [node, tensor] = [rng.pick(nodes), rng.pick(tensors)];
  rng.pick(CHANGES)({ rng, graph, foreign, nodes, tensors, node, tensor });
}

function changeAttribute(rng: Rng, node: Node, foreign: Graph): void {
  const list = node.attribute ?? [];
  const attribute = list[rng.int(0, list.length - 1)];
  if (attribute === undefined || rng.chance(0.2)) {
    const others = (foreign.node ?? []).flatMap((n) => n.attribute ?? []);
    if (others.length > 0) node.attribute = [...list, rng.pick(others)];
  } else if (attribute.ints !== undefined && attribute.ints.length > 0) {
    const ints = Array.from(attribute.ints);
    ints[rng.int(0, ints.length - 1)] = rng.pick(NUMBERS);
    attribute.ints = ints;
  } else if (rng.chance(0.5)) {
    attribute.i = rng.pick(NUMBERS);
    attribute.f = rng.pick([Number.NaN, Number.POSITIVE_INFINITY, -0, 1e-45, 3e38]);
  } else {
    attribute.type = rng.int(0, 14);
  }
}
