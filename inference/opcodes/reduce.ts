import { elementCount, lastDim, REDUCE_VARIANTS } from "../program/form.ts";
import type { OpcodeForm, PreparedOperand } from "./opcode.ts";

/** REDUCE: sum, min or max over each row. Stored bytes of every integer type but s32 order as their numbers do.
 *  Source: docs/EXACT.md, section 3. */
export const reduce: OpcodeForm = {
  prepare(step, [input]) {
    const { type, dims } = input as PreparedOperand;
    const length = lastDim(dims);
    const rows = elementCount(step.dims);
    const variant = REDUCE_VARIANTS[step.variant];
    const offset = type === "s8" ? 128 * length : 0;
    return (out, a) => {
      const data = a as Uint8Array | Int32Array;
      for (let row = 0, at = 0; row < rows; row++) {
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
