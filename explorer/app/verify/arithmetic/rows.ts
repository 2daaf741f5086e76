/** MOVE, LOOKUP, TABLE and REDUCE: what takes other elements than its own. */

import { broadcastElement } from "../../../../inference/opcodes/broadcast.ts";
import { movedFrom } from "../../../../inference/opcodes/move.ts";
import { cappedRoot } from "../../../../inference/opcodes/norm.ts";
import {
  isBelow,
  LOOKUP_VARIANTS,
  lastDim,
  NONE,
  REDUCE_VARIANTS,
  weightIndex,
} from "../../../../inference/program/form.ts";
import type { Found, Part } from "./form.ts";
import { nameOf, type Place, partAt, shapeOf } from "./place.ts";

export function move(place: Place): Found {
  const { step, element } = place;
  const from = movedFrom(step, element);
  if (from !== undefined) {
    const part = partAt(place, step.a, from);
    return { formula: "a copy of one element", parts: [part], stored: part.stored };
  }
  if (step.b === NONE) return { formula: "padding", parts: [], stored: step.k };
  const part = partAt(place, step.b, element);
  return { formula: "a copy of one element", parts: [part], stored: part.stored };
}

const clampedId = (id: number, rows: number): number => Math.min(Math.max(id, 0), rows - 1);

export function lookup(place: Place): Found {
  const { step, element, model } = place;
  if (isBelow(step)) return below(place);
  const [rows, d] = shapeOf(place, step.b).dims as [number, number];
  const row = Math.floor(element / d);
  const column = element % d;
  if (LOOKUP_VARIANTS[step.variant] !== "sum") {
    const id = partAt(place, step.a, row);
    const picked = partAt(place, step.b, clampedId(id.value, rows) * d + column);
    return { formula: "the table's row that the id names", parts: [id, picked], stored: picked.stored };
  }
  const ids = lastDim(shapeOf(place, step.a).dims);
  const words = model.weights[weightIndex(step.b)] as Uint8Array;
  const rowBytes = 32 * Math.ceil(d / 32);
  let sum = 0;
  const parts = Array.from({ length: ids }, (_, j) => partAt(place, step.a, row * ids + j)).flatMap((id) => {
    const at = clampedId(id.value, rows);
    if (at === 0) return [];
    // Interleaved in SIMD lanes of 32 bits: docs/EXACT.md, section 2.
    const byte = (column & ~31) + 4 * (column & 7) + 3 - ((column >> 3) & 3);
    const stored = words[at * rowBytes + byte] as number;
    const value = stored - 128;
    sum += value;
    return [{ from: nameOf(step.b), element: at * d + column, index: [at, column], stored, value }];
  });
  return { formula: "the sum of the table's rows that the ids name", parts, stored: (sum | 0) >>> 0 };
}

/** By how far the number is below the largest of its row, among the places that count. */
function below(place: Place): Found {
  const { step, element } = place;
  const length = lastDim(step.dims);
  const column = element % length;
  const counts = (at: number): Part | undefined =>
    step.c === NONE
      ? undefined
      : partAt(place, step.c, broadcastElement(step.dims, shapeOf(place, step.c).dims, at));
  const own = counts(element);
  if (own?.stored === 0)
    return { formula: "0: the place does not count", parts: [own], stored: step.type === "s8" ? 128 : 0 };
  const parts = Array.from({ length }, (_, i) => element - column + i)
    .filter((at) => counts(at)?.stored !== 0)
    .map((at) => partAt(place, step.a, at));
  const most = parts.reduce((largest, { value }) => Math.max(largest, value), Number.NEGATIVE_INFINITY);
  const [rows] = shapeOf(place, step.b).dims as [number];
  const picked = partAt(place, step.b, clampedId(most - partAt(place, step.a, element).value, rows));
  return {
    ...{
      formula: "the table's entry for how far a number is below the row's largest",
      stored: picked.stored,
    },
    parts: [...parts, picked],
  };
}

export function table(place: Place): Found {
  const { step, element } = place;
  const input = partAt(place, step.a, element);
  const entry = partAt(place, step.b, input.stored);
  return { formula: "the table's entry for a byte", parts: [input, entry], stored: entry.stored };
}

export function reduce(place: Place): Found {
  const { step, element } = place;
  const { dims } = shapeOf(place, step.a);
  const k = lastDim(dims);
  const parts = Array.from({ length: k }, (_, i) => partAt(place, step.a, element * k + i));
  const name = REDUCE_VARIANTS[step.variant];
  if (name === "sum") {
    const sum = parts.reduce((all, { value }) => (all + value) | 0, 0);
    return { formula: "the sum of a row", parts, stored: sum >>> 0 };
  }
  if (name === "norm") {
    const total = parts.reduce((all, { value }) => all + BigInt(value) ** 2n, BigInt(step.k));
    return { formula: `the root of a row's sum of squares and ${step.k}`, parts, stored: cappedRoot(total) };
  }
  const isBetter = (a: number, b: number): boolean => (name === "min" ? a < b : a > b);
  const best = parts.reduce((kept, part) => (isBetter(part.value, kept.value) ? part : kept));
  return { formula: `the ${name === "min" ? "least" : "greatest"} of a row`, parts, stored: best.stored };
}
