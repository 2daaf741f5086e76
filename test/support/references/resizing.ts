/** References of Resize and Upsample to the nearest element. */
import { moved, TYPES } from "./moved.ts";
import { build, clamp, drawn, f32, list, node, type Plain, type Reference, read, shape } from "./plain.ts";

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
    // half_pixel_symmetric came with operator set 19.
    const opset = by === "half_pixel_symmetric" ? 21 : rng.pick([13, 21]);
    const isDefault = by === "half_pixel" && rounding === "round_prefer_floor" && rng.chance(0.5);
    const attributes = {
      mode: "nearest",
      ...(isDefault ? {} : { coordinate_transformation_mode: by, nearest_mode: rounding }),
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
    return moved(type, x, made, expected, constants, isListed ? 21 : opset);
  }
};

/** The last one before Resize could choose, and the first Resize. */
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
  const [op, opset] = rng.pick([
    ["Upsample", 9],
    ["Resize", 10],
  ] as const);
  const made = node(op, ["x", "s"], rng.chance(0.5) ? { mode: "nearest" } : {});
  return moved(type, x, made, expected, { s: list("float32", factors) }, opset);
};

export const RESIZING: Readonly<Record<string, Reference>> = { Resize: resize, Upsample: upsample };
