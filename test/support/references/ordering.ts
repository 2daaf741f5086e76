/** References of operators that count, order or divide integers. */
import {
  axisOf,
  bounded,
  build,
  caseOf,
  drawn,
  eitherEnd,
  f32,
  integers,
  joined,
  LIMITS,
  list,
  node,
  type Plain,
  positions,
  type Reference,
  read,
  readWide,
  scalar,
  shape,
  sizeOf,
} from "./plain.ts";

/** The sum of all elements up to each one along an axis. */
export function summed(x: Plain, axis: number, exclusive: number, reverse: number): Plain {
  return build(x.dims, (at) => {
    let sum = 0;
    for (let p = 0; p < (x.dims[axis] as number); p++) {
      const before = (reverse === 1 ? -1 : 1) * ((at[axis] as number) - p);
      if (before > 0 || (before === 0 && exclusive === 0))
        sum += read(
          x,
          at.map((v, i) => (i === axis ? p : v)),
        );
    }
    return sum;
  });
}

const cumSum: Reference = (rng) => {
  const dims = shape(rng, rng.int(1, 4), 7);
  const axis = rng.int(0, dims.length - 1);
  const [exclusive, reverse] = [rng.int(0, 1), rng.int(0, 1)];
  const x = drawn(rng, "int32", dims);
  const { nodes, constants } = bounded(-20_000, 20_000);
  return caseOf({
    inputs: { x },
    nodes: [...nodes, node("CumSum", ["i", "a"], { exclusive, reverse })],
    constants: { ...constants, a: scalar("int64", eitherEnd(rng, axis, dims.length)) },
    outputs: { y: "int32" },
    expected: { y: summed(x, axis, exclusive, reverse) },
  });
};

/** Place of each element in its row, by size and then by place. */
export function ranked(
  x: Plain,
  axis: number,
  k: number,
  isLargest: boolean,
): { values: Plain; indices: Plain } {
  const dims = x.dims.map((d, i) => (i === axis ? k : d));
  const row = (at: readonly number[]): (readonly [number, number])[] =>
    Array.from(
      { length: x.dims[axis] as number },
      (_, p) =>
        [
          read(
            x,
            at.map((v, i) => (i === axis ? p : v)),
          ),
          p,
        ] as const,
    ).sort(([a, p], [b, q]) => (isLargest ? b - a : a - b) || p - q);
  const part = (which: 0 | 1): Plain =>
    build(dims, (at) => (row(at)[at[axis] as number] as readonly [number, number])[which]);
  return { values: part(0), indices: part(1) };
}

const TOP_ENDS: Readonly<Record<string, readonly number[]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int8: LIMITS.int8,
  uint8: LIMITS.uint8,
  float32: [-(2 ** 20), 2 ** 20],
};

const topK: Reference = (rng) => {
  const type = rng.pick(["int32", "uint8", "int8", "float32"] as const);
  const isNumber = type === "float32" || (type !== "int32" && rng.chance(0.3));
  const dims = rng.chance(0.15) ? [rng.int(20, 60)] : shape(rng, rng.int(1, 3), 6);
  const axis = rng.int(0, dims.length - 1);
  const k = rng.int(1, Math.min(dims[axis] as number, 16));
  const largest = rng.int(0, 1);
  // Few numbers, so that many are equal, and the ends of the type.
  const few = [...(TOP_ENDS[type] as readonly number[]), 1, 2, 3];
  const x = { type, dims, data: Array.from({ length: sizeOf(dims) }, () => rng.pick(few)) };
  const { values, indices } = ranked(x, axis, k, largest === 1);
  const isDequantized = isNumber && type !== "float32";
  const inside = isDequantized ? "r" : "x";
  // Numbers and indices are no outputs of one model.
  const wanted = isNumber ? rng.pick(["values", "indices"] as const) : "both";
  const outputs = { values: ["y", "unread"], indices: ["unread", "j"], both: ["y", "j"] }[wanted];
  const top = {
    op: "TopK",
    inputs: [inside, "k"],
    outputs,
    attributes: {
      ...axisOf(rng, axis, dims.length, -1),
      ...(largest === 1 && rng.chance(0.5) ? {} : { largest }),
    },
  };
  return caseOf({
    inputs: { x },
    nodes: [...(isDequantized ? [node("DequantizeLinear", ["x", "s"], {}, "r")] : []), top],
    constants: { k: list("int64", [k]), s: scalar("float32", 1) },
    outputs: {
      ...(wanted === "indices" ? {} : { y: isDequantized ? ("float32" as const) : type }),
      ...(wanted === "values" ? {} : { j: "int64" as const }),
    },
    expected: {
      ...(wanted === "indices" ? {} : { y: values }),
      ...(wanted === "values" ? {} : { j: indices }),
    },
  });
};

/** The remainder with the sign of the divisor; with fmod with that of the dividend. */
export const remainder = (x: number, y: number, fmod: number): number =>
  x - y * (fmod === 1 ? Math.trunc(x / y) : Math.floor(x / y));

