import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BaseError } from "../../../base/errors.ts";
import { importOnnx } from "../../../inference/onnx/import.ts";
import { LIMITS } from "../../../inference/onnx/proto/decode.ts";
import { Writer } from "../../../inference/onnx/proto/encode.ts";
import { brokenBytes, brokenStructure } from "../../support/broken-onnx.ts";
import { encodeProto, graphProto, onnxFile, type TestGraph, type TestNode } from "../../support/onnx-file.ts";
import { node, t } from "../../support/onnx-nodes.ts";
import { EXACT, NEAR } from "../../support/operator-graphs.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";
import { EXACT_WIDE, NEAR_WIDE } from "../../support/wide-graphs.ts";

const FILES = join(import.meta.dirname, "../../vectors/quantized");
const GENERATORS = Object.values({ ...EXACT, ...NEAR, ...EXACT_WIDE, ...NEAR_WIDE });
const SEEDS = scaled(1, 60);
/** Broken files of each whole one. */
const EACH = scaled(4, 20);

const whole = ["mlp.qdq", "mlp.qoperator", "conv1d.qdq"].map(
  (name) => new Uint8Array(readFileSync(join(FILES, `${name}.onnx`))),
);

/** What import makes of a file. @throws whatever is no error of ours */
function outcomeOf(file: Uint8Array, place: string): string {
  try {
    importOnnx(file);
    return "imported";
  } catch (error) {
    if (!(error instanceof BaseError)) throw new Error(`${place}: ${String(error)}`, { cause: error });
    expect(error.shortMessage, place).toMatch(/\S/);
    expect(error.nextStep, place).toMatch(/^[A-Z].*[.)]$/s);
    return error.code;
  }
}

describe("importOnnx", () => {
  it.each([
    ["bytes", brokenBytes],
    ["structure", brokenStructure],
  ] as const)("behavior: a file of broken %s is imported or refused in a sentence", (_, breakFile) => {
    const counts: Record<string, number> = {};
    const play = (file: Uint8Array, other: Uint8Array, seed: number): void => {
      const rng = createRng(seed);
      for (let i = 0; i < EACH; i++) {
        const outcome = outcomeOf(breakFile(rng, file, other), `seed ${seed}, file ${i}`);
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      }
    };
    GENERATORS.forEach((generate, g) => {
      const next = GENERATORS[(g + 1) % GENERATORS.length] as typeof generate;
      for (let i = 0; i < SEEDS; i++) {
        const rng = createRng(1000 * g + i);
        play(onnxFile(generate(rng).graph), onnxFile(next(rng).graph), 1000 * g + i);
      }
    });
    whole.forEach((file, i) => {
      for (let k = 0; k < SEEDS; k++)
        play(file, whole[(i + 1) % whole.length] as Uint8Array, 1e6 * (i + 1) + k);
    });
    process.stdout.write(`${JSON.stringify(counts)}\n`);
    for (const outcome of ["imported", "ONNX_INVALID", "ONNX_MALFORMED"]) {
      expect(counts[outcome] ?? 0, outcome).toBeGreaterThan(0);
    }
  });
});

