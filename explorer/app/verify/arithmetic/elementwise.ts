/** ARITH, FLOAT and SELECT: element by element, under broadcast. */

import { broadcastElement } from "../../../../inference/opcodes/broadcast.ts";
import { rotated } from "../../../../inference/opcodes/rotate.ts";
import { quantum } from "../../../../inference/opcodes/rounding.ts";
import {
  ARITH_VARIANTS,
  FLOAT_VARIANTS,
  isRotate,
  NONE,
  type Operand,
} from "../../../../inference/program/form.ts";
import { bitsOfFloat, CANONICAL_NAN } from "../../../../inference/program/tensor.ts";
import type { Found } from "./form.ts";
import { type Place, partAt, partOf, saturated, shapeOf } from "./place.ts";

const bits = (value: number): number => (Number.isNaN(value) ? CANONICAL_NAN : bitsOfFloat(value));

const SIGNS: Readonly<Record<string, string>> = {
  ...{
    add: "a + b",
    sub: "a − b",
    mul: "a · b",
    min: "the lesser of a and b",
    max: "the greater of a and b",
  },
  ...{ div: "a / b", lt: "a < b", le: "a ≤ b", eq: "a = b", cast: "a as another type" },
  ...{
    sqrt: "the square root of a",
    round: "a to the nearest integer, half to even",
    tofloat: "a as binary32",
  },
  ...{
    toint: "a without its fraction",
    dequant: "(a − c) · b",
    quant: "a / b to the nearest integer, plus c",
  },
};

const ARITH: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => Math.imul(a, b),
  min: Math.min,
  max: Math.max,
  div: (a, b) => (b < 1 ? 0 : Math.trunc(a / b)),
  lt: (a, b) => Number(a < b),
  le: (a, b) => Number(a <= b),
  eq: (a, b) => Number(a === b),
  cast: (a) => a,
};

/** An element of a pair of a, turned by one of b. */
function rotate(place: Place): Found {
  const { step, element } = place;
  const first = element - (element % 2);
  const pairOf = (operand: Operand) => {
    const at = broadcastElement(step.dims, shapeOf(place, operand).dims, first);
    return [partAt(place, operand, at), partAt(place, operand, at + 1)] as const;
  };
  const [[x, y], [c, s]] = [pairOf(step.a), pairOf(step.b)];
  const isFirst = element === first;
  const sum = isFirst
    ? `${x.value} · ${c.value} − ${y.value} · ${s.value}`
    : `${x.value} · ${s.value} + ${y.value} · ${c.value}`;
  const number = rotated([x.value, y.value], [c.value, s.value], step.k, isFirst);
  return {
    formula: `(${sum}) / 2^${step.k}, to the nearest integer, halves up`,
    parts: [x, y, c, s],
    stored: saturated(step.type, number),
  };
}

export function arith(place: Place): Found {
  const { step } = place;
  if (isRotate(step)) return rotate(place);
  const name = ARITH_VARIANTS[step.variant] as string;
  const parts = [step.a, step.b].filter((operand) => operand !== NONE).map((of) => partOf(place, of));
  const [a = 0, b = 0] = parts.map(({ value }) => value);
  const stored = saturated(step.type, (ARITH[name] as (a: number, b: number) => number)(a, b) | 0);
  return { formula: SIGNS[name] as string, parts, stored };
}

/** Doubles round as binary32 does when their result is rounded once more: docs/EXACT.md, section 3, FLOAT. */
const FLOAT: Readonly<Record<string, (a: number, b: number, c: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  sqrt: (a) => Math.sqrt(a),
  round: (a) => (Math.abs(a) >= 2 ** 31 || Number.isNaN(a) || a === 0 ? a : signedZero(quantum(a), a)),
  min: (a, b) => Math.min(a, b) + 0,
  max: (a, b) => Math.max(a, b) + 0,
  tofloat: (a) => a,
  dequant: (a, b, c) => Math.fround((a - c) | 0) * b,
};
const signedZero = (rounded: number, of: number): number => (rounded === 0 && of < 0 ? -0 : rounded);

const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  eq: (a, b) => a === b,
};

export function float(place: Place): Found {
  const { step } = place;
  const name = FLOAT_VARIANTS[step.variant] as string;
  const operands = [step.a, step.b, step.c].filter((operand) => operand !== NONE);
  const parts = operands.map((of) => partOf(place, of));
  const [a = 0, b = 0, c = 0] = parts.map(({ value }) => value);
  const common = { formula: SIGNS[name] as string, parts };
  const compare = COMPARE[name];
  if (compare !== undefined) return { ...common, stored: Number(compare(a, b)) };
  if (name === "toint") {
    const whole = Number.isNaN(a) ? 0 : Math.min(Math.max(Math.trunc(a), -(2 ** 31)), 2 ** 31 - 1);
    return { ...common, stored: saturated(step.type, whole) };
  }
  if (name === "quant") {
    const q = quantum(Math.fround(a / b));
    return { ...common, stored: saturated(step.type, q + c) };
  }
  const compute = FLOAT[name] as (a: number, b: number, c: number) => number;
  return { ...common, stored: bits(Math.fround(compute(a, b, c))) };
}

export function select(place: Place): Found {
  const { step } = place;
  const condition = partOf(place, step.a);
  const chosen = partOf(place, condition.stored !== 0 ? step.b : step.c);
  return { formula: "if a then b else c", parts: [condition, chosen], stored: chosen.stored };
}
