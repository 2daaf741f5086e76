/** The proof that a program which reads the claimed output finds one output right. Source: docs/EXACT.md, section 4. */
import { BaseError } from "../../../base/errors.ts";
import {
  elementCount,
  isStep,
  type Model,
  type Program,
  readsClaimed,
  type Step,
} from "../../program/form.ts";
import { lastStep } from "../../program/shape.ts";
import { describeOperation } from "../describe.ts";
import { READS } from "../generated/reads.ts";
import type { Range } from "../range.ts";
import { type Bounds, type ProgramBounds, programBounds } from "./bounds.ts";
import { operandAt } from "./forms.ts";

/** Bytes of bounds that are kept for plans of rows; those of a language model are a tenth. */
const MOST_HELD = 2 ** 27;
/** Places of a way through the program that an error names. */
const MOST_PLACES = 8;

interface Place {
  readonly step: number;
  readonly element: number;
}

/** Proves that no element in row t of the output depends on a claimed element of row t or above.
 *  @param ranges intervals of the steps
 *  @returns what was proven; undefined for a program that does not read the claimed output, or whose bounds are more than
 *  is held
 *  @throws BaseError CAUSALITY_UNPROVEN with the steps by which a later row could come in */
export function proveCausality(model: Model, ranges: readonly Range[]): ProgramBounds | undefined {
  const { program } = model;
  if (!readsClaimed(program)) return undefined;
  const proven = programBounds(model, ranges, READS, MOST_HELD);
  const step = program.steps.length - 1;
  const element = laterElement(program, proven.of[step]);
  if (element === undefined) return proven.isWhole ? proven : undefined;
  const bounds = proven.isWhole ? proven : programBounds(model, ranges);
  const row = Math.floor(element / rowSize(program));
  const later = (bounds.of[step]?.[element] as number) - 1;
  const way = wayTo(program, bounds, { step, element }).map((place) => describePlace(model, place));
  throw new BaseError({
    code: "CAUSALITY_UNPROVEN",
    shortMessage: `Row ${row} of the output can depend on row ${later} of the claimed output, must be on rows below ${row} alone:\n${shorten(way).join("\n")}`,
    nextStep:
      "Let the steps in this list read earlier rows alone: a MOVE that shifts the claimed output by a row along its first axis, or a SELECT by a constant mask of what later rows give.",
    details: { row, later, way },
  });
}

const rowSize = (program: Program): number => {
  const { dims } = lastStep(program);
  return elementCount(dims) / (dims[0] as number);
};

/** The first element of the output that can depend on a claimed element of its row or a later one.
 *  @param bounds of the last step */
export function laterElement(program: Program, bounds: Bounds): number | undefined {
  const size = rowSize(program);
  const element = bounds?.findIndex((bound, i) => bound > Math.floor(i / size)) ?? -1;
  return element === -1 ? undefined : element;
}

/** From an element of the output, over elements with the same bound, to a claimed one. */
function wayTo(program: Program, { of, forms }: ProgramBounds, from: Place): Place[] {
  const way = [from];
  for (let at: Place | undefined = from; at !== undefined; ) {
    const { step, element }: Place = at;
    const bound = of[step]?.[element];
    let next: Place | undefined;
    const [own, form] = [program.steps[step] as Step, forms[step]];
    if (form === undefined) break;
    READS[own.opcode](form)(element, (slot, first, count) => {
      const operand = operandAt(own, slot);
      if (next !== undefined || !isStep(operand)) return;
      const found = of[operand]?.subarray(first, first + count).indexOf(bound as number) ?? -1;
      if (found >= 0) next = { step: operand, element: first + found };
    });
    if (next !== undefined) way.push(next);
    at = next;
  }
  return way;
}

function describePlace({ program }: Model, { step, element }: Place): string {
  return `step ${step} (${describeOperation(program.steps[step] as Step)}), element ${element}`;
}

function shorten(way: readonly string[]): string[] {
  if (way.length <= MOST_PLACES) return [...way];
  const half = MOST_PLACES / 2;
  return [...way.slice(0, half), `… ${way.length - MOST_PLACES} steps …`, ...way.slice(-half)];
}
