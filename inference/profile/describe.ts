import {
  ARITH_VARIANTS,
  DOT_VARIANTS,
  FLOAT_VARIANTS,
  INPUT_CODECS,
  LOOKUP_VARIANTS,
  REDUCE_VARIANTS,
  type Step,
} from "../program/form.ts";

const VARIANTS: Readonly<Partial<Record<Step["opcode"], readonly string[]>>> = {
  codec: ["", ...INPUT_CODECS],
  lookup: LOOKUP_VARIANTS,
  dot: DOT_VARIANTS,
  requant: DOT_VARIANTS,
  arith: ARITH_VARIANTS,
  float: FLOAT_VARIANTS,
  reduce: REDUCE_VARIANTS,
};

/** One line: `dot integer u8 [1, 12]`. */
export function describeOperation(step: Step): string {
  const variant = VARIANTS[step.opcode]?.[step.variant];
  const name = variant === undefined ? step.opcode : `${step.opcode} ${variant}`;
  return `${name} ${step.type} [${step.dims.join(", ")}]`;
}
