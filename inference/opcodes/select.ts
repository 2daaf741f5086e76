import type { StepCheck } from "../program/check.ts";
import { elementBytes, elementCount, type TensorData } from "../program/form.ts";
import { bitsOf } from "../program/tensor.ts";
import { broadcastMap, readBroadcast } from "./broadcast.ts";
import type { OpcodeForm, PreparedOperand } from "./opcode.ts";
import { broadcastRow } from "./row-parts.ts";

/** SELECT: `a ≠ 0 ? b : c` under broadcast; bits are copied. Source: docs/EXACT.md, section 3. */
export const select: OpcodeForm = {
  rules,
  rowPart: broadcastRow,
  prepare(step, operands) {
    const [mapA, mapB, mapC] = operands.map((operand) =>
      broadcastMap(step.dims, (operand as PreparedOperand).dims),
    );
    const count = elementCount(step.dims);
    const wide = elementBytes(step.type) === 4;
    const raw = (data: TensorData | undefined): TensorData =>
      wide ? bitsOf(data as TensorData) : (data as TensorData);
    return (out, a, b, c) => {
      const [target, yes, no] = [raw(out), raw(b), raw(c)];
      const condition = a as Uint8Array;
      for (let i = 0; i < count; i++) {
        const chosen = condition[mapA === undefined ? i : (mapA[i] as number)] !== 0;
        const source = chosen ? yes : no;
        const map = chosen ? mapB : mapC;
        target[i] = source[map === undefined ? i : (map[i] as number)] as number;
      }
    };
  },
  reads: (step, element, source) =>
    [step.a, step.b, step.c].map((operand) => readBroadcast(step.dims, operand, element, source)),
};

function rules(check: StepCheck): void {
  const { step } = check;
  check.variant();
  check.broadcasts("a", check.plain("a", "bool"));
  check.broadcasts("b", check.plain("b", step.type));
  check.broadcasts("c", check.plain("c", step.type));
  check.noAttribute();
}
