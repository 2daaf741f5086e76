/** The sign of zero: docs/EXACT.md, section 6, Zeros. */
import { describe, expect, it } from "vitest";
import { compareBoth } from "../../support/both-ways.ts";
import type { TestNode, TestTensor } from "../../support/onnx-file.ts";
import { onnxFile } from "../../support/onnx-file.ts";
import { node, run, t } from "../../support/onnx-nodes.ts";
import { compareImport, nothingCompared } from "../../support/onnx-original.ts";

const f32 = (...data: number[]): TestTensor => t("float32", [data.length], data);
const x = t("int32", [3], [0, 3, -3]);

interface Way {
  /** Nodes that make r, the numbers 0, −0.25, 0.25 with −0 in the first place, of x. */
  readonly nodes: readonly TestNode[];
  readonly constants: Readonly<Record<string, TestTensor>>;
}

/** Steps of FLOAT, a function of a byte, and a constant. */
const WAYS: Readonly<Record<string, Way>> = {
  steps: {
    nodes: [
      node("Clip", ["x", "lo", "hi"], {}, "k"),
      node("Cast", ["k"], { to: 1 }, "c"),
      node("Mul", ["c", "m"], {}, "r"),
    ],
    constants: { lo: t("int32", [], [-3]), hi: t("int32", [], [3]), m: f32(Math.fround(-0.25 / 3)) },
  },
  "a table": {
    nodes: [
      node("Clip", ["x", "lo", "hi"], {}, "k"),
      node("Cast", ["k"], { to: 3 }, "q"),
      node("DequantizeLinear", ["q", "s"], {}, "d"),
      node("Neg", ["d"], {}, "r"),
    ],
    constants: {
      lo: t("int32", [], [-3]),
      hi: t("int32", [], [3]),
      s: t("float32", [], [Math.fround(0.25 / 3)]),
    },
  },
  constants: {
    nodes: [node("Mul", ["g", "one"], {}, "r")],
    constants: { g: f32(-0, -0.25, 0.25), one: f32(1) },
  },
};

/** Results of nodes on r, to which x is tied by a comparison, so that nothing is known at import but r. */
function results(way: Way, last: readonly TestNode[], constants: Record<string, TestTensor> = {}): number[] {
  const nodes = [
    ...way.nodes,
    ...last,
    node("Equal", ["x", "x"], {}, "always"),
    node("Where", ["always", "p", "nine"]),
  ];
  const { outputs } = run(x, nodes, "float32", {
    ...way.constants,
    ...constants,
    nine: t("float32", [], [9]),
  });
  return [...(outputs.y as readonly number[])];
}

const quarter = Math.fround(Math.fround(0.25 / 3) * 3);

describe.each(Object.entries(WAYS))("the sign of zero in %s", (_, way) => {
  it.each<[string, readonly string[], Record<string, TestTensor>, readonly number[]]>([
    ["Identity", ["r"], {}, [-0, -quarter, quarter]],
    ["Neg", ["r"], {}, [0, quarter, -quarter]],
    ["Clip", ["r"], {}, [-0, -quarter, quarter]],
    ["Round", ["r"], {}, [-0, -0, 0]],
    ["Ceil", ["r"], {}, [-0, -0, 1]],
    ["Floor", ["r"], {}, [-0, -1, 0]],
    ["Add", ["r", "z"], { z: t("float32", [], [-0]) }, [-0, -quarter, quarter]],
    ["Add", ["r", "z"], { z: t("float32", [], [0]) }, [0, -quarter, quarter]],
  ])("default: %s of %j keeps the sign that IEEE 754 gives", (op, inputs, constants, expected) => {
    expect(results(way, [node(op, inputs, {}, "p")], constants)).toEqual(expected);
  });

  it.each<[string, readonly string[], Record<string, TestTensor>, readonly number[]]>([
    ["Relu", ["r"], {}, [0, 0, quarter]],
    [
      "Clip",
      ["r", "l", "h"],
      { l: t("float32", [], [-1]), h: t("float32", [], [1]) },
      [0, -quarter, quarter],
    ],
    ["Clip", ["r", "", "z"], { z: t("float32", [], [-0]) }, [0, -quarter, 0]],
    ["Max", ["r", "z"], { z: t("float32", [], [-0]) }, [0, 0, quarter]],
    ["Min", ["r", "z"], { z: t("float32", [], [0]) }, [0, -quarter, 0]],
    ["Abs", ["r"], {}, [0, quarter, quarter]],
    ["Sign", ["r"], {}, [0, -1, 1]],
  ])("behavior: a zero of %s %j is +0", (op, inputs, constants, expected) => {
    expect(results(way, [node(op, inputs, {}, "p")], constants)).toEqual(expected);
  });
});

const ends = { pads: t("int64", [2], [1, 1]), z: t("float32", [], [-0]) };

describe("−0 in steps that copy", () => {
  it("default: a constant keeps it, as in onnxruntime", async () => {
    const graph = {
      nodes: [node("Concat", ["x", "g"], { axis: 0 }, "c"), node("Pad", ["c", "pads", "z"])],
      inputs: { x: { type: "float32", dims: [3] } },
      outputs: { y: "float32" },
      constants: { g: f32(-0, 0, 1), ...ends },
    } as const;
    const comparison = nothingCompared();
    await compareImport(onnxFile(graph), [{ x: f32(1, 0, -1) }], comparison);
    expect(comparison).toMatchObject({ compared: 8, different: 0 });
  });

  it("behavior: the emitted file copies it, too: SELECT of either operand, MOVE with a pad and with an operand", async () => {
    const { nodes, constants } = WAYS.steps as Way;
    const graph = {
      nodes: [
        ...nodes,
        node("Less", ["x", "one"], {}, "b"),
        node("Where", ["b", "r", "g"], {}, "v"),
        node("Where", ["b", "g", "r"], {}, "w"),
        node("Concat", ["r", "v", "w"], { axis: 0 }, "all"),
        node("Pad", ["all", "pads", "z"]),
      ],
      inputs: { x: { type: "int32", dims: [3] } },
      outputs: { y: "float32" },
      constants: { ...constants, ...ends, g: f32(-0, -0, 5), one: t("int32", [], [1]) },
    } as const;
    const runs = [x, t("int32", [3], [3, 0, 0]), t("int32", [3], [0, 0, 3])].map((data) => ({ x: data }));
    const { imported, emitted } = await compareBoth("zeros", onnxFile(graph), runs);
    const opcodes = imported.model.program.steps.map((step) => step.opcode);
    expect(opcodes.filter((opcode) => opcode === "select")).toHaveLength(2);
    expect(emitted.compared).toBeGreaterThan(60);
    expect(emitted.different).toBe(0);
  });
});
