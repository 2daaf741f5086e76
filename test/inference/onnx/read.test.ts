import { describe, expect, it } from "vitest";

import { BaseError } from "../../../base/errors.ts";
import { importOnnx } from "../../../inference/onnx/import.ts";
import { LIMITS } from "../../../inference/onnx/proto/decode.ts";
import { encode } from "../../../inference/onnx/proto/encode.ts";
import type { Message } from "../../../inference/onnx/proto/schema.ts";
import { readOnnx } from "../../../inference/onnx/read.ts";
import { encodeProto, graphProto, onnxFile, type TestGraph } from "../../support/onnx-file.ts";

const GRAPH: TestGraph = {
  nodes: [
    { op: "Add", name: "add", inputs: ["x", "c"], outputs: ["y"] },
    {
      op: "Relu",
      name: "relu",
      inputs: ["y"],
      outputs: ["z"],
      attributes: { note: "text", list: [1, 2], real: { f: 0.5 } },
    },
  ],
  inputs: { x: { type: "int32", dims: ["N", 3] } },
  outputs: { z: "int32" },
  constants: { c: { type: "int32", dims: [3], data: [1, -2, 3] } },
};

/** A field with a length; both below 128. */
const delimited = (number: number, content: readonly number[]): number[] => [
  ...[number * 8 + 2].flatMap((tag) => (tag < 128 ? [tag] : [(tag % 128) + 128, tag >> 7])),
  content.length,
  ...content,
];

function codeOf(f: () => unknown): string {
  try {
    f();
  } catch (error) {
    if (error instanceof BaseError) return error.code;
    throw error;
  }
  return "accepted";
}

