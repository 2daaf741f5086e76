/** References of operators that lay out, cut or repeat elements. */

import type { Rng } from "../rng.ts";
import {
  build,
  caseOf,
  clamp,
  drawn,
  eitherEnd,
  f32,
  integers,
  LIMITS,
  list,
  node,
  type Plain,
  type Reference,
  read,
  scalar,
  shape,
  shuffled,
  tensor,
} from "./plain.ts";

const TYPES = ["uint8", "int8", "int32", "float32"] as const;

/** One node from x to y, both of one type. */
const moved = (
  type: (typeof TYPES)[number],
  x: Plain,
  made: ReturnType<typeof node>,
  expected: Plain,
  constants: Parameters<typeof caseOf>[0]["constants"] = {},
  opset = 21,
) =>
  caseOf({
    inputs: { x: tensor(type, x) },
    nodes: [made],
    constants,
    outputs: { y: type },
    expected: { y: expected },
    opset,
  });

/** The source position of a padded one; undefined where the pad value stands. */
function sourceOf(p: number, size: number, mode: string): number | undefined {
  let at = p;
  while (at < 0 || at >= size) {
    if (mode === "constant") return undefined;
    if (mode === "edge") at = at < 0 ? 0 : size - 1;
    else if (mode === "wrap") at += at < 0 ? size : -size;
    else at = at < 0 ? -at : 2 * (size - 1) - at;
  }
  return at;
}

/** Negative pads cut; what is left is padded. */
export function padded(
  x: Plain,
  before: readonly number[],
  after: readonly number[],
  mode: string,
  fill: number,
): Plain {
  const left = x.dims.map((d, i) => d + Math.min(before[i] as number, 0) + Math.min(after[i] as number, 0));
  const cut = build(left, (at) =>
    read(
      x,
      at.map((p, i) => p - Math.min(before[i] as number, 0)),
    ),
  );
  const dims = left.map((d, i) => d + Math.max(before[i] as number, 0) + Math.max(after[i] as number, 0));
  return build(dims, (at) => {
    const from = at.map((p, i) => sourceOf(p - Math.max(before[i] as number, 0), left[i] as number, mode));
    return from.some((p) => p === undefined) ? fill : read(cut, from as number[]);
  });
}

interface Pads {
  readonly before: number[];
  readonly after: number[];
}

/** A pad of each side of each axis, which leaves at least one element, and which a reflection can reach. */
function drawPads(rng: Rng, dims: readonly number[], mode: string): Pads {
  const [before, after]: [number[], number[]] = [[], []];
  for (const dim of dims) {
    const isCut = dim > 2 && rng.chance(0.25);
    const cuts = isCut
      ? rng.pick([
          [-1, 0],
          [0, -1],
          [-1, -1],
          [-1, 1],
          [1, -1],
        ] as const)
      : undefined;
    const left = dim + (cuts ?? []).reduce((sum: number, p) => sum + Math.min(p, 0), 0);
    const most = Math.min(
      mode === "reflect" ? left - 1 : mode === "wrap" ? left : 2,
      dims.length > 3 ? 1 : 2,
    );
    const pads = cuts ?? integers(rng, 2, 0, most);
    before.push(Math.min(pads[0] as number, most));
    after.push(Math.min(pads[1] as number, most));
  }
  return { before, after };
}

const pad: Reference = (rng) => {
  const dims = shape(rng, rng.int(1, 5));
  const mode = rng.pick(["constant", "constant", "edge", "reflect", "wrap"]);
  const type = rng.pick(TYPES);
  const x = drawn(rng, type, dims);
  const { before, after } = drawPads(rng, dims, mode);
  const all = dims.map((_, i) => i);
  // Some axes alone, in any order; the others keep their size.
  const axes = rng.chance(0.4) ? shuffled(rng, all).slice(0, rng.int(1, all.length)) : undefined;
  const padOf = (pads: readonly number[]): number[] =>
    pads.map((p, i) => (axes === undefined || axes.includes(i) ? p : 0));
  const given = axes ?? all;
  const fill = mode !== "constant" || rng.chance(0.3) ? 0 : type === "uint8" ? 200 : -7;
  const constants = {
    p: list("int64", [...given.map((a) => before[a] as number), ...given.map((a) => after[a] as number)]),
    v: scalar(type, fill),
    ...(axes === undefined
      ? {}
      : {
          a: list(
            "int64",
            axes.map((a) => eitherEnd(rng, a, dims.length)),
          ),
        }),
  };
  const inputs = ["x", "p", fill === 0 ? "" : "v", ...(axes === undefined ? [] : ["a"])];
  const expected = padded(x, padOf(before), padOf(after), mode, fill);
  return moved(type, x, node("Pad", inputs, { mode }), expected, constants);
};

