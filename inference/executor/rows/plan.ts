/** What of a causal program is to be computed once a further row of its output is known. */
import { rowLength } from "../../opcodes/opcode.ts";
import { type ProgramBounds, programBounds } from "../../profile/causality/bounds.ts";
import { laterElement } from "../../profile/causality/prove.ts";
import { analyse } from "../../profile/intervals.ts";
import { isClaimed, type Model, readsClaimed } from "../../program/form.ts";
import { lastStep } from "../../program/shape.ts";
import { stepWork } from "../quick.ts";
import { neededElements } from "./needed.ts";
import { KnownPlaces, type StagePlaces } from "./places.ts";

interface StepPlan {
  readonly step: number;
  /** elements of a place */
  readonly length: number;
  readonly places: StagePlaces;
  /** in all stages */
  readonly work: number;
}

/** Runs of places of a plan's steps together, those that steps have in common counted once: above it a program is run by
 *  passes. A run takes 16 bytes at most. */
const MOST_RUNS = 2 ** 24;

/** Stages of a causal program: an element whose bound is t is computed in stage t, when the rows below t are claimed as
 *  they are right. Elements that no element of the output needs are left out. */
export class RowPlan {
  /** the output's */
  readonly rows: number;
  /** of places that follow one another, of all steps and stages; those that steps have in common counted once */
  readonly runs: number;
  /** of all stages, as `stepWork` counts it */
  readonly work: number;
  /** the step that takes the most of it; undefined: nothing is computed again */
  readonly costliest: number | undefined;
  readonly #steps: readonly StepPlan[];

  constructor(rows: number, steps: readonly StepPlan[], runs: number) {
    this.rows = rows;
    this.runs = runs;
    this.work = steps.reduce((sum, { work }) => sum + work, 0);
    this.costliest = steps.toSorted((x, y) => y.work - x.work)[0]?.step;
    this.#steps = steps;
  }

  /** @param compute elements of a step, `from` to before `to`. What is not right yet of its operands is of a run on another
   *  claim, so it lies in the same intervals, but for quotients by a row's own length, whose intervals hold of whole runs:
   *  `findOutput` sees where that matters */
  compute(stage: number, compute: (step: number, from: number, to: number) => void): void {
    for (const { step, length, places } of this.#steps) {
      const runs = places.of(stage);
      if (runs === undefined) continue;
      for (let i = 0; i < runs.length; i += 2)
        compute(step, length * (runs[i] as number), length * (runs[i + 1] as number));
    }
  }
}

/** @param proven bounds of this model, where they are known
 *  @returns undefined for a program that is not proven to be causal, does not read what is claimed, has an output of one
 *  row, which the first run finds, or has too many runs of places */
export function planRows(model: Model, proven?: ProgramBounds): RowPlan | undefined {
  const { program } = model;
  if (!readsClaimed(program) || lastStep(program).dims[0] === 1) return undefined;
  const bounds = proven?.isWhole ? proven : provenBounds(model);
  if (bounds === undefined || laterElement(program, bounds.of.at(-1)) !== undefined) return undefined;
  const rows = lastStep(program).dims[0] as number;
  const needed = neededElements(program.steps, bounds);
  const plans: StepPlan[] = [];
  const known = new KnownPlaces(rows);
  for (const [index, step] of program.steps.entries()) {
    const need = needed[index];
    if (need === undefined || isClaimed(step)) continue;
    const length = rowLength(step);
    const places = known.of(bounds.of[index], need, length);
    if (known.runs > MOST_RUNS) return undefined;
    const work = stepWork(program, step, places.count * length);
    plans.push({ step: index, length, places, work });
  }
  return new RowPlan(rows, plans, known.runs);
}

/** @returns undefined for a program without its other proofs: nobody asks whether it is causal */
function provenBounds(model: Model): ProgramBounds | undefined {
  const { ranges, problems } = analyse(model);
  return problems.length > 0 ? undefined : programBounds(model, ranges);
}
