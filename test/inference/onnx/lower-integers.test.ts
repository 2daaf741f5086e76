/** Softmax and normalizations in integers alone: the stated formulas, what they read, what is refused, and the emitted
 *  file. */
import { describe, expect, it } from "vitest";
import { isBaseError } from "../../../base/errors.ts";
import type { ImportSettings } from "../../../inference/onnx/import.ts";
import { isNorm, isRatio } from "../../../inference/program/form.ts";
import { ATTENTION_GRAPHS, CHAINS } from "../../support/attention-graphs.ts";
import { compareBoth, inputsOf } from "../../support/both-ways.ts";
import { onnxFile, type TestNode, type TestTensor } from "../../support/onnx-file.ts";
import { microsoft, node, range, run, t } from "../../support/onnx-nodes.ts";
import type { Generator } from "../../support/quantized-graphs.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const INTEGERS = { arithmetic: "integers" } as const satisfies ImportSettings;
const SCALE = 0.5;

/** Results of nodes from r, which is x dequantized with scale 1/2, to p, in units of 1/16 around 0. */
function integers(
  x: TestTensor,
  zero: number,
  nodes: readonly TestNode[],
  constants: Readonly<Record<string, TestTensor>> = {},
) {
  const all = [
    node("DequantizeLinear", ["x", "s", "z"], {}, "r"),
    ...nodes,
    node("QuantizeLinear", ["p", "u", "v"], {}, "q"),
    node("Cast", ["q"], { to: 6 }),
  ];
  const own = {
    s: t("float32", [], [SCALE]),
    z: t(x.type, [], [zero]),
    u: t("float32", [], [2 ** -4]),
    v: t("int16", [], [0]),
  };
  return run(x, all, "int32", { ...own, ...constants }, INTEGERS);
}

/** `⌊√n⌋` by search. */
function root(n: bigint): bigint {
  let [low, high] = [0n, 1n << 40n];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle * middle <= n) low = middle;
    else high = middle;
  }
  return low;
}
const floorOf = (a: bigint, b: bigint): bigint => a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n);
const ratio = (x: bigint, m: bigint, d: bigint): bigint => floorOf(2n * x * m + d, 2n * d);
const big = (x: number): bigint => BigInt(Math.round(x));
const squares = (x: readonly bigint[]): bigint => x.reduce((all, v) => all + v * v, 0n);
/** Units of 2^-20 in units of 2^-4, rounded. */
const toSixteenths = (x: bigint): number => Number((x + (1n << 15n)) >> 16n);

const kinds = ({ imported }: ReturnType<typeof run>) => ({
  norms: imported.model.program.steps.filter(isNorm).length,
  ratios: imported.model.program.steps.filter(isRatio).length,
  floats: imported.model.program.steps.filter(({ opcode }) => opcode === "float").length,
});

describe("Softmax in integers", () => {
  it("default: the stated quotient of rounded exponentials", () => {
    const x = t("uint8", [1, 3], [10, 12, 9]);
    const done = integers(x, 7, [node("Softmax", ["r"], {}, "p")]);
    const e = [2, 0, 3].map((d) => big(2 ** 28 * Math.exp(-SCALE * d)));
    const total = e.reduce((a, b) => a + b);
    expect(done.outputs.y).toEqual(e.map((v) => toSixteenths(ratio(v, 1n << 20n, total))));
    expect(kinds(done)).toEqual({ norms: 0, ratios: 1, floats: 0 });
  });
  it("behavior: of 16 bits, of another axis, and as QLinearSoftmax", () => {
    const x = t("float32", [3, 2], [100, -7.5, 99.5, -7.5, 0, -100]);
    const wide = run(
      x,
      [
        node("QuantizeLinear", ["x", "s", "z"], {}, "i"),
        node("DequantizeLinear", ["i", "s", "z"], {}, "r"),
        node("Softmax", ["r"], { axis: 0 }, "p"),
        node("QuantizeLinear", ["p", "u", "b"]),
      ],
      "uint8",
      {
        s: t("float32", [], [SCALE]),
        z: t("int16", [], [0]),
        u: t("float32", [], [2 ** -8]),
        b: t("uint8", [], [0]),
      },
      INTEGERS,
    );
    expect(wide.outputs.y).toEqual([159, 128, 97, 128, 0, 0]);
    const bytes = run(
      t("uint8", [2, 2], [3, 3, 0, 255]),
      [microsoft("QLinearSoftmax", ["x", "s", "b", "u", "b"], { opset: 13 })],
      "uint8",
      { s: t("float32", [], [SCALE]), u: t("float32", [], [2 ** -8]), b: t("uint8", [], [0]) },
      INTEGERS,
    );
    expect(bytes.outputs.y).toEqual([128, 128, 0, 255]);
    expect(kinds(bytes)).toMatchObject({ ratios: 1, floats: 0 });
  });
});