describe("readOnnx", () => {
  it("default", () => {
    const graph = readOnnx(onnxFile(GRAPH));
    expect(graph.opset).toBe(17);
    expect(graph.inputs).toEqual([{ name: "x", type: "int32", dims: [1, 3] }]);
    expect(graph.constants.get("c")?.data).toEqual(Int32Array.of(1, -2, 3));
    expect(graph.nodes.map((n) => n.name)).toEqual(["add", "relu"]);
    expect(graph.nodes[1]?.attributes.get("real")).toEqual({ kind: "float", value: 0.5 });
  });

  it("args: symbolic dims take the size that is given", () => {
    expect(readOnnx(onnxFile(GRAPH), { dims: new Map([["N", 7]]) }).inputs[0]?.dims).toEqual([7, 3]);
  });

  it("args: a dim is given by its place as well; those of the others are named", () => {
    const { inputs, defaulted } = readOnnx(onnxFile(GRAPH), {
      dims: new Map([
        ["x:0", 7],
        ["x:1", 3],
      ]),
    });
    expect([inputs[0]?.dims, defaulted]).toEqual([[7, 3], []]);
    expect(readOnnx(onnxFile(GRAPH)).defaulted).toEqual(["N"]);
    const nodes = [{ op: "Relu", name: "relu", inputs: ["x"], outputs: ["z"] }];
    expect(importOnnx(onnxFile({ ...GRAPH, nodes })).notes).toEqual([
      "dim N is 1; --dim N=N gives another model of that size",
    ]);
  });

  it("error: a dim that the file does not have, or has with another size", () => {
    const read = (name: string) => () => readOnnx(onnxFile(GRAPH), { dims: new Map([[name, 4]]) });
    expect(read("n")).toThrow("No input has a symbolic dim n; the file has N.");
    expect(read("x:2")).toThrow("No input has a symbolic dim x:2; the file has N.");
    expect(read("x:1")).toThrow("Dim x:1 is 3 in the file, not 4.");
  });

  it("behavior: nodes are sorted by what they read", () => {
    const file = onnxFile({ ...GRAPH, nodes: [...GRAPH.nodes].reverse() });
    expect(readOnnx(file).nodes.map((n) => n.name)).toEqual(["add", "relu"]);
  });

  it("behavior: raw data in a Buffer is read like a list", () => {
    const proto = graphProto(GRAPH);
    const raw = new Uint8Array(Int32Array.of(1, -2, 3).buffer);
    proto.graph.initializer = [{ name: "c", dims: [3], dataType: 6, rawData: raw }];
    expect(readOnnx(Buffer.from(encodeProto(proto))).constants.get("c")?.data).toEqual(
      Int32Array.of(1, -2, 3),
    );
  });

  const broken = (change: (proto: Message<"Model">, graph: Message<"Graph">) => unknown) => {
    const proto = graphProto(GRAPH);
    change(proto, proto.graph);
    return codeOf(() => readOnnx(encodeProto(proto)));
  };

  it("error: external data is refused and never read", () => {
    expect(
      broken((_, g) => {
        g.initializer = [
          {
            name: "c",
            dims: [3],
            dataType: 6,
            dataLocation: 1,
            externalData: [{ key: "location", value: "../secret" }],
          },
        ];
      }),
    ).toBe("ONNX_UNSUPPORTED");
  });

  type Change = Parameters<typeof broken>[0];
  const first = (graph: Message<"Graph">) => ({
    node: graph.node?.[0] as Message<"Node">,
    tensor: graph.initializer?.[0] as Message<"Tensor">,
  });

  it("error: functions, training parts and sparse tensors", () => {
    const [functions, training, sparse] = [25, 20, 15];
    const inGraph = delimited(7, delimited(sparse, []));
    for (const parts of [delimited(functions, [0x0a, 1, 0x66]), delimited(training, []), inGraph]) {
      expect(codeOf(() => readOnnx(Uint8Array.from(parts)))).toBe("ONNX_UNSUPPORTED");
    }
  });

  it.each<[string, string, Change]>([
    ["two initializers of one name", "ONNX_INVALID", (_, g) => g.initializer?.push(first(g).tensor)],
    ["a cycle", "ONNX_INVALID", (_, g) => first(g).node.input?.push("z")],
    ["a value from nowhere", "ONNX_INVALID", (_, g) => first(g).node.input?.push("nowhere")],
    [
      "dims that disagree with the data",
      "ONNX_MALFORMED",
      (_, g) => Object.assign(first(g).tensor, { dims: [4] }),
    ],
    [
      "dims of 2^40 elements",
      "ONNX_TOO_LARGE",
      (_, g) => Object.assign(first(g).tensor, { dims: [2 ** 20, 2 ** 20] }),
    ],
    ["double", "ONNX_UNSUPPORTED", (_, g) => Object.assign(first(g).tensor, { dataType: 11 })],
    [
      "operator set 6",
      "ONNX_UNSUPPORTED",
      (p) => Object.assign(p, { opsetImport: [{ domain: "", version: 6 }] }),
    ],
    ["no graph", "ONNX_INVALID", (p) => delete p.graph],
  ])("error: %s", (_name, code, change) => {
    expect(broken(change)).toBe(code);
  });

  it("error: groups and node counts", () => {
    expect(codeOf(() => readOnnx(Uint8Array.of(0x0b, 0x0c)))).toBe("ONNX_MALFORMED");
    const many = { graph: { node: Array.from({ length: LIMITS.nodes + 1 }, () => ({ opType: "Relu" })) } };
    expect(codeOf(() => readOnnx(encodeProto(many)))).toBe("ONNX_TOO_LARGE");
  });

  it.each([
    ["Loop", "body", "Unroll it"],
    ["If", "then_branch", "Fold the condition"],
  ])(
    "error: %s, whose subgraph has values with types, is refused by name with the way out",
    (op, name, wayOut) => {
      const tensorType = { elemType: 1, shape: { dim: [{ dimValue: 1 }, { dimValue: 3 }] } };
      const body = (inner: Message<"Node">): Message<"Graph"> => ({
        name: "body",
        input: [{ name: "s", type: { tensorType } }],
        node: [inner],
        output: [{ name: "t", type: { tensorType } }],
      });
      const holder = (inner: Message<"Node">, output: string) => {
        return {
          opType: op,
          name: op,
          input: ["z"],
          output: [output],
          attribute: [{ name, type: 5, g: encode("Graph", body(inner)) }],
        };
      };
      const proto = graphProto(GRAPH);
      const innermost = { opType: "Neg", input: ["s"], output: ["t"] };
      proto.graph.node?.push(holder(holder(innermost, "t"), "u"));
      expect(() => importOnnx(encodeProto(proto))).toThrow(
        new RegExp(`${op} \\(${op}\\): .* is not supported\\. ${wayOut}`),
      );
    },
  );

  it("behavior: every mutation of a file is read or refused by a BaseError", () => {
    const file = onnxFile(GRAPH);
    let state = 12345;
    const below = (n: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return Math.floor((state / 2 ** 32) * n);
    };
    const codes = new Map<string, number>();
    for (let i = 0; i < 6000; i++) {
      let bytes = file.slice();
      for (let k = 0; k <= below(4); k++) bytes[below(bytes.length)] = below(256);
      if (i % 5 === 0) bytes = bytes.slice(0, below(bytes.length));
      if (i % 7 === 0) bytes = Uint8Array.from([...bytes.slice(below(40)), ...bytes]);
      const code = codeOf(() => readOnnx(bytes));
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(codes.get("accepted") ?? 0).toBeGreaterThan(100);
    expect(codes.get("ONNX_MALFORMED") ?? 0).toBeGreaterThan(1000);
  });
});
