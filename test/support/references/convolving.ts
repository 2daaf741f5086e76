import { build, integers, node, type Plain, positions, type Reference, read } from "./plain.ts";
import { productCase } from "./product-case.ts";
import { biasOf, operand } from "./quantized.ts";

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

export const CONVOLVING: Readonly<Record<string, Reference>> = {
  "Conv in groups": conv,
  ConvTranspose: convTranspose,
};
