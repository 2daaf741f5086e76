/** References of what onnxruntime's quantize_dynamic writes: binary32, operation by operation. */
import type { TestNode, TestTensor } from "../onnx-file.ts";
import type { Rng } from "../rng.ts";
import {
  build,
  caseOf,
  clamp,
  drawn,
  f32,
  halfEven,
  integers,
  list,
  node,
  type Plain,
  positions,
  type Reference,
  read,
  scalar,
  shape,
  sizeOf,
} from "./plain.ts";

interface Dynamic {
  readonly q: Plain;
  readonly scale: number;
  readonly zero: number;
}

function quantizedDynamically({ dims, data }: Plain): Dynamic {
  const [low, high] = [Math.min(0, ...data), Math.max(0, ...data)];
  const range = f32(high - low);
  const scale = range === 0 ? 1 : f32(range / 255);
  const zero = clamp(halfEven(f32(f32(0 - low) / scale)), [0, 255]);
  return {
    q: { dims, data: data.map((x) => clamp(halfEven(f32(x / scale)) + zero, [0, 255])) },
    scale,
    zero,
  };
}

/** Random numbers, all of one sign, all equal, all zero, far apart. */
function drawnActivation(rng: Rng, dims: readonly number[]): TestTensor {
  const kind = rng.pick(["any", "any", "positive", "negative", "equal", "zero", "far"]);
  const size = rng.pick([0.01, 1, 300]);
  const next = (): number => {
    if (kind === "zero") return 0;
    if (kind === "equal") return size;
    const x = (size * rng.int(-1000, 1000)) / 1000;
    if (kind === "far") return rng.chance(0.1) ? 900 * x : x / 900;
    return kind === "any" ? x : kind === "positive" ? Math.abs(x) : -Math.abs(x);
  };
  return { type: "float32", dims, data: Array.from({ length: sizeOf(dims) }, () => normal(f32(next()))) };
}

/** Codec raw reads a subnormal number as 0. */
const normal = (x: number): number => (Math.abs(x) < 2 ** -126 ? 0 : x);

const QUANTIZE: TestNode = { op: "DynamicQuantizeLinear", inputs: ["x"], outputs: ["q", "s", "z"] };

const dynamicQuantizeLinear: Reference = (rng) => {
  const x = drawnActivation(rng, shape(rng, rng.int(1, 4), 6));
  const { q, scale, zero } = quantizedDynamically(x);
  const isScale = rng.chance(0.3);
  return caseOf({
    inputs: { x },
    nodes: [QUANTIZE],
    outputs: isScale ? { s: "float32" } : { q: "uint8", z: "uint8" },
    expected: isScale ? { s: { dims: [], data: [scale] } } : { q, z: { dims: [], data: [zero] } },
  });
};

/** Beside these no CPU saturates a pair of products of the original file. */
const WEIGHTS = { uint8: [0, 255], int8: [-64, 63] } as const;

interface Weights {
  readonly w: TestTensor;
  readonly zeros: TestTensor;
  readonly scales: TestTensor;
}

/** @param axis the one that has a scale and, of a matrix, a zero point for each index, if any has */
function drawnWeights(rng: Rng, dims: readonly number[], axis: number, isConv: boolean): Weights {
  const type = rng.pick(["uint8", "int8"] as const);
  const n = rng.chance(0.5) ? (dims[axis] as number) : 0;
  const [low, high] = WEIGHTS[type];
  const data = integers(rng, sizeOf(dims), low, high);
  const middle = type === "uint8" ? 128 : 0;
  const zeroOf = (): number => (type === "int8" && isConv ? 0 : middle + rng.int(-20, 20));
  const scaleOf = (): number => f32(rng.int(1000, 9000) / 1e6);
  const each = (next: () => number): number[] => Array.from({ length: Math.max(1, n) }, next);
  const isApart = n > 0 && !isConv;
  return {
    w: { type, dims, data },
    zeros: isApart ? list(type, each(zeroOf)) : scalar(type, zeroOf()),
    scales: n === 0 ? scalar("float32", scaleOf()) : list("float32", each(scaleOf)),
  };
}

const at = ({ data }: TestTensor, i: number): number => data[data.length === 1 ? 0 : i] as number;

