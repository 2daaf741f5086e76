/** Products that are lowered by way of another one, against sums that are written out, over random shapes. */
import { describe, expect, it } from "vitest";
import type { TestGraph } from "../../support/onnx-file.ts";
import { node, t } from "../../support/onnx-nodes.ts";
import { runGraph } from "../../support/onnx-run.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const CASES = scaled(40, 400);
const ints = (rng: Rng, n: number, low: number, high: number): number[] =>
  Array.from({ length: n }, () => rng.int(low, high));
const count = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);

/** Scales of 1: integers stay integers. The bytes are quantized to the middle of their range and saturate. */
function outputOf(
  layer: TestGraph["nodes"],
  x: number[],
  dims: number[],
  zero: number,
  w: number[],
  weights: number[],
): readonly number[] {
  const graph: TestGraph = {
    nodes: [
      node("DequantizeLinear", ["x", "one", "z"], {}, "a"),
      node("DequantizeLinear", ["w", "one"], {}, "b"),
      ...layer,
      node("QuantizeLinear", ["p", "one", "o"]),
    ],
    inputs: { x: { type: "uint8", dims } },
    outputs: { y: "uint8" },
    constants: {
      one: t("float32", [], [1]),
      z: t("uint8", [], [zero]),
      o: t("uint8", [], [128]),
      w: t("int8", weights, w),
    },
  };
  return runGraph(graph, { x: t("uint8", dims, x) }).outputs.y as readonly number[];
}
const byte = (v: number): number => Math.min(Math.max(v + 128, 0), 255);

describe("ConvTranspose", () => {
  it("behavior: over random shapes, each input element times the kernel added where it falls", () => {
    const rng = createRng(12);
    for (let run = 0; run < CASES; run++) {
      const groups = rng.pick([1, 1, 2]);
      const [n, inner, outer, h, v] = [
        rng.int(1, 2),
        rng.int(1, 2),
        rng.int(1, 2),
        rng.int(1, 5),
        rng.int(1, 5),
      ];
      const [kh, kv, sh, sv, dh, dv] = [
        rng.int(1, 3),
        rng.int(1, 3),
        rng.int(1, 3),
        rng.int(1, 3),
        rng.int(1, 2),
        rng.int(1, 2),
      ];
      const pads = [(kh - 1) * dh, (kv - 1) * dv, (kh - 1) * dh, (kv - 1) * dv].map((most) =>
        rng.int(0, Math.min(1, most)),
      );
      const extra = [sh > 1 ? rng.int(0, 1) : 0, sv > 1 ? rng.int(0, 1) : 0];
      const [top = 0, left = 0, bottom = 0, right = 0] = pads;
      const oh = sh * (h - 1) + (kh - 1) * dh + 1 + (extra[0] as number) - top - bottom;
      const ov = sv * (v - 1) + (kv - 1) * dv + 1 + (extra[1] as number) - left - right;
      if (oh < 1 || ov < 1) continue;
      const dims = [n, groups * inner, h, v];
      const weights = [groups * inner, outer, kh, kv];
      const [x, w, zero] = [
        ints(rng, count(dims), 120, 136),
        ints(rng, count(weights), -3, 3),
        rng.int(124, 130),
      ];
      const sums = new Array<number>(n * groups * outer * oh * ov).fill(0);
      for (let i = 0; i < n; i++)
        for (let c = 0; c < groups * inner; c++)
          for (let y = 0; y < h; y++)
            for (let q = 0; q < v; q++)
              for (let o = 0; o < outer; o++)
                for (let a = 0; a < kh; a++)
                  for (let b = 0; b < kv; b++) {
                    const [ty, tx] = [y * sh + a * dh - top, q * sv + b * dv - left];
                    if (ty < 0 || tx < 0 || ty >= oh || tx >= ov) continue;
                    const to = ((i * groups * outer + Math.floor(c / inner) * outer + o) * oh + ty) * ov + tx;
                    const element = (x[((i * groups * inner + c) * h + y) * v + q] as number) - zero;
                    sums[to] =
                      (sums[to] as number) + element * (w[((c * outer + o) * kh + a) * kv + b] as number);
                  }
      const attributes = {
        strides: [sh, sv],
        dilations: [dh, dv],
        pads,
        output_padding: extra,
        group: groups,
      };
      const made = outputOf([node("ConvTranspose", ["a", "b"], attributes, "p")], x, dims, zero, w, weights);
      expect(made, JSON.stringify({ dims, weights, attributes })).toEqual(sums.map(byte));
    }
  });
});

