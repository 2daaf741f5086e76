import type { StepCheck } from "../program/check.ts";
import { elementBytes, elementCount, type Slot, type TensorData } from "../program/form.ts";
import { bitsOf } from "../program/tensor.ts";
import { readBroadcast } from "./broadcast.ts";
import type { OpcodeForm, PreparedOperand } from "./opcode.ts";
import { inChunks, integerReader, type Reader, unstored } from "./readers.ts";

type Read = Reader<Int32Array>;

/** SELECT: `a ≠ 0 ? b : c` under broadcast; bits are copied. Source: docs/EXACT.md, section 3. */
export const select: OpcodeForm = {
  rules,
  prepare({ type, dims }, operands) {
    const isWide = elementBytes(type) === 4;
    const [readA, readB, readC] = operands.map((operand, slot) => {
      const bits = slot > 0 && isWide ? "s32" : "u8";
      return integerReader(dims, { type: bits, dims: (operand as PreparedOperand).dims }, slot as Slot);
    }) as [Read, Read, Read];
    const raw = (data: TensorData | undefined): TensorData =>
      isWide ? bitsOf(data as TensorData) : (data as TensorData);
    return inChunks(elementCount(dims), (out, at, a, b, c) => {
      const count = out.length;
      const chosen = unstored(count);
      const condition = readA(a, at, count);
      const [yes, no] = [readB(raw(b), at, count), readC(raw(c), at, count)];
      for (let i = 0; i < count; i++) chosen[i] = (condition[i] === 0 ? no[i] : yes[i]) as number;
      raw(out).set(chosen);
    });
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