const matMul: Reference = (rng) => {
  const [k, n] = [rng.int(1, 40), rng.int(1, 9)];
  const dims = [...shape(rng, rng.int(1, 2)), k];
  const x = drawnActivation(rng, dims);
  const { q, scale, zero } = quantizedDynamically(x);
  const { w, zeros, scales } = drawnWeights(rng, [k, n], 1, false);
  const bias = list(
    "float32",
    Array.from({ length: n }, () => f32(rng.int(-50, 50) / 64)),
  );
  const hasBias = rng.chance(0.5);
  const expected = build([...dims.slice(0, -1), n], (place) => {
    const column = place.at(-1) as number;
    let acc = 0;
    for (let p = 0; p < k; p++)
      acc += (read(q, [...place.slice(0, -1), p]) - zero) * (read(w, [p, column]) - at(zeros, column));
    const product = f32(f32(acc) * f32(scale * at(scales, column)));
    return hasBias ? f32(product + at(bias, column)) : product;
  });
  return caseOf({
    inputs: { x },
    nodes: [
      QUANTIZE,
      node("MatMulInteger", ["q", "w", "z", "wz"], {}, "m"),
      node("Mul", ["s", "ws"], {}, "f"),
      node("Cast", ["m"], { to: 1 }, "c"),
      node("Mul", ["c", "f"], {}, hasBias ? "p" : "y"),
      ...(hasBias ? [node("Add", ["p", "b"])] : []),
    ],
    constants: { w, wz: zeros, ws: scales, b: bias },
    outputs: { y: "float32" },
    expected: { y: expected },
  });
};

const conv: Reference = (rng) => {
  const axes = rng.int(1, 2);
  const groups = rng.pick([1, 1, 2]);
  const [per, filters] = [rng.int(1, 3), groups * rng.int(1, 3)];
  const [kernel, spatial] = [integers(rng, axes, 1, 3), integers(rng, axes, 4, 6)];
  const [strides, pads] = [integers(rng, axes, 1, 2), integers(rng, 2 * axes, 0, 2)];
  const dims = [rng.int(1, 2), groups * per, ...spatial];
  const x = drawnActivation(rng, dims);
  const { q, scale, zero } = quantizedDynamically(x);
  const { w, zeros, scales } = drawnWeights(rng, [filters, per, ...kernel], 0, true);
  const out = spatial.map(
    (size, i) =>
      Math.floor(
        (size + (pads[i] as number) + (pads[i + axes] as number) - (kernel[i] as number)) /
          (strides[i] as number),
      ) + 1,
  );
  const expected = build([dims[0] as number, filters, ...out], ([image = 0, filter = 0, ...p]) => {
    let acc = 0;
    const first = Math.floor((filter * groups) / filters) * per;
    for (const tap of positions(kernel)) {
      const place = p.map((v, i) => v * (strides[i] as number) + (tap[i] as number) - (pads[i] as number));
      if (place.some((v, i) => v < 0 || v >= (spatial[i] as number))) continue;
      for (let c = 0; c < per; c++)
        acc += (read(q, [image, first + c, ...place]) - zero) * (read(w, [filter, c, ...tap]) - at(zeros, 0));
    }
    return f32(f32(acc) * f32(scale * at(scales, filter)));
  });
  const perFilter = scales.dims.length > 0;
  return caseOf({
    inputs: { x },
    nodes: [
      QUANTIZE,
      node("ConvInteger", ["q", "w", "z", "wz"], { group: groups, strides, pads }, "m"),
      node("Cast", ["m"], { to: 1 }, "c"),
      node("Mul", ["s", "ws"], {}, "f"),
      node("Mul", ["c", "f"]),
    ],
    constants: {
      w,
      wz: zeros,
      ws: perFilter ? { ...scales, dims: [filters, ...kernel.map(() => 1)] } : scales,
    },
    outputs: { y: "float32" },
    expected: { y: expected },
  });
};

/** Both operands are quantized as they come, as attention has them. */
const computedProduct: Reference = (rng) => {
  const [m, k, n] = [rng.int(1, 5), rng.int(1, 9), rng.int(1, 5)];
  const [a, b] = [drawnActivation(rng, [m, k]), drawn(rng, "float32", [k, n])];
  const [first, second] = [quantizedDynamically(a), quantizedDynamically(b)];
  const expected = build([m, n], ([i = 0, j = 0]) => {
    let acc = 0;
    for (let p = 0; p < k; p++)
      acc += (read(first.q, [i, p]) - first.zero) * (read(second.q, [p, j]) - second.zero);
    return acc;
  });
  return caseOf({
    inputs: { x: a, u: b },
    nodes: [
      QUANTIZE,
      { op: "DynamicQuantizeLinear", inputs: ["u"], outputs: ["r", "t", "v"] },
      node("MatMulInteger", ["q", "r", "z", "v"]),
    ],
    outputs: { y: "int32" },
    expected: { y: expected },
  });
};

export const DYNAMIC: Readonly<Record<string, Reference>> = {
  DynamicQuantizeLinear: dynamicQuantizeLinear,
  "MatMulInteger with a computed zero point": matMul,
  "ConvInteger with a computed zero point": conv,
  "MatMulInteger of two computed operands": computedProduct,
};
