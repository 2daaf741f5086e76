/** References of products: every element is a sum over loops, in binary64. */
import type { TestNode, TestTensor } from "../onnx-file.ts";
import type { Rng } from "../rng.ts";
import {
  build,
  caseOf,
  f32,
  integers,
  node,
  type Plain,
  positions,
  type Reference,
  read,
  readWide,
  shape,
  shuffled,
} from "./plain.ts";
import { biasOf, type Operand, operand, quantized } from "./quantized.ts";

/** x and other operands, a node from them to p, and p quantized. @param made inputs of the node are xr, wr, … */
function productCase(
  rng: Rng,
  real: Plain,
  made: TestNode,
  inputs: Readonly<Record<string, Pick<Operand, "bytes" | "node" | "constants">>>,
  weights: Readonly<Record<string, Pick<Operand, "bytes" | "node" | "constants">>>,
  extra: Readonly<Record<string, TestTensor>> = {},
) {
  const y = quantized(rng, real);
  const all = Object.values({ ...inputs, ...weights });
  const bytes = (named: typeof inputs): Record<string, TestTensor> =>
    Object.fromEntries(Object.entries(named).map(([name, { bytes: q }]) => [name, q]));
  return caseOf({
    inputs: bytes(inputs),
    nodes: [...all.map((one) => one.node), made, y.node],
    constants: Object.assign(
      {},
      bytes(weights),
      y.constants,
      extra,
      ...all.map(({ constants }) => constants),
    ),
    outputs: { y: y.type },
    expected: { y: y.expected },
  });
}

interface Windows {
  readonly groups: number;
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly before: readonly number[];
  readonly out: readonly number[];
}

/** `Σ x[n, channel of the group, p·stride + k·dilation − before]·w[o, channel, k] + bias[o]`, nothing outside. */
function convolved(
  x: Plain,
  w: Plain,
  bias: Plain | undefined,
  { groups, strides, dilations, before, out }: Windows,
): Plain {
  const [batch = 1, , ...spatial] = x.dims;
  const [filters = 1, per = 1, ...kernel] = w.dims;
  return build([batch, filters, ...out], ([n = 0, o = 0, ...p]) => {
    let sum = bias === undefined ? 0 : read(bias, [o]);
    const first = Math.floor((o * groups) / filters) * per;
    for (const k of positions(kernel)) {
      const at = p.map(
        (v, i) =>
          v * (strides[i] as number) + (k[i] as number) * (dilations[i] as number) - (before[i] as number),
      );
      if (at.some((v, i) => v < 0 || v >= (spatial[i] as number))) continue;
      for (let c = 0; c < per; c++) sum += read(x, [n, first + c, ...at]) * read(w, [o, c, ...k]);
    }
    return sum;
  });
}

/** Pads of each end so that `ceil(size / stride)` windows fit. */
function same(
  size: number,
  kernel: number,
  stride: number,
  dilation: number,
  isUpper: boolean,
): readonly [number, number] {
  const total = Math.max(0, (Math.ceil(size / stride) - 1) * stride + (kernel - 1) * dilation + 1 - size);
  const less = Math.floor(total / 2);
  return isUpper ? [less, total - less] : [total - less, less];
}

