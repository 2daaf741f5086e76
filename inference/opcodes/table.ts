import type { StepCheck } from "../program/check.ts";
import { readWord } from "./broadcast.ts";
import type { OpcodeForm, PreparedOperand } from "./opcode.ts";

/** TABLE: a 256-entry map of stored bytes. Source: docs/EXACT.md, section 3. */
export const table: OpcodeForm = {
  rules,
  prepare(_step, [, map]) {
    const entries = (map as PreparedOperand).constant as Uint8Array;
    return (out, a, _b, _c, from = 0, to = out.length) => {
      const input = a as Uint8Array;
      for (let i = from; i < to; i++) out[i] = entries[input[i] as number] as number;
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

function rules(check: StepCheck): void {
  check.variant();
  check.type("u8", "s8", "bool");
  check.sameDims("a", check.plain("a", "u8", "s8", "bool"));
  const map = check.weights("b", "plain");
  if (map !== undefined) {
    check.must(map.type === "u8", "type of operand b", map.type, "u8");
    check.must(
      map.dims.length === 1 && map.dims[0] === 256,
      "dims of operand b",
      `[${map.dims.join(", ")}]`,
      "[256]",
    );
  }
  check.none("c");
  check.noAttribute();
}
