/** Resize by linear and cubic sums against plain sums in binary64, and lists of positions against indexing. */
import { describe, expect, it } from "vitest";
import { node, run, t } from "../../support/onnx-nodes.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const CASES = scaled(60, 600);
const count = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);
const f = Math.fround;

/** Where a position of the result lies: the standard's formulas, rounded to binary32 as onnxruntime does. */
function coordinate(by: string, at: number, scale: number, size: number, from: number): number {
  if (by === "asymmetric") return f(at / scale);
  if (by === "align_corners") return size === 1 ? 0 : f(f(at * (from - 1)) / (size - 1));
  if (by === "pytorch_half_pixel" && size <= 1) return 0;
  return f(f(f(at + 0.5) / scale) - 0.5);
}

interface Kind {
  readonly mode: "linear" | "cubic";
  readonly a: number;
  readonly isOutsideLeftOut: boolean;
}

/** Weight of each source element, by its distance: the sum over all of them is what the standard defines. */
function weightsOf(x: number, from: number, { mode, a, isOutsideLeftOut }: Kind): number[] {
  const weights = new Array<number>(from).fill(0);
  const add = (at: number, weight: number): void => {
    const held = Math.min(Math.max(at, 0), from - 1);
    if (!isOutsideLeftOut || at === held) weights[held] = (weights[held] as number) + weight;
  };
  const low = Math.floor(x);
  for (let at = low - 3; at <= low + 4; at++) {
    const d = Math.abs(x - at);
    if (mode === "linear") add(at, Math.max(0, 1 - d));
    else if (d <= 1) add(at, (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1);
    else if (d < 2) add(at, a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a);
  }
  const sum = isOutsideLeftOut ? weights.reduce((s, w) => s + w, 0) : 1;
  return weights.map((w) => w / sum);
}

/** One axis after the other, with the sums of the terms' sizes. */
function resized(
  data: readonly number[],
  dims: readonly number[],
  axis: number,
  rows: readonly (readonly number[])[],
): number[] {
  const tail = count(dims.slice(axis + 1));
  const from = dims[axis] as number;
  return Array.from({ length: (data.length / from) * rows.length }, (_, i) => {
    const inner = i % tail;
    const at = Math.floor(i / tail) % rows.length;
    const outer = Math.floor(i / tail / rows.length);
    return (rows[at] as number[]).reduce(
      (sum, w, p) => sum + w * (data[(outer * from + p) * tail + inner] as number),
      0,
    );
  });
}

function randomKind(rng: Rng): Kind {
  const mode = rng.pick(["linear", "cubic"] as const);
  const isOutsideLeftOut = mode === "cubic" && rng.chance(0.5);
  return { mode, a: rng.pick([-0.75, -0.5]), isOutsideLeftOut };
}

describe("resize", () => {
  it("behavior: linear and cubic sums are within 2^-20 of the terms over random shapes", () => {
    const rng = createRng(71);
    for (let i = 0; i < CASES; i++) {
      const dims = Array.from({ length: rng.int(1, 4) }, () => rng.int(1, 6));
      const kind = randomKind(rng);
      const bySizes = rng.chance(0.5);
      const by = rng.pick([
        "half_pixel",
        "asymmetric",
        "pytorch_half_pixel",
        ...(bySizes ? ["align_corners"] : []),
      ]);
      const factors = dims.map(() => rng.pick([1, 2, 3, 0.5, 1.5, 1.7, 2.25]));
      const sizes = dims.map((d, axis) =>
        bySizes ? rng.int(1, 9) : Math.max(1, Math.floor(f(d * (factors[axis] as number)))),
      );
      if (!bySizes && dims.some((d, axis) => Math.floor(f(d * (factors[axis] as number))) < 1)) continue;
      const data = Array.from({ length: count(dims) }, () => rng.int(-1000, 1000));
      let [expected, terms] = [data as number[], data.map(Math.abs)];
      const now = [...dims];
      for (const [axis, from] of dims.entries()) {
        const size = sizes[axis] as number;
        const scale = bySizes ? f(size / from) : f(factors[axis] as number);
        const rows = Array.from({ length: size }, (_, at) =>
          weightsOf(coordinate(by, at, scale, size, from), from, kind),
        );
        expected = resized(expected, now, axis, rows);
        terms = resized(
          terms,
          now,
          axis,
          rows.map((row) => row.map(Math.abs)),
        );
        now[axis] = size;
      }
      const attributes = {
        mode: kind.mode,
        coordinate_transformation_mode: by,
        cubic_coeff_a: { f: kind.a },
        exclude_outside: kind.isOutsideLeftOut ? 1 : 0,
      };
      const constants = bySizes
        ? { z: t("int64", [dims.length], sizes) }
        : { s: t("float32", [dims.length], factors) };
      const resize = node("Resize", ["r", "", bySizes ? "" : "s", ...(bySizes ? ["z"] : [])], attributes);
      const nodes = [node("Cast", ["x"], { to: 1 }, "r"), resize];
      const { outputs, dims: found } = run(t("int32", dims, data), nodes, "float32", constants);
      const label = `${kind.mode} ${by} [${dims}] to [${sizes}]`;
      expect(found.y, label).toEqual(sizes);
      for (const [at, value] of (outputs.y ?? []).entries()) {
        const bound = 2 ** -20 * (terms[at] as number);
        expect(Math.abs(value - (expected[at] as number)), `${label} at ${at}`).toBeLessThanOrEqual(bound);
      }
    }
  });

  it("behavior: doubling an axis takes as many steps for long axes as for short ones", () => {
    const steps = [8, 32].map((length) => {
      const constants = { s: t("float32", [2], [1, 2]) };
      const nodes = [node("Cast", ["x"], { to: 1 }, "r"), node("Resize", ["r", "", "s"], { mode: "linear" })];
      const x = t("int32", [3, length], new Array<number>(3 * length).fill(1));
      return run(x, nodes, "float32", constants).imported.model.program.steps.length;
    });
    expect(steps[1]).toBe(steps[0]);
  });

  it.each([
    [{ mode: "linear", antialias: 1 }, "it smooths"],
    [{ mode: "area" }, "its mode is area"],
    [
      { mode: "linear", coordinate_transformation_mode: "tf_crop_and_resize" },
      "resizes by tf_crop_and_resize",
    ],
    [
      { mode: "linear", coordinate_transformation_mode: "align_corners" },
      "the standard and onnxruntime differ",
    ],
  ])("error: %o is refused", (attributes, reason) => {
    const constants = { s: t("float32", [2], [1, 1.3]) };
    const nodes = [node("Cast", ["x"], { to: 1 }, "r"), node("Resize", ["r", "", "s"], attributes)];
    expect(() => run(t("int32", [2, 4], new Array<number>(8).fill(0)), nodes, "float32", constants)).toThrow(
      reason,
    );
  });

  it("error: bytes are not resized by sums", () => {
    const nodes = [node("Resize", ["x", "", "s"], { mode: "linear" })];
    const constants = { s: t("float32", [2], [1, 2]) };
    expect(() => run(t("uint8", [2, 4], new Array<number>(8).fill(0)), nodes, "uint8", constants)).toThrow(
      "its mode is linear of uint8",
    );
  });
});

describe("gatherPositions", () => {
  it("behavior: a list of positions, repeating or not, picks them over random shapes", () => {
    const rng = createRng(72);
    let fewer = 0;
    for (let i = 0; i < CASES; i++) {
      const dims = Array.from({ length: rng.int(1, 6) }, () => rng.int(1, 4));
      const axis = rng.int(0, dims.length - 1);
      dims[axis] = rng.int(6, 14);
      const size = dims[axis] as number;
      const [period, times, stride] = [rng.int(1, 4), rng.int(1, 4), rng.int(-1, 2)];
      const part = Array.from({ length: period }, () => rng.int(0, size - 1));
      const list = Array.from({ length: period * times }, (_, at) => {
        const p = (part[at % period] as number) + stride * Math.floor(at / period);
        return Math.min(Math.max(p, 0), size - 1);
      });
      const data = Array.from({ length: count(dims) }, () => rng.int(0, 255));
      const tail = count(dims.slice(axis + 1));
      const expected = Array.from({ length: (data.length / size) * list.length }, (_, k) => {
        const outer = Math.floor(k / tail / list.length);
        return data[
          (outer * size + (list[Math.floor(k / tail) % list.length] as number)) * tail + (k % tail)
        ];
      });
      const gather = node("Gather", ["x", "g"], { axis });
      const { outputs, imported } = run(t("uint8", dims, data), [gather], "uint8", {
        g: t("int64", [list.length], list),
      });
      expect(outputs.y, `[${list}] of axis ${axis} of [${dims}]`).toEqual(expected);
      if (times > 1 && imported.model.program.steps.length < list.length) fewer++;
    }
    expect(fewer).toBeGreaterThan(CASES / 10);
  });
});
