/** What an import says of a file that it refuses: everything at once. */
import { describe, expect, it } from "vitest";
import { BaseError } from "../../../base/errors.ts";
import { type ImportSettings, importOnnx } from "../../../inference/onnx/import.ts";
import { onnxFile, type TestGraph, type TestNode } from "../../support/onnx-file.ts";
import { node, range, t } from "../../support/onnx-nodes.ts";

function refusalOf(graph: TestGraph, settings: ImportSettings = {}): BaseError {
  try {
    importOnnx(onnxFile(graph), settings);
  } catch (error) {
    if (error instanceof BaseError) return error;
    throw error;
  }
  throw new Error("the file was accepted");
}

const named = (
  op: string,
  inputs: string[],
  name: string,
  attributes: TestNode["attributes"] = {},
): TestNode => ({
  ...node(op, inputs, attributes, name),
  name,
});
const namesIn = (error: BaseError): string[] =>
  (error.details.nodes as readonly string[]).map((line) => line.split(" ")[0] as string);

/** A float network, some of whose functions are refused, and a product of shapes that do not fit. */
const network = (dims: readonly number[]): TestGraph => ({
  nodes: [
    named("Conv", ["x", "f"], "conv", { pads: [1, 1, 1, 1] }),
    named("Softplus", ["conv"], "softplus"),
    named("Mul", ["conv", "softplus"], "mul"),
    named("LRN", ["mul"], "lrn", { size: 3 }),
    named("Elu", ["lrn"], "elu"),
    named("Flatten", ["elu"], "flat"),
    named("MatMul", ["flat", "w"], "matmul"),
    named("Mish", ["matmul"], "mish"),
    named("Selu", ["mish"], "selu"),
  ],
  inputs: { x: { type: "float32", dims } },
  outputs: { selu: "float32" },
  constants: {
    f: t("float32", [4, 2, 3, 3], range(72)),
    w: t("float32", [4 * 16, 8], range(512)),
  },
});
const REFUSED = ["lrn", "softplus", "elu", "mish", "selu"];

describe("importOnnx", () => {
  it("error: nodes behind refused ones are listed as well", () => {
    const error = refusalOf(network([1, 2, 4, 4]));
    expect(error.code).toBe("IMPORT_REFUSED");
    expect(error.shortMessage).toContain("5 of 9 nodes");
    expect(namesIn(error)).toEqual(REFUSED);
  });

  it("error: limits of inputs and outputs stand beside the nodes", () => {
    const big = refusalOf({
      ...network([1, 2, 100, 100]),
      constants: { ...network([]).constants, w: t("float32", [40_000, 8], new Array(320_000).fill(1)) },
    });
    expect(namesIn(big)).toEqual(REFUSED);
    expect(big.shortMessage).toContain("codec raw holds 65536");
    const wide = refusalOf({
      nodes: [named("Sin", ["x"], "sin"), named("Expand", ["x", "s"], "wide")],
      inputs: { x: { type: "float32", dims: [1, 4] } },
      outputs: { sin: "float32", wide: "float32" },
      constants: { s: t("int64", [2], [9000, 4]) },
    });
    expect(namesIn(wide)).toEqual(["sin"]);
    expect(wide.shortMessage).toContain("at most 65536 can be returned");
  });

  it("error: int64 inputs and codecs stand beside the nodes", () => {
    const graph: TestGraph = {
      nodes: [named("Add", ["ids", "ids"], "sum"), named("Sin", ["x"], "sin")],
      inputs: { ids: { type: "int64", dims: [3] }, x: { type: "float32", dims: [3] } },
      outputs: { sum: "int64", sin: "float32" },
    };
    const error = refusalOf(graph);
    expect(error.code).toBe("IMPORT_REFUSED");
    expect(error.shortMessage).toContain("sin (Sin)");
    expect(error.shortMessage).toContain("--input-type ids=int32");
    expect(refusalOf(graph, { codec: "prices" }).shortMessage).toContain("sin (Sin)");
  });

  it("error: steps that cannot be proven stand beside the nodes, but not what follows from a guess", () => {
    const error = refusalOf({
      nodes: [
        named("Mul", ["x", "x"], "square"),
        named("Sin", ["r"], "sin"),
        named("Sqrt", ["sin"], "root"),
        named("Cast", ["square"], "real", { to: 1 }),
        named("Add", ["real", "root"], "y"),
      ],
      inputs: { x: { type: "int32", dims: [3] }, r: { type: "float32", dims: [3] } },
      outputs: { y: "float32" },
      declared: { sin: { type: "float32", dims: [3] } },
    });
    expect(error.shortMessage).toContain("node square): the result can leave s32");
    expect(error.shortMessage).not.toContain("square root");
  });

  it("error: what cannot be looked at is named, and found where the file says what it reads", () => {
    const graph = network([1, 2, 4, 4]);
    const nodes = graph.nodes.map((n) => (n.op === "LRN" ? { ...n, op: "Unknown" } : n));
    const blind = refusalOf({ ...graph, nodes });
    expect(namesIn(blind)).toEqual(["lrn", "softplus"]);
    expect(blind.shortMessage).toContain("5 more behind them (elu, flat, matmul, mish, selu)");
    const declared = { lrn: { type: "float32", dims: [1, 4, 4, 4] } } as const;
    expect(namesIn(refusalOf({ ...graph, nodes, declared }))).toEqual(REFUSED);
  });

  it("error: one limit alone keeps its own code", () => {
    const graph: TestGraph = {
      nodes: [named("Relu", ["x"], "y")],
      inputs: { x: { type: "float32", dims: [20_000] } },
      outputs: { y: "float32" },
    };
    expect(refusalOf({ ...graph, outputs: { x: "float32" } }).code).toBe("IMPORT_REFUSED");
    const short: TestGraph = {
      ...graph,
      nodes: [named("Slice", ["x", "s", "e"], "y")],
      constants: { s: t("int64", [1], [0]), e: t("int64", [1], [4]) },
    };
    expect(refusalOf(short).code).toBe("IMPORT_CODEC");
  });

  it("behavior: an output whose type the file leaves open has that of its node", () => {
    const { io } = importOnnx(
      onnxFile({
        nodes: [named("Relu", ["x"], "y")],
        inputs: { x: { type: "int32", dims: [3] } },
        outputs: { y: undefined },
      }),
    );
    expect(io.outputs).toMatchObject([{ name: "y", type: "int32" }]);
  });

  it.each([7, 25, 28])("args: operator set %d", (opset) => {
    const graph: TestGraph = {
      nodes: [named("Relu", ["x"], "y")],
      inputs: { x: { type: "float32", dims: [3] } },
      outputs: { y: "float32" },
      opset,
    };
    expect(importOnnx(onnxFile(graph)).model.program.steps).toHaveLength(2);
    expect(refusalOf({ ...graph, opset: 29 }).shortMessage).toContain("7 to 28 are read");
  });
});
