import { BYTE_TYPES, INTEGERS, type StepCheck } from "../program/check.ts";
import { elementCount, FLOAT_VARIANTS, type Step, type TensorData } from "../program/form.ts";
import { bitsOf, CANONICAL_NAN } from "../program/tensor.ts";
import { readBroadcast } from "./broadcast.ts";
import type { Kernel, OpcodeForm, PreparedOperand } from "./opcode.ts";
import { floatReader, inChunks, integerReader, unstored } from "./readers.ts";
import { quantum, roundHalfEven, S32_MAX, S32_MIN } from "./rounding.ts";
import { saturateInto } from "./saturate.ts";

type Variant = (typeof FLOAT_VARIANTS)[number];

/** FLOAT: element-wise binary32, correctly rounded. Doubles carry add, sub, mul, div and sqrt of binary32 numbers
 *  without double rounding (53 >= 2·24 + 2), so one store into a Float32Array rounds once.
 *  Source: docs/EXACT.md, section 3. */
export const float: OpcodeForm = {
  rules,
  prepare(step, [a, b, c]) {
    const variant = FLOAT_VARIANTS[step.variant] as Variant;
    const { dims } = step;
    if (variant === "dequant" || variant === "quant") {
      return prepareScaled(step, variant, a as PreparedOperand, b as PreparedOperand, c as PreparedOperand);
    }
    const count = elementCount(dims);
    if (variant === "tofloat") {
      const read = integerReader(dims, a as PreparedOperand, 0);
      return inChunks(count, (out, at, x) => out.set(read(x, at, out.length)));
    }
    const readA = floatReader(dims, a as PreparedOperand, 0);
    if (variant === "toint") {
      return inChunks(count, (out, at, x) => {
        const numbers = unstored(out.length);
        toInteger(numbers, readA(x, at, out.length));
        saturateInto(out, step.type, numbers);
      });
    }
    if (variant === "sqrt" || variant === "round") {
      const compute = UNARY[variant];
      return inChunks(count, (out, at, x) => {
        compute(out as Float32Array, readA(x, at, out.length));
        canonicalize(out as Float32Array);
      });
    }
    const readB = floatReader(dims, b as PreparedOperand, 1);
    if (variant === "lt" || variant === "le" || variant === "eq") {
      const compare = COMPARE[variant];
      return inChunks(count, (out, at, x, y) =>
        compare(out as Uint8Array, readA(x, at, out.length), readB(y, at, out.length)),
      );
    }
    const compute = BINARY[variant];
    return inChunks(count, (out, at, x, y) => {
      compute(out as Float32Array, readA(x, at, out.length), readB(y, at, out.length));
      canonicalize(out as Float32Array);
    });
  },
  reads(step, element, source) {
    const operands = [step.a, step.b, step.c].slice(
      0,
      OPERANDS[FLOAT_VARIANTS[step.variant] as Variant] ?? 2,
    );
    return operands.map((operand) => readBroadcast(step.dims, operand, element, source));
  },
};

function rules(check: StepCheck): void {
  const { step } = check;
  if (!check.variant()) return;
  const name = FLOAT_VARIANTS[step.variant] as (typeof FLOAT_VARIANTS)[number];
  const integerInput = name === "tofloat" || name === "dequant";
  check.broadcasts("a", check.plain("a", ...(integerInput ? INTEGERS : (["f32"] as const))));
  if (name === "sqrt" || name === "round" || name === "tofloat" || name === "toint") {
    check.none("b", "c");
  } else {
    check.broadcasts("b", check.plain("b", "f32"));
    if (name === "dequant" || name === "quant") check.broadcasts("c", check.plain("c", "s32"));
    else check.none("c");
  }
  if (name === "lt" || name === "le" || name === "eq") check.type("bool");
  else if (name === "toint") check.type(...INTEGERS);
  else if (name === "quant") check.type(...BYTE_TYPES);
  else check.type("f32");
  check.noAttribute();
}

/** Operands of the variants that do not have two. */
const OPERANDS: Readonly<Partial<Record<Variant, number>>> = {
  sqrt: 1,
  round: 1,
  tofloat: 1,
  toint: 1,
  dequant: 3,
  quant: 3,
};

/** Every NaN result is 7FC00000; the processor's own NaN is another one. */
function canonicalize(out: Float32Array): void {
  const bits = bitsOf(out);
  for (let i = 0; i < out.length; i++) if (Number.isNaN(out[i])) bits[i] = CANONICAL_NAN;
}

function prepareScaled(
  step: Step,
  variant: "dequant" | "quant",
  a: PreparedOperand,
  b: PreparedOperand,
  c: PreparedOperand,
): Kernel {
  const { dims, type } = step;
  const count = elementCount(dims);
  const readScale = floatReader(dims, b, 1);
  const readZero = integerReader(dims, c, 2);
  if (variant === "dequant") {
    const read = integerReader(dims, a, 0);
    return inChunks(count, (out, at, x, y, z) => {
      const value = read(x, at, out.length);
      const scale = readScale(y, at, out.length);
      const zero = readZero(z, at, out.length);
      for (let i = 0; i < out.length; i++) {
        const difference = ((value[i] as number) - (zero[i] as number)) | 0;
        out[i] = Math.fround(difference) * (scale[i] as number);
      }
      canonicalize(out as Float32Array);
    });
  }
  const read = floatReader(dims, a, 0);
  const low = type === "s8" ? -128 : 0;
  return inChunks(count, (out, at, x, y, z) => {
    const value = read(x, at, out.length);
    const scale = readScale(y, at, out.length);
    const zero = readZero(z, at, out.length);
    for (let i = 0; i < out.length; i++) {
      const q = quantum(Math.fround((value[i] as number) / (scale[i] as number))) + (zero[i] as number) - low;
      out[i] = q < 0 ? 0 : Math.min(q, 255);
    }
  });
}

function toInteger(out: Int32Array, a: Float32Array): void {
  for (let i = 0; i < out.length; i++) {
    const x = Math.trunc(a[i] as number);
    out[i] = x >= S32_MAX ? S32_MAX : Math.max(x, S32_MIN);
  }
}

type Unary = (out: Float32Array, a: Float32Array) => void;
const UNARY: Readonly<Record<"sqrt" | "round", Unary>> = {
  sqrt: (out, a) => {
    for (let i = 0; i < out.length; i++) out[i] = Math.sqrt(a[i] as number);
  },
  round: (out, a) => {
    for (let i = 0; i < out.length; i++) {
      const x = a[i] as number;
      const rounded = roundHalfEven(x);
      out[i] = rounded === 0 && (x < 0 || Object.is(x, -0)) ? -0 : rounded;
    }
  },
};

type Binary<Out extends TensorData> = (out: Out, a: Float32Array, b: Float32Array) => void;
const BINARY: Readonly<Record<"add" | "sub" | "mul" | "div" | "min" | "max", Binary<Float32Array>>> = {
  add: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = (a[i] as number) + (b[i] as number);
  },
  sub: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = (a[i] as number) - (b[i] as number);
  },
  mul: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = (a[i] as number) * (b[i] as number);
  },
  div: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = (a[i] as number) / (b[i] as number);
  },
  // Adding +0 turns a result of -0 into +0 and changes nothing else.
  min: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = Math.min(a[i] as number, b[i] as number) + 0;
  },
  max: (out, a, b) => {
    for (let i = 0; i < out.length; i++) out[i] = Math.max(a[i] as number, b[i] as number) + 0;
  },
};

const COMPARE: Readonly<Record<"lt" | "le" | "eq", Binary<Uint8Array>>> = {
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
