import { INTEGERS, MAX_REDUCED_LENGTH, type StepCheck } from "../program/check.ts";
import { elementBytes, elementCount, isNorm, lastDim, REDUCE_VARIANTS } from "../program/form.ts";
import { MAX_NORM_BYTES, prepareNorm } from "./norm.ts";
import type { OpcodeForm, PreparedOperand } from "./opcode.ts";

/** REDUCE: sum, min, max or norm (norm.ts) of each row. Stored bytes of every integer type but s32 order as their numbers
 *  do. Source: docs/EXACT.md, section 3. */
export const reduce: OpcodeForm = {
  rules,
  prepare(step, [input]) {
    const { type, dims } = input as PreparedOperand;
    const length = lastDim(dims);
    if (isNorm(step)) return prepareNorm(step, input as PreparedOperand);
    const variant = REDUCE_VARIANTS[step.variant];
    const offset = type === "s8" ? 128 * length : 0;
    return (out, a, _b, _c, from = 0, to = out.length) => {
      const data = a as Uint8Array | Int32Array;
      for (let row = from, at = from * length; row < to; row++) {
        const end = at + length;
        let result = data[at++] as number;
        if (variant === "sum") {
          for (; at < end; at++) result = (result + (data[at] as number)) | 0;
          result = (result - offset) | 0;
        } else if (variant === "min") {
          for (; at < end; at++) if ((data[at] as number) < result) result = data[at] as number;
        } else {
          for (; at < end; at++) if ((data[at] as number) > result) result = data[at] as number;
        }
        out[row] = result;
      }
    };
  },
  reads: (step, element) => [{ operand: step.a, row: element }],
};

function rules(check: StepCheck): void {
  const { step } = check;
  const input = check.plain("a", ...INTEGERS);
  if (check.variant()) {
    if (REDUCE_VARIANTS[step.variant] === "sum" || isNorm(step)) check.type("s32");
    else if (input !== undefined) check.type(input.type);
  }
  if (input !== undefined) {
    const length = lastDim(input.dims);
    const most = isNorm(step) ? MAX_NORM_BYTES / elementBytes(input.type) : MAX_REDUCED_LENGTH;
    check.must(length <= most, "elements of a row of operand a", length, `<= ${most}`);
    check.rows("a", input, elementCount(step.dims));
  }
  check.none("b", "c");
  if (!isNorm(step)) check.noAttribute();
}
