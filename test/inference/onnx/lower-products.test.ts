import { describe, expect, it } from "vitest";

import type { OnnxType } from "../../../inference/onnx/graph.ts";
import type { TestTensor } from "../../support/onnx-file.ts";
import { runGraph } from "../../support/onnx-run.ts";

/** Numbers from a seed, so that a failure can be repeated. */
function source(seed: number): (low: number, high: number) => number {
  let state = seed;
  return (low, high) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return low + Math.floor((state / 2 ** 32) * (high - low + 1));
  };
}

const LIMITS = { uint8: [0, 255], int8: [-128, 127] } as const;
type Byte = keyof typeof LIMITS;
const count = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);

function bytes(next: ReturnType<typeof source>, type: Byte, dims: readonly number[]): TestTensor {
  const [low, high] = LIMITS[type];
  return { type, dims, data: Array.from({ length: count(dims) }, () => next(low, high)) };
}

const one = (type: OnnxType, value: number): TestTensor => ({ type, dims: [], data: [value] });
const list = (type: OnnxType, data: readonly number[]): TestTensor => ({ type, dims: [data.length], data });
const at = (values: readonly number[], i: number): number => values[values.length === 1 ? 0 : i] as number;

/** The rule of EXACT.md, written again with doubles. */
function requantize(acc: number, x: number, w: number, y: number, zero: number, type: Byte): number {
  const f = Math.fround;
  const v = f(f(acc) * f(f(f(x) * f(w)) / f(y)));
  const floor = Math.floor(v);
  const q = v - floor > 0.5 || (v - floor === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
  const [low, high] = LIMITS[type];
  return Math.min(Math.max(q + zero, low), high);
}

interface MatrixCase {
  readonly a: Byte;
  readonly b: Byte;
  readonly y: Byte;
  readonly batch: readonly number[];
  readonly constantBatch: readonly number[];
  readonly m: number;
  readonly k: number;
  readonly n: number;
  readonly perColumn: boolean;
}

function checkQLinearMatMul(seed: number, c: MatrixCase): void {
  const next = source(seed);
  const a = bytes(next, c.a, [...c.batch, c.m, c.k]);
  const b = bytes(next, c.b, [...c.constantBatch, c.k, c.n]);
  const [xs, ys] = [0.02, 0.02 * 0.004 * 70 * Math.sqrt(c.k)];
  const middle = (type: Byte): number => (type === "uint8" ? 128 : 0) + next(-9, 9);
  const ws = Array.from({ length: c.perColumn ? c.n : 1 }, () => next(20, 60) / 10_000);
  const wz = ws.map(() => middle(c.b));
  const [az, yz] = [middle(c.a), middle(c.y)];
  const { outputs, dims } = runGraph(
    {
      nodes: [
        { op: "QLinearMatMul", inputs: ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], outputs: ["y"] },
      ],
      inputs: { a: { type: c.a, dims: a.dims } },
      outputs: { y: c.y },
      constants: {
        as: one("float32", xs),
        az: one(c.a, az),
        b,
        bs: c.perColumn ? list("float32", ws) : one("float32", ws[0] as number),
        bz: c.perColumn ? list(c.b, wz) : one(c.b, wz[0] as number),
        ys: one("float32", ys),
        yz: one(c.y, yz),
      },
    },
    { a },
  );
  const outBatch = c.constantBatch.length > 0 ? c.constantBatch : c.batch;
  const expected: number[] = [];
  for (let g = 0; g < count(outBatch); g++) {
    const [ga, gb] = [count(c.batch) > 1 ? g : 0, count(c.constantBatch) > 1 ? g : 0];
    for (let i = 0; i < c.m; i++) {
      for (let j = 0; j < c.n; j++) {
        let acc = 0;
        for (let k = 0; k < c.k; k++) {
          const [p = 0, q = 0] = [a.data[(ga * c.m + i) * c.k + k], b.data[(gb * c.k + k) * c.n + j]];
          acc += (p - az) * (q - at(wz, j));
        }
        expected.push(requantize(acc, xs, at(ws, j), ys, yz, c.y));
      }
    }
  }
  expect(outputs.y).toEqual(expected);
  expect(dims.y).toEqual([...outBatch, c.m, c.n]);
  const inside = expected.filter((v) => v > LIMITS[c.y][0] && v < LIMITS[c.y][1]).length;
  expect(inside).toBeGreaterThan(expected.length / 4);
}

