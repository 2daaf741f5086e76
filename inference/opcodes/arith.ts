import { INTEGERS, type StepCheck } from "../program/check.ts";
import { ARITH_VARIANTS, elementCount, isRotate } from "../program/form.ts";
import { readBroadcast } from "./broadcast.ts";
import type { OpcodeForm, PreparedOperand } from "./opcode.ts";
import { inChunks, integerReader, unstored } from "./readers.ts";
import { prepareRotate, rotateRules } from "./rotate.ts";
import { saturateInto } from "./saturate.ts";

type Variant = (typeof ARITH_VARIANTS)[number];

/** ARITH: integer add, sub, mul, min, max, div, compare, cast, rotate (rotate.ts), under broadcast. Source: docs/EXACT.md, section 3. */
export const arith: OpcodeForm = {
  rules,
  prepare(step, [left, right]) {
    if (isRotate(step)) return prepareRotate(step, [left as PreparedOperand, right as PreparedOperand]);
    const variant = ARITH_VARIANTS[step.variant] as Exclude<Variant, "rotate">;
    const { type, dims } = step;
    const count = elementCount(dims);
    const readA = integerReader(dims, left as PreparedOperand, 0);
    if (variant === "cast")
      return inChunks(count, (out, at, a) => saturateInto(out, type, readA(a, at, out.length)));
    const readB = integerReader(dims, right as PreparedOperand, 1);
    const compute = COMPUTE[variant];
    return inChunks(count, (out, at, a, b) => {
      const [x, y] = [readA(a, at, out.length), readB(b, at, out.length)];
      if (out instanceof Int32Array) compute(out, x, y);
      else {
        const wide = unstored(out.length);
        compute(wide, x, y);
        saturateInto(out, type, wide);
      }
    });
  },
  reads(step, element, source) {
    const a = readBroadcast(step.dims, step.a, element, source);
    return ARITH_VARIANTS[step.variant] === "cast"
      ? [a]
      : [a, readBroadcast(step.dims, step.b, element, source)];
  },
};

function rules(check: StepCheck): void {
  const { step } = check;
  if (!check.variant()) return;
  if (isRotate(step)) {
    rotateRules(check);
    return;
  }
  const name = ARITH_VARIANTS[step.variant];
  check.broadcasts("a", check.plain("a", ...INTEGERS));
  if (name === "cast") {
    check.none("b");
    check.type(...INTEGERS);
  } else {
    check.broadcasts("b", check.plain("b", ...INTEGERS));
    if (name === "lt" || name === "le" || name === "eq") check.type("bool");
    else check.type("u8", "s8", "s32");
  }
  check.none("c");
  check.noAttribute();
}

/** Storing into an Int32Array, or |0, wraps modulo 2^32. */
type Compute = (out: Int32Array, a: Int32Array, b: Int32Array) => void;

const COMPUTE: Readonly<Record<Exclude<Variant, "cast" | "rotate">, Compute>> = {
  add: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = ((a[i] as number) + (b[i] as number)) | 0;
  },
  sub: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = ((a[i] as number) - (b[i] as number)) | 0;
  },
  mul: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = Math.imul(a[i] as number, b[i] as number);
  },
  min: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = Math.min(a[i] as number, b[i] as number);
  },
  max: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = Math.max(a[i] as number, b[i] as number);
  },
  div: (out, a, b) => {
    for (let i = 0; i < out.length; i++) {
      const divisor = b[i] as number;
      out[i] = divisor < 1 ? 0 : ((a[i] as number) / divisor) | 0;
    }
  },
  lt: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = (a[i] as number) < (b[i] as number) ? 1 : 0;
  },
  le: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = (a[i] as number) <= (b[i] as number) ? 1 : 0;
  },
  eq: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = a[i] === b[i] ? 1 : 0;
  },
};
