/** Softmax and normalizations in integers alone (`--arithmetic integers`), of 8 and 16 bits, against their definitions
 *  in binary64. */
import { describe, expect, it } from "vitest";
import { calibrated, largestOf, type Measured, measure, printed } from "../../support/one-unit.ts";
import type { TestTensor } from "../../support/onnx-file.ts";
import { node, t } from "../../support/onnx-nodes.ts";
import { EPSILON, measureLength, NORMALIZING, type RowOperator, sum } from "../../support/row-operators.ts";
import { scaled } from "../../support/scale.ts";

const rms = (q: readonly number[], scale: number, { g }: Record<string, TestTensor>): number[] => {
  const root = Math.sqrt((scale * scale * sum(q.map((v) => v * v))) / q.length + EPSILON);
  return q.map((v, i) => ((scale * v) / root) * (g?.data[i] as number));
};

/** What was quantized to 8 bits. */
function withoutWide(measured: Measured): Measured {
  const bytes = new Map([...measured].filter(([type]) => type === "uint8" || type === "int8"));
  expect(bytes.size).toBe(2);
  return bytes;
}

const LENGTHS = scaled([1, 3, 32, 257], [1, 2, 3, 32, 128, 255, 256, 257, 768, 1000, 1024]);

const OPERATORS: Readonly<Record<string, RowOperator>> = {
  ...NORMALIZING,
  RMSNormalization: {
    nodes: [node("RMSNormalization", ["r", "g"], { axis: 1 }, "p")],
    constants: (rng, n) => ({
      g: t(
        "float32",
        [n],
        Array.from({ length: n }, () => Math.fround(rng.int(-3000, 3000) / 1000)),
      ),
    }),
    reference: rms,
    lengths: LENGTHS,
  },
};

const SETTINGS = { arithmetic: "integers" } as const;
/** Units of 65,536 that a probability may be off in the rows that are measured here: the exponentials of a sum are rounded.
 *  In the worst of all rows it is 32. */
const SOFTMAX_UNITS = 8;
/** … and a row whose 16-bit integers are within 256 of each other: the root of its squares is cut. */
const NEAR_UNITS = 64;

describe("the row whose sum rounding moves most", () => {
  const n = 1024;
  // exp(−14.556) is a little less than half of the 2^-20 that the exponentials of 1,024 elements are rounded to.
  const from = { type: "uint8", scale: Math.fround(14.556), zero: 0 } as const;
  const x = [1, ...Array(n - 1).fill(0)];
  const expected = NORMALIZING.Softmax.reference(x, from.scale);
  const off = (type: "uint8" | "uint16"): number => {
    const measured: Measured = new Map();
    const to = { type, scale: type === "uint8" ? 2 ** -8 : 2 ** -16, zero: 0 } as const;
    measure(
      { nodes: NORMALIZING.Softmax.nodes, length: n, settings: SETTINGS, x, from, to, expected },
      measured,
    );
    return largestOf(measured);
  };
  it("behavior: 32 units of 65,536, none of 256", () => {
    expect([off("uint8"), off("uint16")]).toEqual([0, 32]);
  });
});

describe("epsilon above the variances", () => {
  it("behavior: as small a scale as import takes, results of 8 bits at most one unit off", () => {
    for (const [n, scale] of [
      [64, 2e-6],
      [1000, 1.25e-5],
      [2048, 1.5e-5],
    ] as const) {
      const q = Array.from({ length: n }, (_, i) => (i * 7919) % 256);
      const mean = sum(q) / n;
      const root = Math.sqrt((scale * scale * sum(q.map((v) => (v - mean) ** 2))) / n + EPSILON);
      const expected = q.map((v) => (scale * (v - mean)) / root);
      const measured: Measured = new Map();
      measure(
        {
          nodes: [node("LayerNormalization", ["r", "g"], { axis: 1 }, "p")],
          constants: { g: t("float32", [n], Array(n).fill(1)) },
          length: n,
          settings: SETTINGS,
          x: q,
          from: { type: "uint8", scale: Math.fround(scale), zero: 0 },
          to: calibrated(expected, "int8"),
          expected,
        },
        measured,
      );
      expect([n, largestOf(measured) <= 1]).toEqual([n, true]);
    }
  });
});

describe("in integers, at most one unit off", () => {
  for (const [name, operator] of Object.entries(OPERATORS)) {
    const { most, lengths } =
      name === "Softmax"
        ? { most: SOFTMAX_UNITS, lengths: LENGTHS }
        : { most: 1, lengths: LENGTHS.filter((n) => n > 1) };
    it.each(lengths)(`behavior: ${name} of %i bytes`, (n) => {
      const measured = measureLength(operator, n, { settings: SETTINGS });
      process.stdout.write(`${name}, ${n} bytes: ${printed(measured)}\n`);
      expect(largestOf(withoutWide(measured))).toBeLessThanOrEqual(1);
      expect(largestOf(measured)).toBeLessThanOrEqual(most);
    });
    it.each(lengths)(`behavior: ${name} of %i 16-bit integers`, (n) => {
      for (const isNear of [false, true]) {
        const measured = measureLength(operator, n, {
          types: ["uint16", "int16"],
          isNear,
          settings: SETTINGS,
        });
        process.stdout.write(`${name}, ${n}${isNear ? " near" : ""} 16-bit integers: ${printed(measured)}\n`);
        expect(largestOf(withoutWide(measured))).toBeLessThanOrEqual(1);
        expect(largestOf(measured)).toBeLessThanOrEqual(isNear ? NEAR_UNITS : most);
      }
    });
  }
});
