/** What an element reads, known from its openings alone. */
import type { Read } from "../opcodes/opcode.ts";
import {
  elementBytes,
  elementCount,
  lastDim,
  type Operand,
  operandTensor,
  type Program,
  type Step,
  type TensorData,
  type TensorType,
} from "../program/form.ts";
import { fromStoredBytes, newData, storedBytes } from "../program/tensor.ts";
import { outputRead, readsOf } from "./openings.ts";

/** What `readsOf` gives, where the words that are opened say what is read: LOOKUP and TABLE read their table where the
 *  values of a say, and LOOKUP below where those of its mask say. Both are opened before the table.
 *  @param words of each opening behind the output's, in order; what is not opened counts as zero
 *  @throws BaseError ELEMENT_OUTSIDE when the step or the element does not exist */
export function openedReads(
  program: Program,
  step: number,
  element: number,
  words: readonly (readonly Uint8Array[])[],
): Read[] {
  outputRead(program, step, element);
  const opened = new Map<Operand, TensorData>();
  const dataOf = (operand: Operand): TensorData => opened.get(operand) ?? zeros(program, operand);
  const { a, c } = program.steps[step] as Step;
  // Where these two are read hangs on no content, or on that of the first.
  for (const [i, operand] of [a, c].entries()) {
    const read = readsOf(program, step, element, dataOf)[i];
    const row = words[i];
    if (read?.operand === operand && row !== undefined) opened.set(operand, withWords(program, read, row));
  }
  return readsOf(program, step, element, dataOf);
}

function zeros(program: Program, operand: Operand): TensorData {
  const { type, dims } = operandTensor(program, operand);
  return newData(type as TensorType, elementCount(dims));
}

/** An operand's content as far as it is opened, and zeros. */
function withWords(
  program: Program,
  { operand, row, word = 0 }: Read,
  words: readonly Uint8Array[],
): TensorData {
  const { type, dims } = operandTensor(program, operand);
  const size = elementBytes(type as TensorType);
  const stored = storedBytes(zeros(program, operand));
  const from = size * lastDim(dims) * row + 32 * word;
  const end = size * lastDim(dims) * (row + 1);
  // Whoever opens them may give more than the row has.
  for (const [i, bytes] of words.slice(0, Math.ceil((end - from) / 32)).entries())
    stored.set(bytes.subarray(0, Math.min(32, end - from - 32 * i)), from + 32 * i);
  return fromStoredBytes(type as TensorType, stored);
}