describe("QLinearMatMul", () => {
  const plain = { batch: [], constantBatch: [], m: 3, k: 20, n: 5, perColumn: false } as const;
  it("default: all byte types, per tensor and per column", () => {
    let seed = 1;
    for (const a of ["uint8", "int8"] as const) {
      for (const b of ["uint8", "int8"] as const) {
        for (const y of ["uint8", "int8"] as const) {
          for (const perColumn of [false, true]) checkQLinearMatMul(seed++, { ...plain, a, b, y, perColumn });
        }
      }
    }
  });

  it("args: batches on either side, and rows longer than one DOT takes", () => {
    const types = { a: "uint8", b: "int8", y: "uint8" } as const;
    checkQLinearMatMul(50, { ...plain, ...types, batch: [2, 2], perColumn: true });
    checkQLinearMatMul(51, { ...plain, ...types, constantBatch: [4] });
    checkQLinearMatMul(52, { ...plain, ...types, batch: [3], constantBatch: [3], perColumn: true });
    checkQLinearMatMul(53, { ...plain, ...types, k: 2100, perColumn: true });
    checkQLinearMatMul(54, { ...plain, ...types, a: "int8", k: 993 });
  });
});

interface ConvCase {
  readonly spatial: readonly number[];
  readonly kernel: readonly number[];
  readonly channels: number;
  readonly filters: number;
  readonly group?: number;
  readonly batch?: number;
  readonly attributes?: Record<string, string | readonly number[]>;
  readonly x?: Byte;
  readonly w?: Byte;
}

function checkConv(seed: number, c: ConvCase): void {
  const next = source(seed);
  const [type, wType] = [c.x ?? "uint8", c.w ?? "int8"];
  const { channels, filters, group = 1, batch = 1, attributes = {} } = c;
  const per = channels / group;
  const x = bytes(next, type, [batch, channels, ...c.spatial]);
  const w = bytes(next, wType, [filters, per, ...c.kernel]);
  const bias = Array.from({ length: filters }, () => next(-3000, 3000));
  const ws = Array.from({ length: filters }, () => next(20, 60) / 10_000);
  const [xs, ys, xz, yz] = [
    0.03,
    0.03 * 0.004 * 70 * Math.sqrt(per * count(c.kernel)),
    next(LIMITS[type][0], LIMITS[type][1]),
    101,
  ];
  const { outputs, dims } = runGraph(
    {
      nodes: [
        {
          op: "QLinearConv",
          inputs: ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "bias"],
          outputs: ["y"],
          attributes: { group, ...attributes },
        },
      ],
      inputs: { x: { type, dims: x.dims } },
      outputs: { y: "uint8" },
      constants: {
        xs: one("float32", xs),
        xz: one(type, xz),
        w,
        ws: list("float32", ws),
        wz: one(wType, 0),
        ys: one("float32", ys),
        yz: one("uint8", yz),
        bias: list("int32", bias),
      },
    },
    { x },
  );
  const rank = c.spatial.length;
  const get = (name: string, i: number, otherwise: number): number => {
    const v = attributes[name];
    return typeof v === "object" ? (v[i] ?? otherwise) : otherwise;
  };
  const geometry = c.spatial.map((size, i) => {
    const [k = 1, stride, dilation] = [c.kernel[i], get("strides", i, 1), get("dilations", i, 1)];
    let [before, after] = [get("pads", i, 0), get("pads", i + rank, 0)];
    const reach = (k - 1) * dilation + 1;
    if (attributes.auto_pad === "SAME_UPPER") {
      const total = Math.max(0, (Math.ceil(size / stride) - 1) * stride + reach - size);
      before = Math.floor(total / 2);
      after = total - before;
    }
    return {
      size,
      k,
      stride,
      dilation,
      before,
      out: Math.floor((size + before + after - reach) / stride) + 1,
    };
  });
  const [h, v] =
    rank === 2 ? geometry : [{ size: 1, k: 1, stride: 1, dilation: 1, before: 0, out: 1 }, geometry[0]];
  if (h === undefined || v === undefined) throw new Error("no geometry");
  const expected: number[] = [];
  for (let b = 0; b < batch; b++) {
    for (let o = 0; o < filters; o++) {
      for (let i = 0; i < h.out; i++) {
        for (let j = 0; j < v.out; j++) {
          let acc = bias[o] as number;
          for (let ch = 0; ch < per; ch++) {
            for (let ki = 0; ki < h.k; ki++) {
              for (let kj = 0; kj < v.k; kj++) {
                const [r, s] = [
                  i * h.stride + ki * h.dilation - h.before,
                  j * v.stride + kj * v.dilation - v.before,
                ];
                if (r < 0 || r >= h.size || s < 0 || s >= v.size) continue;
                const from = Math.floor((o * group) / filters) * per + ch;
                const p = x.data[((b * channels + from) * h.size + r) * v.size + s] as number;
                acc += (p - xz) * (w.data[((o * per + ch) * h.k + ki) * v.k + kj] as number);
              }
            }
          }
          expected.push(requantize(acc, xs, ws[o] as number, ys, yz, "uint8"));
        }
      }
    }
  }
  expect(outputs.y).toEqual(expected);
  expect(dims.y).toEqual([batch, filters, ...geometry.map((g) => g.out)]);
}

