/** `element`: one element from openings, as a conviction judges it. */
import { equalBytes } from "../../base/bytes.ts";
import { foldOpening, type Opening, outputRead, readsOf } from "../../inference/commit/openings.ts";
import type { Read } from "../../inference/opcodes/opcode.ts";
import {
  elementBytes,
  elementCount,
  isStep,
  isWeight,
  lastDim,
  type Operand,
  type Program,
  type Step,
  type TensorData,
  weightIndex,
} from "../../inference/program/form.ts";
import { fromStoredBytes, newData, storedElement } from "../../inference/program/tensor.ts";
import { readProgram } from "../../inference/program/validate.ts";
import { packed } from "../lines.ts";
import { judge } from "../reference/judge.ts";
import { refuseLine, type Words } from "./words.ts";

const WORD = 32;
const STORED_BYTES = 4;

/** @returns the element that the trace holds, and the one that the operands give */
export function judgeElement(words: Words): string[] {
  const program = readProgram(words.bytes());
  const roots = { weights: words.fixed(WORD), trace: words.fixed(WORD) };
  const step = words.number(16);
  const element = words.number(32);
  const openings: Opening[] = [];
  while (words.left > 0) openings.push({ words: words.words(), path: words.words() });
  const record = program.steps[step];
  if (record === undefined || record.opcode === "codec")
    refuseLine("step", step, "a step that computes elements");
  const own = outputRead(program, step, element);
  const reads = [own, ...openedReads(program, record, step, element, openings.slice(1))];
  if (openings.length !== reads.length) refuseLine("openings", openings.length, `${reads.length}`);
  for (const [i, read] of reads.entries()) {
    const root = isWeight(read.operand) ? roots.weights : roots.trace;
    if (!equalBytes(foldOpening(program, read, openings[i] as Opening), root))
      refuseLine(`root of opening ${i}`, "another", "that of the trace or the weights");
  }
  const held = newData(record.type, elementCount(record.dims));
  place(held, program, own, openings[0] as Opening);
  return [BigInt(storedElement(held, element)), judge(program, step, element, openings)].map((stored) =>
    packed(stored, STORED_BYTES),
  );
}

/** What the element reads. LOOKUP and TABLE read their table where operand a says, and LOOKUP below where its mask says,
 *  which are opened first. */
function openedReads(
  program: Program,
  { a, c }: Step,
  step: number,
  element: number,
  openings: readonly Opening[],
): readonly Read[] {
  const opened = new Map<Operand, TensorData>();
  const dataOf = (operand: Operand): TensorData => {
    const { type, dims } = shapeOf(program, operand);
    const data = opened.get(operand) ?? newData(type, elementCount(dims));
    opened.set(operand, data);
    return data;
  };
  for (const [i, operand] of [a, c].entries()) {
    const read = readsOf(program, step, element, dataOf)[i];
    const opening = openings[i];
    if (read?.operand === operand && opening !== undefined) place(dataOf(operand), program, read, opening);
  }
  return readsOf(program, step, element, dataOf);
}

const shapeOf = (program: Program, operand: Operand) =>
  isStep(operand)
    ? (program.steps[operand] as Step)
    : (program.weights[weightIndex(operand)] as Program["weights"][number]);

/** Puts an opened word, or row, where its tensor holds it. */
function place(
  data: TensorData,
  program: Program,
  { operand, row, word = 0 }: Read,
  { words }: Opening,
): void {
  const { type, dims } = shapeOf(program, operand);
  const columns = lastDim(dims);
  const first = (word * WORD) / elementBytes(type);
  const bytes = words.flatMap((one) => [...one]);
  const values = fromStoredBytes(type, Uint8Array.from(bytes)).subarray(0, Math.max(0, columns - first));
  data.set(values, row * columns + first);
}
