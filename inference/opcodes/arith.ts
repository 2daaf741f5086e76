import { INTEGERS, type StepCheck } from "../program/check.ts";
import { ARITH_VARIANTS, elementCount, type TensorData } from "../program/form.ts";
import { integerReader, readBroadcast } from "./broadcast.ts";
import type { OpcodeForm, PreparedOperand } from "./opcode.ts";
import { broadcastRow } from "./row-parts.ts";
import { saturateInto } from "./saturate.ts";

type Variant = (typeof ARITH_VARIANTS)[number];

/** ARITH: integer add, sub, mul, min, max, div, compare, cast, under broadcast. Source: docs/EXACT.md, section 3. */
export const arith: OpcodeForm = {
  rules,
  rowPart: broadcastRow,
  prepare(step, [left, right]) {
    const variant = ARITH_VARIANTS[step.variant] as Variant;
    const readA = integerReader(step.dims, left as PreparedOperand);
    if (variant === "cast") return (out, a) => saturateInto(out, step.type, readA(a));
    const readB = integerReader(step.dims, right as PreparedOperand);
    const compute = COMPUTE[variant];
    if (step.type === "s32" || step.type === "bool") return (out, a, b) => compute(out, readA(a), readB(b));
    const wide = new Int32Array(elementCount(step.dims));
    return (out, a, b) => {
      compute(wide, readA(a), readB(b));
      saturateInto(out, step.type, wide);
    };
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
type Compute = (out: TensorData, a: Int32Array, b: Int32Array) => void;

const COMPUTE: Readonly<Record<Exclude<Variant, "cast">, Compute>> = {
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