/** Bytes that stand for numbers: 0 is their zero point. */
const padOfNumbers: Reference = (rng) => {
  const type = rng.pick(["uint8", "int8"] as const);
  const dims = shape(rng, rng.int(1, 4));
  const x = drawn(rng, type, dims);
  const { before, after } = drawPads(rng, dims, "constant");
  const zero = rng.int(...LIMITS[type]);
  const steps = rng.chance(0.5) ? 0 : rng.int(-9, 9);
  return caseOf({
    inputs: { x },
    nodes: [
      node("DequantizeLinear", ["x", "s", "z"], {}, "r"),
      node("Pad", ["r", "p", "v"], {}, "w"),
      node("QuantizeLinear", ["w", "s", "z"]),
    ],
    constants: {
      s: scalar("float32", 0.25),
      z: scalar(type, zero),
      p: list("int64", [...before, ...after]),
      v: scalar("float32", steps / 4),
    },
    outputs: { y: type },
    expected: { y: padded(x, before, after, "constant", clamp(zero + steps, LIMITS[type])) },
  });
};

const slice: Reference = (rng) => {
  const type = rng.pick(TYPES);
  const dims = shape(rng, rng.int(1, 5)).map((d) => d + 1);
  const x = drawn(rng, type, dims);
  const steps = dims.map(() => rng.pick([1, 2, -1, -2, 3]));
  const starts = dims.map((d) => rng.int(0, d - 1));
  const counts = dims.map((d, i) => {
    const [start, step] = [starts[i] as number, steps[i] as number];
    return rng.int(1, 1 + Math.floor(step > 0 ? (d - 1 - start) / step : start / -step));
  });
  const ends = counts.map(
    (n, i) => (starts[i] as number) + (n - 1) * (steps[i] as number) + Math.sign(steps[i] as number),
  );
  const expected = build(counts, (at) =>
    read(
      x,
      at.map((p, i) => (starts[i] as number) + p * (steps[i] as number)),
    ),
  );
  const constants = {
    s: list(
      "int64",
      starts.map((s, i) => eitherEnd(rng, s, dims[i] as number)),
    ),
    // An end before the first element has no number from the end.
    e: list(
      "int64",
      ends.map((e) => (e < 0 ? -(10 ** 6) : e)),
    ),
    a: list(
      "int64",
      [...dims.keys()].map((a) => eitherEnd(rng, a, dims.length)),
    ),
    p: list("int64", steps),
  };
  return moved(type, x, node("Slice", ["x", "s", "e", "a", "p"]), expected, constants);
};

const depthToSpace: Reference = (rng) => {
  const type = rng.pick(TYPES);
  const [n, c, h, w, b] = [rng.int(1, 2), rng.int(1, 3), rng.int(1, 4), rng.int(1, 4), rng.int(1, 3)];
  const mode = rng.pick(["DCR", "CRD"]);
  const x = drawn(rng, type, [n, c * b * b, h, w]);
  const expected = build([n, c, h * b, w * b], ([i = 0, k = 0, row = 0, column = 0]) => {
    const within = (row % b) * b + (column % b);
    const channel = mode === "CRD" ? k * b * b + within : within * c + k;
    return read(x, [i, channel, Math.floor(row / b), Math.floor(column / b)]);
  });
  const attributes = { blocksize: b, ...(mode === "DCR" && rng.chance(0.5) ? {} : { mode }) };
  return moved(type, x, node("DepthToSpace", ["x"], attributes), expected);
};

const spaceToDepth: Reference = (rng) => {
  const type = rng.pick(TYPES);
  const [n, c, h, w, b] = [rng.int(1, 2), rng.int(1, 3), rng.int(1, 3), rng.int(1, 3), rng.int(1, 3)];
  const x = drawn(rng, type, [n, c, h * b, w * b]);
  const expected = build([n, c * b * b, h, w], ([i = 0, k = 0, row = 0, column = 0]) => {
    const within = Math.floor(k / c);
    return read(x, [i, k % c, row * b + Math.floor(within / b), column * b + (within % b)]);
  });
  return moved(type, x, node("SpaceToDepth", ["x"], { blocksize: b }), expected);
};

/** Position in the source, as a real number. */
export const COORDINATES: Readonly<
  Record<string, (x: number, scale: number, from: number, to: number) => number>
> = {
  half_pixel: (x, scale) => (x + 0.5) / scale - 0.5,
  half_pixel_symmetric: (x, scale, from, to) => {
    const offset = (from / 2) * (1 - to / (scale * from));
    return offset + (x + 0.5) / scale - 0.5;
  },
  pytorch_half_pixel: (x, scale, _, to) => (to > 1 ? (x + 0.5) / scale - 0.5 : 0),
  align_corners: (x, _, from, to) => (to === 1 ? 0 : (x * (from - 1)) / (to - 1)),
  asymmetric: (x, scale) => x / scale,
};
export const NEAREST: Readonly<Record<string, (x: number) => number>> = {
  round_prefer_floor: (x) => (x - Math.floor(x) === 0.5 ? Math.floor(x) : Math.round(x)),
  round_prefer_ceil: (x) => (x - Math.floor(x) === 0.5 ? Math.ceil(x) : Math.round(x)),
  floor: Math.floor,
  ceil: Math.ceil,
};

/** True where binary32 may take the coordinate to the other side of a border between two elements. */
function isClose(x: number, rounding: string, isExact: boolean): boolean {
  const border = rounding.startsWith("round") ? 0.5 : 0;
  const distance = x - border - Math.round(x - border);
  return (distance !== 0 || !isExact) && Math.abs(distance) < 1e-4;
}

