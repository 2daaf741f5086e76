/** Files as onnxruntime's quantize_dynamic writes them (tools/quantize_dynamic_examples.py). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { prepare } from "../../../inference/executor/prepare.ts";
import { type NamedTensors, runNamed } from "../../../inference/model-values.ts";
import { importOnnx } from "../../../inference/onnx/import.ts";
import { readOnnx } from "../../../inference/onnx/read.ts";
import { compareBoth } from "../../support/both-ways.ts";
import { onnxFile, type TestGraph } from "../../support/onnx-file.ts";
import { node, t } from "../../support/onnx-nodes.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";
import { withUnsignedWeights } from "../../support/unsigned-weights.ts";

const RUNS = scaled(16, 300);
const FILES = ["mlp", "channels", "conv", "text"] as const;
const read = (name: string): Uint8Array =>
  readFileSync(join(import.meta.dirname, `../../vectors/quantized/${name}.dynamic.onnx`));

/** Numbers of one sign, of both, all equal, all 0, and of very different sizes. */
function floats(rng: Rng, length: number): number[] {
  const draw = rng.pick<() => number>([
    () => rng.int(-3000, 3000) / 1000,
    () => rng.int(1, 3000) / 1000,
    () => -rng.int(1, 3000) / 1000,
    () => rng.int(-9, 9) * 2 ** rng.int(-20, 8),
    () => 0,
  ]);
  const constant = draw();
  const isFlat = rng.chance(0.15);
  return Array.from({ length }, () => Math.fround(isFlat ? constant : draw()));
}

function runsOf(onnx: Uint8Array): NamedTensors[] {
  const rng = createRng(77);
  const { inputs } = readOnnx(onnx);
  return Array.from({ length: RUNS }, () =>
    Object.fromEntries(
      inputs.map(({ name, type, dims }) => {
        const length = dims.reduce((a, b) => a * b, 1);
        const data = type === "int64" ? Array.from({ length }, () => rng.int(0, 59)) : floats(rng, length);
        return [name, { type: type === "int64" ? "int32" : type, dims, data }];
      }),
    ),
  );
}

describe("files of onnxruntime's dynamic quantization", () => {
  it.each(FILES)("behavior: %s.dynamic.onnx gives onnxruntime's outputs bit for bit", async (name) => {
    const onnx = read(name);
    const { original, emitted } = await compareBoth(name, onnx, runsOf(onnx), {
      original: withUnsignedWeights(onnx),
    });
    expect(emitted).toMatchObject({ different: 0 });
    expect(original).toMatchObject({ different: 0 });
    expect(original.compared).toBeGreaterThanOrEqual(3 * RUNS);
  });
});

/** The definition, written out in binary32. */
function plainQuantization(x: readonly number[]): { y: number[]; scale: number; zero: number } {
  const f = Math.fround;
  const even = (v: number): number => {
    const low = Math.floor(v);
    return v - low > 0.5 || (v - low === 0.5 && low % 2 !== 0) ? low + 1 : low;
  };
  const byte = (v: number): number => Math.min(Math.max(v, 0), 255);
  const [least, most] = [Math.min(0, ...x), Math.max(0, ...x)];
  const range = f(most - least);
  const scale = range < 2 ** -60 ? 1 : f(range / 255);
  const zero = byte(even(f(-least / scale)));
  return { y: x.map((v) => byte(even(f(v / scale)) + zero)), scale, zero };
}

describe("DynamicQuantizeLinear", () => {
  it.each([[1], [2], [3, 5], [2, 3, 7], [1, 4, 4, 4], [33]])(
    "args: dims %j... as the definition",
    (...dims) => {
      const rng = createRng(dims.length * 100 + (dims[0] as number));
      const graph: TestGraph = {
        nodes: [
          { op: "DynamicQuantizeLinear", inputs: ["x"], outputs: ["q", "scale", "zero"] },
          node("Cast", ["q"], { to: 1 }, "a"),
          node("Cast", ["zero"], { to: 1 }, "b"),
        ],
        inputs: { x: { type: "float32", dims } },
        outputs: { a: "float32", scale: "float32", b: "float32" },
      };
      const onnx = onnxFile(graph);
      const { model, io } = importOnnx(onnx);
      const prepared = prepare(model, new Uint8Array(4));
      for (let i = 0; i < 60; i++) {
        const x =
          i === 0
            ? new Array(dims.reduce((a, b) => a * b)).fill(2 ** -61)
            : floats(
                rng,
                dims.reduce((a, b) => a * b),
              );
        const { outputs } = runNamed({ prepared, io, onnx }, { x: { type: "float32", dims, data: x } });
        const expected = plainQuantization(x);
        expect(outputs.a?.data).toEqual(expected.y);
        expect(outputs.scale?.data).toEqual([expected.scale]);
        expect(outputs.b?.data).toEqual([expected.zero]);
      }
    },
  );
});

const integers = (rng: Rng, length: number, [low, high]: readonly [number, number]): number[] =>
  Array.from({ length }, () => rng.int(low, high));

