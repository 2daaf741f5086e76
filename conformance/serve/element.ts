/** `element`: one element from openings, as a conviction judges it. */
import { equalBytes } from "../../base/bytes.ts";
import { openedReads } from "../../inference/commit/opened.ts";
import { foldOpening, type Opening, outputRead } from "../../inference/commit/openings.ts";
import { isWeight, lastDim } from "../../inference/program/form.ts";
import { readProgram } from "../../inference/program/validate.ts";
import { packed } from "../lines.ts";
import { judge } from "../reference/judge.ts";
import { elementOf } from "../reference/place.ts";
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
  const [own, ...others] = openings.map(({ words }) => words);
  const reads = [outputRead(program, step, element), ...openedReads(program, step, element, others)];
  if (openings.length !== reads.length) refuseLine("openings", openings.length, `${reads.length}`);
  for (const [i, read] of reads.entries()) {
    const root = isWeight(read.operand) ? roots.weights : roots.trace;
    if (!equalBytes(foldOpening(program, read, openings[i] as Opening), root))
      refuseLine(`root of opening ${i}`, "another", "that of the trace or the weights");
  }
  const held = elementOf(own?.[0] as Uint8Array, record.type, element % lastDim(record.dims));
  return [held, judge(program, step, element, openings)].map((stored) => packed(stored, STORED_BYTES));
}