/** The refusal of a graph that somebody made to do harm. */
function refusalOf(graph: TestGraph): string {
  try {
    importOnnx(onnxFile(graph));
  } catch (error) {
    if (error instanceof BaseError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "imported";
}

const numbers64 = (...data: number[]) => t("int64", [data.length], data);
const INPUT = { x: { type: "float32" as const, dims: [4] } };
const grown = (nodes: readonly TestNode[], constants: NonNullable<TestGraph["constants"]>) =>
  refusalOf({ nodes, inputs: INPUT, outputs: { y: "float32" }, constants });

describe("files that are small and ask for much", () => {
  it("error: constants that are made a thousand times over", () => {
    const many = Array.from({ length: 1000 }, (_, i) => node("ConstantOfShape", ["s"], {}, `c${i}`));
    const last = node("Add", ["x", "x"]);
    expect(grown([...many, last], { s: numbers64(1024, 1024) })).toContain("IMPORT_TOO_LARGE");
  });

  it("error: constants that broadcast, repeat, count or pad beyond what a program holds", () => {
    const column = t("float32", [5000, 1], Array(5000).fill(1));
    const row = t("float32", [1, 5000], Array(5000).fill(1));
    const one = t("float32", [1], [1]);
    const huge = 2 ** 40;
    for (const [op, inputs, constants] of [
      ["Add", ["a", "b"], { a: column, b: row }],
      ["Expand", ["a", "s"], { a: one, s: numbers64(huge) }],
      ["Tile", ["a", "s"], { a: one, s: numbers64(huge) }],
      ["ConstantOfShape", ["s"], { s: numbers64(huge) }],
      ["Pad", ["a", "s"], { a: one, s: numbers64(huge, 0) }],
      ["Range", ["a", "b", "c"], { a: numbers64(0), b: numbers64(huge), c: numbers64(1) }],
    ] as const) {
      const reason = grown([node(op, inputs, {}, "k"), node("Identity", ["x"])], constants);
      expect(reason, op).toMatch(/^IMPORT_REFUSED: [\s\S]*(elements|shape|counts)/);
    }
    const mirrored = node("Pad", ["x", "s"], { mode: "reflect" });
    expect(grown([mirrored], { s: numbers64(huge, 0) })).toMatch(/^IMPORT_REFUSED: [\s\S]*elements/);
  });

  it("error: ranks that no tensor has", () => {
    const axes = numbers64(...Array.from({ length: 3000 }, (_, i) => i));
    const raised = node("Unsqueeze", ["a", "s"], {}, "k");
    const constants = { a: t("float32", [], [1]), s: axes };
    expect(grown([raised, node("Add", ["x", "k"])], constants)).toContain("rank 3000");
    expect(grown([node("Expand", ["x", "s"])], { s: axes })).toContain("rank 3000");
    const tensor = { name: "c", dims: Array(100_000).fill(2 ** 40), dataType: 1 };
    const proto = graphProto({ nodes: [node("Identity", ["x"])], inputs: INPUT, outputs: { y: "float32" } });
    const graph = { ...proto.graph, initializer: [tensor] };
    expect(outcomeOf(encodeProto({ ...proto, graph }), "rank")).toBe("ONNX_TOO_LARGE");
  });

  it("error: weights that are used again and again, requantized channel by channel", () => {
    const [k, n] = [1, 70_000];
    const w = t("int8", [k, n], Array(k * n).fill(3));
    const s = t("float32", [], [0.013]);
    const z = t("int8", [], [0]);
    const nodes = [
      node("QuantizeLinear", ["x", "s", "z"], {}, "q"),
      node("Reshape", ["q", "d"], {}, "r"),
      node("QLinearMatMul", ["r", "s", "z", "w", "s", "z", "s", "z"], {}, "m"),
      node("DequantizeLinear", ["m", "s", "z"]),
    ];
    expect(grown(nodes, { w, s, z, d: numbers64(4, 1) })).toContain("units of work");
  });

  it("error: nodes with more inputs than any program has steps", () => {
    const inputs = Array<string>(5000).fill("x");
    expect(grown([node("Sum", inputs)], {})).toContain("ONNX_TOO_LARGE");
  });

  it("error: numbers without end", () => {
    const [graph, initializer, int64Data] = [7, 5, 7];
    const wrapped = (content: Uint8Array, number: number): Uint8Array => {
      const writer = new Writer();
      writer.delimited(number, content);
      return writer.finish();
    };
    const file = [int64Data, initializer, graph].reduce(wrapped, new Uint8Array(LIMITS.numbers + 1));
    expect(outcomeOf(file, "numbers")).toBe("ONNX_TOO_LARGE");
  });

  it("error: operators and values called like what every object has", () => {
    for (const op of ["constructor", "toString", "__proto__"]) {
      expect(grown([node(op, ["x"])], {})).toContain("See docs/EXACT.md");
    }
    const names = ["__proto__", "constructor"];
    const graph = { nodes: [node("Identity", ["__proto__"], {}, "constructor")], inputs: {}, outputs: {} };
    const file = graphProto(graph);
    const value = (name = "") => ({
      name,
      type: { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 2 }] } } },
    });
    const [input, output] = names.map(value);
    const io = { input: [input ?? value()], output: [output ?? value()] };
    const { io: bound } = importOnnx(encodeProto({ ...file, graph: { ...file.graph, ...io } }));
    expect([bound.inputs[0]?.name, bound.outputs[0]?.name]).toEqual(names);
  });

  it("error: a wrong number of inputs, and zero points of another type", () => {
    expect(grown([node("Add", ["x"])], {})).toContain("it has 1 inputs");
    expect(grown([node("Not", ["x", "x"])], {})).toContain("it has 2 inputs");
    const zero = t("float32", [], [0.5]);
    const nodes = [node("QuantizeLinear", ["x", "s"], {}, "q"), node("DequantizeLinear", ["q", "s", "z"])];
    expect(grown(nodes, { s: t("float32", [], [1]), z: zero })).toContain(
      "its zero point (input 2) is float32, its tensor uint8",
    );
  });

  it("behavior: a table of more columns than a call takes arguments", () => {
    const columns = 300_000;
    const table = t(
      "int8",
      [2, columns],
      Array.from({ length: 2 * columns }, (_, i) => (i % 7) - 3),
    );
    const graph = {
      nodes: [node("Gather", ["table", "x"], {}, "g"), node("Slice", ["g", "from", "to", "axes"])],
      inputs: { x: { type: "int32" as const, dims: [1] } },
      outputs: { y: "int8" as const },
      constants: { table, from: numbers64(0), to: numbers64(5), axes: numbers64(1) },
    };
    expect(refusalOf(graph)).toBe("imported");
  });
});
