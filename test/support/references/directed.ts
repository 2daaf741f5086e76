/** Cases of the references that no chance decides: every mode, every border, every byte. */
import { ranked, remainder, summed } from "./ordering.ts";
import { padded } from "./placing.ts";
import { bounded, build, caseOf, list, node, type Plain, type ReferenceCase, scalar } from "./plain.ts";
import { COORDINATES, NEAREST, resized } from "./resizing.ts";

const upTo = (n: number, from = 0): number[] => Array.from({ length: n }, (_, i) => i + from);
const row = (data: readonly number[]): Plain => ({ dims: [data.length], data });
const int32 = (x: Plain) => ({ type: "int32" as const, ...x });

/** A row of three, cut and padded on both sides. */
function pads(): ReferenceCase[] {
  const x = row([10, 20, 30]);
  const sides = upTo(16).map((i) => [(i % 4) - 1, Math.floor(i / 4) - 1] as const);
  return ["constant", "edge", "reflect", "wrap"].flatMap((mode) =>
    sides.flatMap(([before, after]) => {
      const left = 3 + Math.min(before, 0) + Math.min(after, 0);
      if (mode === "reflect" && Math.max(before, after) >= left) return [];
      return caseOf({
        inputs: { x: int32(x) },
        nodes: [node("Pad", ["x", "p", "v"], { mode })],
        constants: { p: list("int64", [before, after]), v: scalar("int32", -1) },
        outputs: { y: "int32" },
        expected: { y: padded(x, [before], [after], mode, -1) },
      });
    }),
  );
}

/** Every way to find the nearest element, from 1 to 5 elements to 1 to 7. */
function resizes(): ReferenceCase[] {
  const ways = Object.keys(COORDINATES).flatMap((by) =>
    Object.keys(NEAREST).map((rounding) => [by, rounding] as const),
  );
  return ways.flatMap(([by, rounding]) =>
    upTo(35).flatMap((i) => {
      const [from, to] = [1 + (i % 5), 1 + Math.floor(i / 5)];
      const x = row(upTo(from, 1));
      const expected = resized(x, [{ from, to, scale: to / from }], by, rounding);
      if (expected === undefined) return [];
      return caseOf({
        inputs: { x: int32(x) },
        nodes: [
          node("Resize", ["x", "", "", "z"], { coordinate_transformation_mode: by, nearest_mode: rounding }),
        ],
        constants: { z: list("int64", [to]) },
        outputs: { y: "int32" },
        expected: { y: expected },
      });
    }),
  );
}

/** Every byte by divisors at the type's ends and around 0. */
function remainders(): ReferenceCase[] {
  const divisors = [-128, -127, -16, -3, -2, -1, 1, 2, 3, 16, 127];
  return (["int8", "uint8"] as const).flatMap((type) =>
    [0, 1].map((fmod) => {
      const least = type === "int8" ? -128 : 0;
      const y = divisors.filter((d) => d >= least);
      const bytes = upTo(256, least);
      const expected = build(
        [256, y.length],
        ([i = 0, j = 0]) => remainder(bytes[i] as number, y[j] as number, fmod) + 0,
      );
      return caseOf({
        inputs: { x: { type, dims: [256, 1], data: bytes } },
        nodes: [node("Mod", ["x", "d"], { fmod })],
        constants: { d: list(type, y) },
        outputs: { y: type },
        expected: { y: expected },
      });
    }),
  );
}

const LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33];

/** Lengths around the powers of two, by which sums are added up. */
const sums = (): ReferenceCase[] =>
  LENGTHS.flatMap((length) =>
    upTo(4).map((i) => {
      const [exclusive, reverse] = [i % 2, Math.floor(i / 2)];
      const x = row(upTo(length).map((p) => (p * p * 7) % 101));
      const { nodes, constants } = bounded(0, 100);
      return caseOf({
        inputs: { x: int32(x) },
        nodes: [...nodes, node("CumSum", ["i", "a"], { exclusive, reverse })],
        constants: { ...constants, a: scalar("int32", 0) },
        outputs: { y: "int32" },
        expected: { y: summed(x, 0, exclusive, reverse) },
      });
    }),
  );

/** Rows that are equal, sorted either way, or made of the type's ends. */
function tops(): ReferenceCase[] {
  const [least, most] = [-(2 ** 31), 2 ** 31 - 1];
  const rows: readonly ((p: number) => number)[] = [
    () => 5,
    () => least,
    () => most,
    (p) => p,
    (p) => -p,
    (p) => (p % 2 === 0 ? least : most),
    (p) => [least, 0, most][p % 3] as number,
  ];
  return LENGTHS.flatMap((length) =>
    [...new Set([1, 2, Math.min(length, 16)])]
      .filter((k) => k <= length)
      .flatMap((k) =>
        [0, 1].map((largest) => {
          const x = {
            dims: [rows.length, length],
            data: rows.flatMap((f) => upTo(length).map((p) => f(p) + 0)),
          };
          const { values, indices } = ranked(x, 1, k, largest === 1);
          return caseOf({
            inputs: { x: int32(x) },
            nodes: [{ op: "TopK", inputs: ["x", "k"], outputs: ["y", "j"], attributes: { largest } }],
            constants: { k: list("int64", [k]) },
            outputs: { y: "int32", j: "int64" },
            expected: { y: values, j: indices },
          });
        }),
      ),
  );
}

/** Every byte as an id, at depths around what a byte counts. */
const hots = (): ReferenceCase[] =>
  ([-128, 0, 128] as const).flatMap((least) =>
    [1, 127, 128, 129, 255, 256, 257].flatMap((depth) =>
      (["int8", "uint8"] as const)
        .filter((type) => (type === "int8" ? least < 128 : least >= 0))
        .map((type) => {
          const ids = row(upTo(128, least));
          const expected = build([128, depth], ([i = 0, p = 0]) => {
            const id = ids.data[i] as number;
            return Number(id === p || id + depth === p);
          });
          return caseOf({
            inputs: { x: { type, ...ids } },
            nodes: [node("OneHot", ["x", "d", "v"], {}, "h"), node("Cast", ["h"], { to: 2 })],
            constants: { d: scalar("int32", depth), v: list("int32", [0, 1]) },
            outputs: { y: "uint8" },
            expected: { y: expected },
          });
        }),
    ),
  );

export const DIRECTED: Readonly<Record<string, () => readonly ReferenceCase[]>> = {
  Pad: pads,
  Resize: resizes,
  Mod: remainders,
  CumSum: sums,
  TopK: tops,
  OneHot: hots,
};