const conv: Reference = (rng) => {
  const axes = rng.int(1, 2);
  const groups = rng.pick([1, 2, 3]);
  const [per, filters, batch] = [rng.int(1, 3), groups * rng.int(1, 3), rng.int(1, 4)];
  const kernel = integers(rng, axes, 1, 3);
  const spatial = integers(rng, axes, 4, 7);
  const [strides, dilations] = [integers(rng, axes, 1, 2), integers(rng, axes, 1, 2)];
  const auto = rng.pick(["NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]);
  // Some runtimes take no dilation beside automatic pads.
  const steps = auto === "NOTSET" ? dilations : dilations.map(() => 1);
  const given = spatial.map((size, i): readonly [number, number] => {
    if (auto === "VALID") return [0, 0];
    if (auto === "NOTSET") return [rng.int(0, 2), rng.int(0, 2)];
    return same(size, kernel[i] as number, strides[i] as number, steps[i] as number, auto === "SAME_UPPER");
  });
  const [before, after] = [0, 1].map((side) => given.map((pads) => pads[side] as number)) as [
    number[],
    number[],
  ];
  const out = spatial.map(
    (size, i) =>
      Math.floor(
        (size +
          (before[i] as number) +
          (after[i] as number) -
          ((kernel[i] as number) - 1) * (steps[i] as number) -
          1) /
          (strides[i] as number),
      ) + 1,
  );
  if (out.some((size) => size < 1)) return conv(rng);
  const x = operand(rng, "x", [batch, groups * per, ...spatial]);
  const w = operand(rng, "w", [filters, per, ...kernel], {
    ...(rng.chance(0.5) ? { axis: 0 } : {}),
    size: 0.01,
  });
  const b = rng.chance(0.5) ? biasOf(rng, filters, x, w) : undefined;
  const real = convolved(x.real, w.real, b?.real, { groups, strides, dilations: steps, before, out });
  const attributes = {
    group: groups,
    strides,
    ...(auto === "NOTSET" ? { dilations, pads: [...before, ...after] } : { auto_pad: auto }),
  };
  const made = node("Conv", ["xr", "wr", ...(b === undefined ? [] : ["br"])], attributes, "p");
  return productCase(rng, real, made, { x }, { w, ...(b === undefined ? {} : { b }) });
};

const convTranspose: Reference = (rng) => {
  const axes = rng.int(1, 2);
  const groups = rng.pick([1, 1, 2]);
  const [inner, outer, batch] = [groups * rng.int(1, 3), rng.int(1, 3), rng.int(1, 2)];
  const [kernel, spatial] = [integers(rng, axes, 1, 3), integers(rng, axes, 2, 5)];
  const [strides, dilations] = [integers(rng, axes, 1, 3), integers(rng, axes, 1, 2)];
  const reach = kernel.map((k, i) => (k - 1) * (dilations[i] as number));
  const extra = strides.map((s) => (s > 1 && rng.chance(0.4) ? rng.int(0, s - 1) : 0));
  const full = spatial.map(
    (size, i) => (size - 1) * (strides[i] as number) + (reach[i] as number) + 1 + (extra[i] as number),
  );
  const way = rng.pick(["pads", "pads", "output_shape", "SAME_UPPER", "SAME_LOWER", "VALID"]);
  const given = spatial.map((size, i): readonly [number, number] => {
    const most = reach[i] as number;
    if (way === "VALID") return [0, 0];
    if (way === "pads") return [rng.int(0, Math.min(most, 2)), rng.int(0, Math.min(most, 2))];
    const wanted =
      way === "output_shape"
        ? (full[i] as number) - rng.int(0, Math.min(most, 3))
        : size * (strides[i] as number);
    const total = Math.max(0, (full[i] as number) - wanted);
    const less = Math.floor(total / 2);
    return way === "SAME_UPPER" ? [less, total - less] : [total - less, less];
  });
  const [before, after] = [0, 1].map((side) => given.map((pads) => pads[side] as number)) as [
    number[],
    number[],
  ];
  // What the importer refuses: pads beyond the kernel's reach.
  if (
    before.some((p, i) => p > (reach[i] as number)) ||
    after.some((p, i) => p > (reach[i] as number) + (extra[i] as number))
  )
    return convTranspose(rng);
  const out = full.map((size, i) => size - (before[i] as number) - (after[i] as number));
  if (out.some((size) => size < 1)) return convTranspose(rng);
  const x = operand(rng, "x", [batch, inner, ...spatial]);
  const w = operand(rng, "w", [inner, outer, ...kernel], {
    ...(groups === 1 && rng.chance(0.5) ? { axis: 1 } : {}),
    size: 0.01,
  });
  const b = rng.chance(0.5) ? biasOf(rng, groups * outer, x, w) : undefined;
  // Each element of the input adds the kernel, times itself, to the output.
  const sums = new Map<string, number>();
  const per = inner / groups;
  for (const [n = 0, c = 0, ...p] of positions(x.real.dims)) {
    for (const [m = 0, ...k] of positions([outer, ...kernel])) {
      const at = p.map(
        (v, i) =>
          v * (strides[i] as number) + (k[i] as number) * (dilations[i] as number) - (before[i] as number),
      );
      const key = [n, Math.floor(c / per) * outer + m, ...at].join();
      sums.set(key, (sums.get(key) ?? 0) + read(x.real, [n, c, ...p]) * read(w.real, [c, m, ...k]));
    }
  }
  const real = build(
    [batch, groups * outer, ...out],
    (at) => (sums.get(at.join()) ?? 0) + (b === undefined ? 0 : read(b.real, [at[1] as number])),
  );
  const attributes = {
    group: groups,
    strides,
    dilations,
    output_padding: extra,
    ...(way === "pads"
      ? { pads: [...before, ...after] }
      : way === "output_shape"
        ? { output_shape: out }
        : { auto_pad: way }),
  };
  const made = node("ConvTranspose", ["xr", "wr", ...(b === undefined ? [] : ["br"])], attributes, "p");
  return productCase(rng, real, made, { x }, { w, ...(b === undefined ? {} : { b }) });
};

const ADDENDS = ["none", "int32 bias", "computed bytes", "float32"] as const;

const gemm: Reference = (rng) => {
  const [m, k, n] = [rng.int(1, 6), rng.int(1, 12), rng.int(1, 7)];
  const [transA, transB] = [rng.int(0, 1), rng.int(0, 1)];
  const kind = rng.pick(ADDENDS);
  const isScaled = kind === "float32" || rng.chance(0.4);
  const [alpha, beta] = isScaled
    ? [f32(rng.pick([0.5, 0.7, 2, -1.5])), f32(rng.pick([0.25, 1.5, -1]))]
    : [1, 1];
  const x = operand(rng, "x", transA === 1 ? [k, m] : [m, k]);
  const columns = rng.chance(0.5) ? { axis: transB === 1 ? 0 : 1 } : {};
  const w = operand(rng, "w", transB === 1 ? [n, k] : [k, n], { ...columns, size: 0.01 });
  const wide = rng.pick([[m, n], [1, n], [n], [m, 1], [1, 1], [1], []]);
  const c =
    kind === "computed bytes"
      ? operand(rng, "c", wide, { size: 0.05 })
      : kind === "int32 bias"
        ? biasOf(rng, n, x, w)
        : undefined;
  const h = { type: "float32" as const, ...build(wide, () => rng.int(-40, 40) / 8) };
  const addend = kind === "float32" ? h : c?.real;
  const real = build([m, n], ([i = 0, j = 0]) => {
    let sum = 0;
    for (let p = 0; p < k; p++)
      sum += read(x.real, transA === 1 ? [p, i] : [i, p]) * read(w.real, transB === 1 ? [j, p] : [p, j]);
    return alpha * sum + (addend === undefined ? 0 : beta * readWide(addend, [i, j]));
  });
  const third = { none: [], "int32 bias": ["br"], "computed bytes": ["cr"], float32: ["h"] }[kind];
  const attributes = {
    transA,
    transB,
    ...(isScaled ? { alpha: { f: alpha }, beta: { f: beta } } : {}),
  };
  const made = node("Gemm", ["xr", "wr", ...third], attributes, "p");
  const inputs = kind === "computed bytes" ? { x, c: c as Operand } : { x };
  const weights = kind === "int32 bias" ? { w, b: c as Operand } : { w };
  return productCase(rng, real, made, inputs, weights, kind === "float32" ? { h } : {});
};

/** Letters of the axes that both operands and the result have, that one operand and the result have, that are summed. */
const einsum: Reference = (rng) => {
  const letters = shuffled(rng, [..."abcdefgh"]);
  const take = (n: number): string[] => letters.splice(0, n);
  const batch = take(rng.pick([0, 0, 1, 2]));
  const [rows, columns] = [take(rng.int(batch.length === 0 ? 1 : 0, 2)), take(rng.int(0, 2))];
  const inner = take(rng.int(1, 2));
  const sizes = new Map([...batch, ...rows, ...columns, ...inner].map((l) => [l, rng.int(1, 4)]));
  const dimsOf = (term: readonly string[]): number[] => term.map((l) => sizes.get(l) as number);
  const a = shuffled(rng, [...batch, ...rows, ...inner]);
  const b = shuffled(rng, [...batch, ...inner, ...columns]);
  const given = shuffled(rng, [...batch, ...rows, ...columns]);
  const x = operand(rng, "x", dimsOf(a));
  const w = operand(rng, "w", dimsOf(b), { size: 0.01 });
  const real = build(dimsOf(given), (at) => {
    const value = new Map(given.map((l, i) => [l, at[i] as number]));
    let sum = 0;
    for (const p of positions(dimsOf(inner))) {
      for (const [i, l] of inner.entries()) value.set(l, p[i] as number);
      const place = (term: readonly string[]): number[] => term.map((l) => value.get(l) as number);
      sum += read(x.real, place(a)) * read(w.real, place(b));
    }
    return sum;
  });
  const space = rng.chance(0.5) ? " " : "";
  const equation = `${a.join("")},${space}${b.join("")}${space}->${given.join("")}`;
  const made = node("Einsum", ["xr", "wr"], { equation }, "p");
  const isComputed = rng.chance(0.4);
  return productCase(rng, real, made, isComputed ? { x, w } : { x }, isComputed ? {} : { w });
};

const einsumTransposition: Reference = (rng) => {
  const type = rng.pick(["uint8", "int32", "float32"] as const);
  const dims = shape(rng, rng.int(1, 5));
  const letters = dims.map((_, i) => "abcde"[i] as string);
  const given = shuffled(rng, letters);
  const x = { type, ...build(dims, () => rng.int(0, 100)) };
  const order = given.map((l) => letters.indexOf(l));
  const expected = build(
    order.map((i) => dims[i] as number),
    (at) =>
      read(
        x,
        letters.map((_, axis) => at[order.indexOf(axis)] as number),
      ),
  );
  return caseOf({
    inputs: { x },
    nodes: [node("Einsum", ["x"], { equation: `${letters.join("")}->${given.join("")}` })],
    outputs: { y: type },
    expected: { y: expected },
  });
};

export const PRODUCTS: Readonly<Record<string, Reference>> = {
  "Conv in groups": conv,
  ConvTranspose: convTranspose,
  Gemm: gemm,
  Einsum: einsum,
  "Einsum of one operand": einsumTransposition,
};