describe("normalizations in integers", () => {
  const data = [-128, -127, 3, 126, 127];
  const x = t("int8", [1, 5], data);
  const gains = [1, -0.5, 2, 0, 1.25];
  const g = t("float32", [5], gains);

  it("default: LayerNormalization by the stated length of its distances", () => {
    const done = integers(x, 9, [node("LayerNormalization", ["r", "one"], {}, "p")], {
      one: t("float32", [5], Array(5).fill(1)),
    });
    const total = data.reduce((a, b) => a + b);
    const d = data.map((q) => big(5 * q - total));
    // Distances of up to 5·255: √5·1,275·2^18 is below 2^30, and 5^3·10^-5/SCALE^2·4^18 below 2^32.
    const scaled = d.map((v) => v << 18n);
    const addend = big(((5 ** 3 * Math.fround(1e-5)) / SCALE ** 2) * 4 ** 18);
    const length = root(squares(scaled) + addend);
    const most = big(Math.sqrt(5) * 2 ** 20);
    const normal = scaled.map((v) => ratio(v, most, length));
    // A gain of 1 makes integers of units of 2^-22, from which 2^-4 is 18 bits away.
    expect(done.outputs.y).toEqual(normal.map((v) => Number(((v << 2n) + (1n << 17n)) >> 18n)));
    expect(kinds(done)).toEqual({ norms: 1, ratios: 1, floats: 0 });
  });
  it("behavior: gains of any sign, 0 among them, and shifts", () => {
    const h = t("float32", [5], [0.25, 0, -1, 3, 0.5]);
    const done = integers(x, 0, [node("LayerNormalization", ["r", "g", "h"], {}, "p")], { g, h });
    const mean = data.reduce((a, b) => a + b) / 5;
    const deviation = Math.sqrt(data.reduce((all, q) => all + (q - mean) ** 2, 0) / 5 + 4e-5);
    expect(done.outputs.y).toEqual(
      data.map((q, i) =>
        Math.round(16 * (((q - mean) / deviation) * (gains[i] as number) + (h.data[i] as number))),
      ),
    );
  });
  it("behavior: RMSNormalization has the zero point, and a row of it is 0", () => {
    const done = integers(
      t("int8", [2, 5], [...data, ...Array(5).fill(9)]),
      9,
      [node("RMSNormalization", ["r", "g"], {}, "p")],
      { g },
    );
    const d = data.map((q) => q - 9);
    const root = Math.sqrt(d.reduce((all, v) => all + v * v, 0) / 5 + 4e-5);
    expect(done.outputs.y).toEqual([
      ...d.map((v, i) => Math.round(16 * (v / root) * (gains[i] as number)) + 0),
      ...Array(5).fill(0),
    ]);
    expect(kinds(done)).toEqual({ norms: 1, ratios: 1, floats: 0 });
  });
  it("behavior: an epsilon that is above all variances, and a flat row", () => {
    const flat = t("uint8", [2, 4], [9, 9, 9, 9, 10, 9, 9, 9]);
    const done = integers(
      flat,
      0,
      [node("LayerNormalization", ["r", "one"], { epsilon: { f: 10_000 } }, "p")],
      {
        one: t("float32", [4], Array(4).fill(320)),
      },
    );
    // 0.375·320/√10,000 is 1.2, a third of it to the other side 0.4.
    expect(done.outputs.y).toEqual([0, 0, 0, 0, 19, -6, -6, -6]);
  });
  it("error: an epsilon below 0, or beside which distances have too few steps, and a gain that is no number", () => {
    const layer = (epsilon: number, scale: number, gain = 1) =>
      refusal(() =>
        integers(
          t("uint8", [1, 64], range(64)),
          0,
          [node("LayerNormalization", ["r", "g"], { epsilon: { f: epsilon } }, "p")],
          { s: t("float32", [], [scale]), g: t("float32", [64], [gain, ...Array(63).fill(1)]) },
        ),
      );
    expect(layer(1e-5, 2e-6)).toBe("accepted");
    expect(layer(1e-5, 2e-7)).toContain(
      "at the scale 2.0000000233721948e-7 that integers of 32 bits keep fewer than 1000 of 16320 steps. Use a smaller epsilon",
    );
    expect(layer(-1, SCALE)).toContain("its epsilon is -1. Use an epsilon of at least 0.");
    expect(layer(Number.NaN, SCALE)).toContain("its epsilon is NaN");
    for (const gain of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(layer(1e-5, SCALE, gain)).toContain(`a constant holds ${gain}. Use finite constants.`);
    }
  });
  it("error: rows that are too long, of what is not quantized float32 as before", () => {
    const long = t(
      "uint8",
      [1, 2049],
      range(2049).map((i) => i % 256),
    );
    const one = t("float32", [2049], Array(2049).fill(1));
    const layer = node("LayerNormalization", ["r", "one"], {}, "p");
    expect(refusal(() => integers(long, 0, [layer], { one }))).toContain("2049 elements in integers");
    const rows = t(
      "uint8",
      [1, 1025],
      range(1025).map(() => 1),
    );
    expect(refusal(() => integers(rows, 0, [node("Softmax", ["r"], {}, "p")]))).toContain(
      "--arithmetic float32",
    );
    const real = run(t("float32", [1, 3], [1, 2, 3]), [node("Softmax", ["x"])], "float32", {}, INTEGERS);
    expect(kinds(real)).toMatchObject({ norms: 0, ratios: 0 });
  });
});

function refusal(f: () => unknown): string {
  try {
    f();
  } catch (error) {
    if (isBaseError(error, "IMPORT_REFUSED")) return error.message;
    throw error;
  }
  return "accepted";
}

const GRAPHS: readonly (readonly [string, Generator])[] = Object.entries({ ...ATTENTION_GRAPHS, ...CHAINS });

describe("graphs of attention in integers", () => {
  it.each(GRAPHS)("behavior: the emitted file of %s gives the executor's bytes", async (name, generator) => {
    let ratios = 0;
    for (let seed = 0; seed < scaled(2, 24); seed++) {
      const rng = createRng(2000 + seed);
      const operator = generator(rng);
      const runs = [inputsOf(rng, operator), inputsOf(rng, operator)];
      const { imported, emitted, original } = await compareBoth(name, onnxFile(operator.graph), runs, {
        settings: INTEGERS,
      });
      expect(emitted).toMatchObject({ different: 0 });
      // One unit a node, which the nodes behind it may enlarge.
      expect(original.largest).toBeLessThanOrEqual(name in CHAINS ? 4 : 1);
      ratios += imported.model.program.steps.filter(isRatio).length;
    }
    expect(ratios > 0).toBe(!name.includes("MatMul of both"));
  });
});
