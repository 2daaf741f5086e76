/** References of operators that lay out, cut or repeat elements. */

import type { Rng } from "../rng.ts";
import { moved, TYPES } from "./moved.ts";
import {
  build,
  caseOf,
  clamp,
  drawn,
  eitherEnd,
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
} from "./plain.ts";

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
  Trilu: trilu,
};