/** `Σ (a − za)(w − zw)` over windows that hold za outside of the input. */
function plainConvolution(
  a: readonly number[],
  za: number,
  w: readonly number[],
  zw: readonly number[],
  s: {
    c: number;
    h: number;
    v: number;
    o: number;
    groups: number;
    k: number;
    pads: readonly number[];
    stride: number;
  },
): number[] {
  const [top = 0, left = 0, bottom = 0, right = 0] = s.pads;
  const [oh, ov] = [
    Math.floor((s.h + top + bottom - s.k) / s.stride) + 1,
    Math.floor((s.v + left + right - s.k) / s.stride) + 1,
  ];
  const per = s.c / s.groups;
  const out: number[] = [];
  for (let o = 0; o < s.o; o++)
    for (let y = 0; y < oh; y++)
      for (let x = 0; x < ov; x++) {
        let sum = 0;
        for (let c = 0; c < per; c++)
          for (let i = 0; i < s.k; i++)
            for (let j = 0; j < s.k; j++) {
              const [py, px] = [y * s.stride + i - top, x * s.stride + j - left];
              if (py < 0 || px < 0 || py >= s.h || px >= s.v) continue;
              const channel = Math.floor((o * s.groups) / s.o) * per + c;
              const q = a[(channel * s.h + py) * s.v + px] as number;
              sum +=
                (q - za) *
                ((w[((o * per + c) * s.k + i) * s.k + j] as number) -
                  (zw[zw.length === 1 ? 0 : o] as number));
            }
        out.push(sum);
      }
  return out;
}

describe("products with a computed zero point", () => {
  it("behavior: ConvInteger over random shapes, as the definition", () => {
    const rng = createRng(5);
    for (let i = 0; i < scaled(40, 400); i++) {
      const groups = rng.pick([1, 1, 2]);
      const s = {
        c: groups * rng.int(1, 3),
        h: rng.int(3, 6),
        v: rng.int(3, 6),
        o: groups * rng.int(1, 3),
        groups,
        k: rng.int(1, 3),
        pads: [rng.int(0, 1), rng.int(0, 2), rng.int(0, 1), rng.int(0, 2)],
        stride: rng.int(1, 2),
      };
      const type = rng.pick(["uint8", "int8"] as const);
      const limits = type === "uint8" ? ([0, 255] as const) : ([-128, 127] as const);
      const w = integers(rng, (s.o * s.c * s.k * s.k) / groups, limits);
      const zw = [rng.int(limits[0], limits[1])];
      const a = integers(rng, s.c * s.h * s.v, [0, 255]);
      const za = rng.int(0, 255);
      const graph: TestGraph = {
        nodes: [
          node("Reshape", ["z", "one"], {}, "zero"),
          node("ConvInteger", ["a", "w", "zero", "zw"], {
            pads: s.pads,
            strides: [s.stride, s.stride],
            group: groups,
          }),
        ],
        inputs: { a: { type: "uint8", dims: [1, s.c, s.h, s.v] }, z: { type: "uint8", dims: [1, 1] } },
        outputs: { y: "int32" },
        constants: {
          w: t(type, [s.o, s.c / groups, s.k, s.k], w),
          zw: t(type, [], zw),
          one: t("int64", [1], [1]),
        },
      };
      const onnx = onnxFile(graph);
      const { model, io } = importOnnx(onnx);
      const given = {
        a: { type: "uint8", dims: [1, s.c, s.h, s.v], data: a },
        z: { type: "uint8", dims: [1, 1], data: [za] },
      };
      const { outputs } = runNamed({ prepared: prepare(model, new Uint8Array(4)), io, onnx }, given);
      expect(outputs.y?.data, JSON.stringify(s)).toEqual(plainConvolution(a, za, w, zw, s));
    }
  });

  it.each([
    [3, 5],
    [40, 1],
    [1100, 3],
  ])("behavior: MatMulInteger of %d by %d, constant or computed weights, as the definition", (k, n) => {
    const rng = createRng(k);
    for (const isConstant of [true, false]) {
      const [a, w] = [integers(rng, 2 * k, [0, 255]), integers(rng, k * n, [0, 255])];
      const [za, zw] = [rng.int(0, 255), rng.int(0, 255)];
      const weights = { w: t("uint8", [k, n], w), zw: t("uint8", [], [zw]) };
      const computed = isConstant
        ? {}
        : { w: { type: "uint8", dims: [k, n] }, zw: { type: "uint8", dims: [1] } };
      const graph = {
        nodes: [node("MatMulInteger", ["a", "w", "z", "zw"])],
        inputs: { a: { type: "uint8", dims: [2, k] }, z: { type: "uint8", dims: [1] }, ...computed },
        outputs: { y: "int32" },
        constants: isConstant ? weights : {},
      } as TestGraph;
      const onnx = onnxFile(graph);
      const { model, io } = importOnnx(onnx);
      const given: NamedTensors = {
        a: { type: "uint8", dims: [2, k], data: a },
        z: { type: "uint8", dims: [1], data: [za] },
        ...(isConstant
          ? {}
          : { w: { type: "uint8", dims: [k, n], data: w }, zw: { type: "uint8", dims: [1], data: [zw] } }),
      };
      const { outputs } = runNamed({ prepared: prepare(model, new Uint8Array(4)), io, onnx }, given);
      const expected = [0, 1].flatMap((row) =>
        Array.from({ length: n }, (_, column) =>
          Array.from(
            { length: k },
            (_, i) => ((a[row * k + i] as number) - za) * ((w[i * n + column] as number) - zw),
          ).reduce((x, y) => x + y),
        ),
      );
      expect(outputs.y?.data).toEqual(expected);
    }
  });
});