describe("Conv", () => {
  it("behavior: in groups of several images over random shapes", () => {
    const rng = createRng(13);
    for (let run = 0; run < CASES; run++) {
      const [n, groups, inner, outer] = [rng.int(1, 3), rng.int(1, 3), rng.int(1, 2), rng.int(1, 2)];
      const [h, v, kh, kv] = [rng.int(2, 5), rng.int(2, 5), rng.int(1, 2), rng.int(1, 2)];
      const pads = ints(rng, 4, 0, 1);
      const [top = 0, left = 0, bottom = 0, right = 0] = pads;
      const [oh, ov] = [h + top + bottom - kh + 1, v + left + right - kv + 1];
      const dims = [n, groups * inner, h, v];
      const weights = [groups * outer, inner, kh, kv];
      const [x, w, zero] = [
        ints(rng, count(dims), 120, 136),
        ints(rng, count(weights), -3, 3),
        rng.int(124, 130),
      ];
      const expected: number[] = [];
      for (let i = 0; i < n; i++)
        for (let o = 0; o < groups * outer; o++)
          for (let y = 0; y < oh; y++)
            for (let q = 0; q < ov; q++) {
              let sum = 0;
              for (let c = 0; c < inner; c++)
                for (let a = 0; a < kh; a++)
                  for (let b = 0; b < kv; b++) {
                    const [py, px] = [y + a - top, q + b - left];
                    if (py < 0 || px < 0 || py >= h || px >= v) continue;
                    const channel = Math.floor(o / outer) * inner + c;
                    const element = (x[((i * groups * inner + channel) * h + py) * v + px] as number) - zero;
                    sum += element * (w[((o * inner + c) * kh + a) * kv + b] as number);
                  }
              expected.push(byte(sum));
            }
      const made = outputOf(
        [node("Conv", ["a", "b"], { pads, group: groups }, "p")],
        x,
        dims,
        zero,
        w,
        weights,
      );
      expect(made, JSON.stringify({ dims, weights, pads })).toEqual(expected);
    }
  });
});

describe("Einsum", () => {
  /** Sums over all letters that the result does not have. */
  function plain(
    equation: string,
    sizes: Readonly<Record<string, number>>,
    x: number[],
    w: number[],
  ): number[] {
    const [left = "", out = ""] = equation.split("->");
    const [a = "", b = ""] = left.split(",");
    const letters = [...new Set(a + b)];
    const index = (term: string, at: Readonly<Record<string, number>>): number =>
      [...term].reduce((i, l) => i * (sizes[l] as number) + (at[l] as number), 0);
    const sums = new Array<number>([...out].reduce((n, l) => n * (sizes[l] as number), 1)).fill(0);
    const visit = (k: number, at: Record<string, number>): void => {
      const letter = letters[k];
      if (letter === undefined) {
        const to = index(out, at);
        sums[to] = (sums[to] as number) + (x[index(a, at)] as number) * (w[index(b, at)] as number);
        return;
      }
      for (let i = 0; i < (sizes[letter] as number); i++) visit(k + 1, { ...at, [letter]: i });
    };
    visit(0, {});
    return sums;
  }
  it.each([
    "ik,kj->ij",
    "bik,kj->bij",
    "bik,bkj->bij",
    "ki,jk->ji",
    "bqhd,bkhd->bhqk",
    "abk,kcd->abcd",
    "ik,k->i",
  ])("behavior: %s over random sizes", (equation) => {
    const rng = createRng(equation.length);
    for (let run = 0; run < 10; run++) {
      const sizes = Object.fromEntries([..."abcdhijkq"].map((l) => [l, rng.int(1, 4)]));
      const [a = "", b = ""] = (equation.split("->")[0] as string).split(",");
      const dimsOf = (term: string): number[] => [...term].map((l) => sizes[l] as number);
      const [x, w] = [ints(rng, count(dimsOf(a)), 120, 136), ints(rng, count(dimsOf(b)), -3, 3)];
      const expected = plain(
        equation,
        sizes,
        x.map((q) => q - 128),
        w,
      ).map(byte);
      const made = outputOf([node("Einsum", ["a", "b"], { equation }, "p")], x, dimsOf(a), 128, w, dimsOf(b));
      expect(made, JSON.stringify(sizes)).toEqual(expected);
    }
  });
  it.each(["ii->i", "ij,jk", "ij->i", "ij,kl->ijkl"])("error: %s is named", (equation) => {
    const x = ints(createRng(1), 4, 0, 9);
    const inputs = equation.includes(",") ? ["a", "b"] : ["a"];
    expect(() => outputOf([node("Einsum", inputs, { equation }, "p")], x, [2, 2], 0, x, [2, 2])).toThrow(
      "Einsum#",
    );
  });
});