describe("QLinearConv", () => {
  const base = { spatial: [7, 6], kernel: [3, 2], channels: 4, filters: 6 } as const;
  it("default: 2-D with bias and a scale for each channel", () => checkConv(1, base));
  it("args: pads, strides, dilations", () => {
    checkConv(2, { ...base, attributes: { pads: [1, 0, 2, 1], strides: [2, 1] } });
    checkConv(3, { ...base, attributes: { dilations: [2, 3], pads: [2, 2, 2, 2] } });
    checkConv(4, { ...base, attributes: { auto_pad: "SAME_UPPER", strides: [2, 2] }, x: "int8" });
  });
  it("args: groups, depthwise, batch, 1-D", () => {
    checkConv(5, { ...base, group: 2, attributes: { pads: [1, 1, 1, 1] } });
    checkConv(6, { ...base, filters: 4, group: 4, x: "int8", w: "uint8" });
    checkConv(7, { ...base, batch: 3 });
    checkConv(8, {
      spatial: [11],
      kernel: [4],
      channels: 3,
      filters: 2,
      batch: 2,
      attributes: { pads: [2, 1], strides: [3] },
    });
    checkConv(9, { spatial: [9], kernel: [3], channels: 4, filters: 4, group: 2, batch: 2 });
  });
  it("args: K above one DOT", () =>
    checkConv(10, { spatial: [4, 4], kernel: [3, 3], channels: 120, filters: 3 }));
});

describe("MatMulInteger", () => {
  it("default: zero points, bias by Add, read twice", () => {
    const next = source(77);
    const a = bytes(next, "uint8", [2, 9]);
    const b = bytes(next, "int8", [9, 4]);
    const bias = [5, -6, 7, -8];
    const { outputs } = runGraph(
      {
        nodes: [
          { op: "MatMulInteger", inputs: ["a", "b", "az", "bz"], outputs: ["m"] },
          { op: "Add", inputs: ["m", "bias"], outputs: ["y"] },
        ],
        inputs: { a: { type: "uint8", dims: [2, 9] } },
        outputs: { y: "int32", m: "int32" },
        constants: { b, az: one("uint8", 200), bz: list("int8", [1, -2, 3, 0]), bias: list("int32", bias) },
      },
      { a },
    );
    const product = Array.from({ length: 8 }, (_, i) => {
      const [row, column] = [Math.floor(i / 4), i % 4];
      let acc = 0;
      for (let k = 0; k < 9; k++)
        acc +=
          ((a.data[row * 9 + k] ?? 0) - 200) * ((b.data[k * 4 + column] ?? 0) - ([1, -2, 3, 0][column] ?? 0));
      return acc;
    });
    expect(outputs.m).toEqual(product);
    expect(outputs.y).toEqual(product.map((v, i) => v + (bias[i % 4] as number)));
  });
});