const mod: Reference = (rng) => {
  const type = rng.pick(["int8", "uint8", "int32"] as const);
  const fmod = rng.int(0, 1);
  const dims = shape(rng, rng.int(1, 3));
  const x = drawn(rng, type, dims);
  const isComputed = rng.chance(0.3);
  const wide = shape(rng, rng.int(0, dims.length)).map((_, i, all) =>
    rng.chance(0.7) ? (dims[dims.length - all.length + i] as number) : 1,
  );
  const least = type === "uint8" || isComputed ? 1 : -20;
  const divisors = integers(rng, sizeOf(wide), least, 20).map((d) =>
    d !== 0 ? d : type === "int8" ? -128 : 7,
  );
  const d = { type, dims: wide, data: divisors };
  const expected = build(joined(dims, wide), (at) => remainder(readWide(x, at), readWide(d, at), fmod) + 0);
  const bounds = {
    lo: scalar(type, -20_000),
    hi: scalar(type, 20_000),
    one: scalar(type, 1),
    most: scalar(type, 20),
  };
  const dividend = type === "int32" ? [node("Clip", ["x", "lo", "hi"], {}, "i")] : [];
  const divisor = isComputed ? [node("Clip", ["u", "one", "most"], {}, "d")] : [];
  const { lo, hi, one, most } = bounds;
  return caseOf({
    inputs: { x, ...(isComputed ? { u: d } : {}) },
    nodes: [
      ...dividend,
      ...divisor,
      node("Mod", [type === "int32" ? "i" : "x", "d"], fmod === 0 && rng.chance(0.5) ? {} : { fmod }),
    ],
    constants: {
      ...(type === "int32" ? { lo, hi } : {}),
      ...(isComputed ? { one, most } : { d }),
    },
    outputs: { y: type },
    expected: { y: expected },
  });
};

/** 1 at the first of a row's largest elements. */
const hardmax: Reference = (rng) => {
  const dims = shape(rng, rng.int(2, 4));
  const isOld = rng.chance(0.3);
  const axis = rng.int(0, dims.length - 1);
  const x = {
    type: "float32" as const,
    dims,
    data: Array.from({ length: sizeOf(dims) }, () => rng.pick([-2, -1, 0.5, 3])),
  };
  // Before operator set 13 all axes from this one on are one row.
  const inRow = (p: readonly number[], q: readonly number[]): boolean =>
    p.every((v, i) => (isOld ? i >= axis : i === axis) || v === q[i]);
  const places = [...positions(dims)];
  const all = [...places.keys()];
  const expected = build(dims, (at) => {
    const row = all.filter((i) => inRow(places[i] as readonly number[], at));
    const top = Math.max(...row.map((i) => x.data[i] as number));
    const first = row.find((i) => x.data[i] === top) as number;
    return (places[first] as readonly number[]).join() === at.join() ? 1 : 0;
  });
  return caseOf({
    inputs: { x },
    nodes: [node("Hardmax", ["x"], axisOf(rng, axis, dims.length, isOld ? 1 : -1))],
    outputs: { y: "float32" },
    expected: { y: expected },
    opset: isOld ? 11 : rng.pick([13, 21]),
  });
};

/** From left to right, each sum rounded. */
const mean: Reference = (rng) => {
  const dims = shape(rng, rng.int(1, 3));
  const tensors = Array.from({ length: rng.int(1, 4) }, (_, i) => {
    const wide = dims.slice(rng.int(0, dims.length)).map((d) => (rng.chance(0.3) ? 1 : d));
    return drawn(rng, "int32", i === 0 ? dims : wide);
  });
  const names = tensors.map((_, i) => `x${i}`);
  const expected = build(joined(...tensors.map((t) => t.dims)), (at) => {
    const sum = tensors.map((t) => f32(readWide(t, at) / 3)).reduce((a, b) => f32(a + b));
    return f32(sum / tensors.length);
  });
  const thirds = names.flatMap((name) => [
    node("Clip", [name, "least", "most"], {}, `${name}i`),
    node("Cast", [`${name}i`], { to: 1 }, `${name}c`),
    node("Div", [`${name}c`, "three"], {}, `${name}r`),
  ]);
  return caseOf({
    inputs: Object.fromEntries(tensors.map((t, i) => [`x${i}`, t])),
    nodes: [
      ...thirds,
      node(
        "Mean",
        names.map((name) => `${name}r`),
      ),
    ],
    constants: { ...bounded(-20_000, 20_000).constants, three: scalar("float32", 3) },
    outputs: { y: "float32" },
    expected: { y: { ...expected, isNear: true } },
  });
};

export const ORDERING: Readonly<Record<string, Reference>> = {
  CumSum: cumSum,
  TopK: topK,
  Mod: mod,
  Hardmax: hardmax,
  Mean: mean,
};