interface ResizedAxis {
  readonly from: number;
  readonly to: number;
  readonly scale: number;
}

/** Undefined where the exact position is so near to a border that binary32 decides. */
export function resized(
  x: Plain,
  axes: readonly ResizedAxis[],
  by: string,
  rounding: string,
): Plain | undefined {
  const [coordinate, nearest] = [COORDINATES[by], NEAREST[rounding]];
  if (coordinate === undefined || nearest === undefined) throw new RangeError(`${by}, ${rounding}`);
  const reals = axes.map(({ from, to, scale }) =>
    Array.from({ length: to }, (_, at) => coordinate(at, scale, from, to)),
  );
  const isExact = (axis: number): boolean => {
    const { scale } = axes[axis] as ResizedAxis;
    return by === "align_corners" || f32(scale) === scale;
  };
  if (reals.some((list, axis) => list.some((r) => isClose(r, rounding, isExact(axis))))) return undefined;
  return build(
    axes.map(({ to }) => to),
    (at) =>
      read(
        x,
        at.map((p, i) =>
          clamp(nearest((reals[i] as number[])[p] as number), [0, (axes[i] as ResizedAxis).from - 1]),
        ),
      ),
  );
}

const resize: Reference = (rng) => {
  for (;;) {
    const type = rng.pick(TYPES);
    const dims = shape(rng, rng.int(1, 4), 6);
    const by = rng.pick(Object.keys(COORDINATES));
    const rounding = rng.pick(Object.keys(NEAREST));
    const bySizes = rng.chance(0.4);
    const chosen = dims.map(() => rng.chance(0.7));
    const isListed = rng.chance(0.3) && chosen.includes(true);
    const axes = dims.map((from, i): ResizedAxis => {
      if (!chosen[i]) return { from, to: from, scale: 1 };
      if (bySizes) {
        const to = rng.chance(0.2) ? 1 : rng.int(1, 9);
        return { from, to, scale: to / from };
      }
      const scale = rng.pick([1, 2, 3, 0.5, 1.5, 2.25, 0.75]);
      return {
        from,
        to: Math.max(1, Math.floor(from * scale)),
        scale: Math.floor(from * scale) < 1 ? 1 : scale,
      };
    });
    if (axes.some(({ from, to, scale }) => !bySizes && to !== Math.floor(from * scale))) continue;
    const x = drawn(rng, type, dims);
    const expected = resized(x, axes, by, rounding);
    if (expected === undefined) continue;
    const listed = isListed ? dims.flatMap((_, i) => (chosen[i] ? [i] : [])) : dims.map((_, i) => i);
    const of = (f: (axis: ResizedAxis) => number): number[] => listed.map((i) => f(axes[i] as ResizedAxis));
    const attributes = {
      mode: "nearest",
      coordinate_transformation_mode: by,
      nearest_mode: rounding,
      ...(isListed ? { axes: listed } : {}),
    };
    const constants = bySizes
      ? {
          z: list(
            "int64",
            of(({ to }) => to),
          ),
        }
      : {
          s: list(
            "float32",
            of(({ scale }) => scale),
          ),
        };
    const made = node("Resize", ["x", "", ...(bySizes ? ["", "z"] : ["s"])], attributes);
    return moved(type, x, made, expected, constants);
  }
};

const upsample: Reference = (rng) => {
  const type = rng.pick(["uint8", "int32", "float32"] as const);
  const dims = shape(rng, 4, 4);
  const factors = [1, 1, rng.pick([1, 2, 3, 1.5]), rng.pick([1, 2, 2.5])];
  const x = drawn(rng, type, dims);
  const expected = build(
    dims.map((d, i) => Math.floor(d * (factors[i] as number))),
    (at) =>
      read(
        x,
        at.map((p, i) => Math.floor(p / (factors[i] as number))),
      ),
  );
  const made = node("Upsample", ["x", "s"], { mode: "nearest" });
  return moved(type, x, made, expected, { s: list("float32", factors.map(f32)) }, 9);
};

const trilu: Reference = (rng) => {
  const type = rng.pick(TYPES);
  const dims = shape(rng, rng.int(2, 4));
  const [upper, k] = [rng.int(0, 1), rng.int(-4, 4)];
  const x = drawn(rng, type, dims);
  const expected = build(dims, (at) => {
    const [row = 0, column = 0] = at.slice(-2);
    return (upper === 1 ? column - row >= k : column - row <= k) ? read(x, at) : 0;
  });
  const constants = k === 0 ? {} : { k: scalar("int64", k) };
  const made = node("Trilu", k === 0 ? ["x"] : ["x", "k"], upper === 1 && k === 0 ? {} : { upper });
  return moved(type, x, made, expected, constants);
};

export const PLACING: Readonly<Record<string, Reference>> = {
  Pad: pad,
  "Pad of dequantized bytes": padOfNumbers,
  Slice: slice,
  DepthToSpace: depthToSpace,
  SpaceToDepth: spaceToDepth,
  Resize: resize,
  Upsample: upsample,
  Trilu: trilu,
};