describe("QDQ form", () => {
  it("behavior: MatMul, Gemm and Conv between DequantizeLinear and QuantizeLinear are QOperator products", () => {
    const next = source(5);
    const a = bytes(next, "uint8", [2, 6]);
    const w = bytes(next, "int8", [3, 6]);
    const bias = [100, -200, 300];
    const ws = [0.01, 0.02, 0.015];
    const { outputs, imported } = runGraph(
      {
        nodes: [
          { op: "DequantizeLinear", inputs: ["a", "xs", "xz"], outputs: ["ar"] },
          { op: "DequantizeLinear", inputs: ["w", "ws"], outputs: ["wr"], attributes: { axis: 0 } },
          { op: "DequantizeLinear", inputs: ["b", "bs"], outputs: ["br"], attributes: { axis: 0 } },
          { op: "Gemm", inputs: ["ar", "wr", "br"], outputs: ["g"], attributes: { transB: 1 } },
          { op: "Relu", inputs: ["g"], outputs: ["r"] },
          { op: "QuantizeLinear", inputs: ["r", "ys", "yz"], outputs: ["y"] },
        ],
        inputs: { a: { type: "uint8", dims: [2, 6] } },
        outputs: { y: "int8" },
        constants: {
          xs: one("float32", 0.5),
          xz: one("uint8", 128),
          w,
          ws: list("float32", ws),
          b: list("int32", bias),
          bs: list(
            "float32",
            ws.map((s) => Math.fround(0.5 * Math.fround(s))),
          ),
          ys: one("float32", 3),
          yz: one("int8", -100),
        },
      },
      { a },
    );
    const expected = Array.from({ length: 6 }, (_, i) => {
      const [row, column] = [Math.floor(i / 3), i % 3];
      let acc = bias[column] as number;
      for (let k = 0; k < 6; k++) acc += ((a.data[row * 6 + k] ?? 0) - 128) * (w.data[column * 6 + k] ?? 0);
      return Math.max(-100, requantize(acc, 0.5, ws[column] as number, 3, -100, "int8"));
    });
    expect(outputs.y).toEqual(expected);
    expect(imported.model.program.steps.filter((s) => s.opcode === "dot")).toHaveLength(1);
  });

  it("behavior: a product by weights that stayed in float32 is noted by name", () => {
    const graph = {
      nodes: [
        { op: "MatMul", name: "product", inputs: ["x", "w"], outputs: ["y"] },
        { op: "MatMul", name: "attention", inputs: ["x", "x"], outputs: ["z"] },
      ],
      inputs: { x: { type: "float32", dims: [2, 2] } },
      outputs: { y: "float32", z: "float32" },
      constants: { w: { type: "float32", dims: [2, 2], data: [1, 2, 3, 4] } },
    } as const;
    const { imported, outputs } = runGraph(graph, {
      x: { type: "float32", dims: [2, 2], data: [1, 2, 3, 4] },
    });
    expect(outputs).toEqual({ y: [7, 10, 15, 22], z: [7, 10, 15, 22] });
    const notes = imported.notes.filter((note) => note.includes("float32 weights"));
    expect(notes).toEqual([expect.stringContaining("product multiplies by float32 weights: 8 products")]);
  });
});

describe("--nudge", () => {
  const graph = (scale: number) =>
    ({
      nodes: [
        { op: "DequantizeLinear", name: "dq", inputs: ["x", "s"], outputs: ["r"] },
        { op: "QuantizeLinear", name: "q", inputs: ["r", "one", "zero"], outputs: ["y"] },
      ],
      inputs: { x: { type: "int32", dims: [64] } },
      outputs: { y: "uint8" },
      constants: { s: one("float32", scale), one: one("float32", 1), zero: one("uint8", 0) },
    }) as const;
  it("default: a power of two becomes a plain shift, and the change is reported", () => {
    const x = { type: "int32", dims: [64], data: Array.from({ length: 64 }, (_, i) => i * 33 - 500) };
    const plain = runGraph(graph(2 ** -6), { x });
    expect(plain.imported.requantizations).toEqual([
      { node: "q", channels: 1, form: "binary32", without: [0], nudges: [] },
    ]);
    const nudged = runGraph(graph(2 ** -6), { x }, { nudge: true });
    expect(nudged.imported.requantizations[0]?.form).toBe("integer");
    const [change] = nudged.imported.requantizations[0]?.nudges ?? [];
    expect(change?.from).toBe(2 ** -6);
    expect(Math.abs((change?.to ?? 0) / 2 ** -6 - 1)).toBeLessThanOrEqual(1e-3);
    expect(nudged.outputs.y).toEqual(x.data.map((v) => Math.min(Math.max((v + 32) >> 6, 0), 255)));
  });
});
