import { readWord } from "./broadcast.ts";
import type { OpcodeForm, PreparedOperand } from "./opcode.ts";

/** TABLE: a 256-entry map of stored bytes. Source: docs/EXACT.md, section 3. */
export const table: OpcodeForm = {
  prepare(_step, [, map]) {
    const entries = (map as PreparedOperand).constant as Uint8Array;
    return (out, a) => {
      const input = a as Uint8Array;
      for (let i = 0; i < input.length; i++) out[i] = entries[input[i] as number] as number;
    };
  },
  reads(step, element, source) {
    const input = source.data(step.a) as Uint8Array;
    return [
      readWord(step.a, source.shape(step.a).type, step.dims, element),
      { operand: step.b, row: 0, word: (input[element] as number) >> 5 },
    ];
  },
};
