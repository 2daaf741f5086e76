/** What of a causal program is to be computed once a further row of its output is known. */
import { sourceMap } from "../../opcodes/move.ts";
import type { PreparedOperand } from "../../opcodes/opcode.ts";
import { type Bounds, type ProgramBounds, programBounds } from "../../profile/causality/bounds.ts";
import { laterElement } from "../../profile/causality/prove.ts";
import { analyse } from "../../profile/intervals.ts";
import {
  elementCount,
  isClaimed,
  isStep,
  type Model,
  type Operand,
  readsClaimed,
  type Step,
  type Tensor,
  type TensorData,
} from "../../program/form.ts";
import { lastStep } from "../../program/shape.ts";
import { bitsOf } from "../../program/tensor.ts";
import { stepWork } from "../quick.ts";
import { rowKernel, rowLength } from "./row-kernel.ts";

/** Computes rows, or of a MOVE elements, of one step. @param runs as of StagePlaces */
type Compute = (runs: Int32Array, tensor: TensorData, data: readonly (TensorData | undefined)[]) => void;

interface StepPlan {
  readonly step: number;
  readonly compute: Compute;
  readonly places: StagePlaces;
  /** in all stages */
  readonly work: number;
}

/** Runs of places of a plan's steps together: above it a program is run by passes. A run takes 16 bytes at most. */
const MOST_RUNS = 2 ** 24;

/** Stages of a causal program: an element whose bound is t is computed in stage t, when the rows below t are claimed as
 *  they are right. Elements that no element of the output needs are left out. */
export class RowPlan {
  /** the output's */
  readonly rows: number;
  /** of places that follow one another, of all steps and stages */
  readonly runs: number;
  /** of all stages, as `stepWork` counts it */
  readonly work: number;
  /** the step that takes the most of it; undefined: nothing is computed again */
  readonly costliest: number | undefined;
  readonly #steps: readonly StepPlan[];

  constructor(rows: number, steps: readonly StepPlan[]) {
    this.rows = rows;
    this.runs = steps.reduce((sum, { places }) => sum + places.runs, 0);
    this.work = steps.reduce((sum, { work }) => sum + work, 0);
    this.costliest = steps.toSorted((x, y) => y.work - x.work)[0]?.step;
    this.#steps = steps;
  }

  /** @param tensors every step's; what is not right yet is of a run on another claim, so it lies in the same intervals
   *  @param dataOf content of a step's operands */
  compute(
    stage: number,
    tensors: readonly Tensor[],
    dataOf: (step: number) => readonly (TensorData | undefined)[],
  ): void {
    for (const { step, compute, places } of this.#steps) {
      const now = places.of(stage);
      if (now !== undefined) compute(now, (tensors[step] as Tensor).data, dataOf(step));
    }
  }
}

/** @param operandsOf what kernels are built from @returns undefined for a program that is not proven to be causal, does not
 *  read what is claimed, has an output of one row, which the first run finds, or has too many runs of places */
export function planRows(
  model: Model,
  operandsOf: (step: Step) => readonly (PreparedOperand | undefined)[],
): RowPlan | undefined {
  const { program } = model;
  if (!readsClaimed(program) || lastStep(program).dims[0] === 1) return undefined;
  const { ranges, problems } = analyse(model);
  if (problems.length > 0) return undefined;
  const bounds = programBounds(model, ranges);
  if (laterElement(program, bounds.of.at(-1)) !== undefined) return undefined;
  const rows = lastStep(program).dims[0] as number;
  const needed = neededElements(program.steps, bounds);
  const plans: StepPlan[] = [];
  let room = MOST_RUNS;
  for (const [index, step] of program.steps.entries()) {
    const need = needed[index];
    if (need === undefined || isClaimed(step)) continue;
    const isMove = step.opcode === "move";
    const length = isMove ? 1 : rowLength(step);
    const places = new StagePlaces(bounds.of[index], need, length, rows);
    room -= places.runs;
    if (room < 0) return undefined;
    const work = stepWork(program, step, places.count * length);
    plans.push({ step: index, places, work, compute: isMove ? mover(step) : rower(step, operandsOf(step)) });
  }
  return new RowPlan(rows, plans);
}

/** By step, which of its elements one of the output is computed from; absent where none that hangs on what is claimed. */
function neededElements(steps: readonly Step[], { of, readsOf }: ProgramBounds): (Uint8Array | undefined)[] {
  const needed: (Uint8Array | undefined)[] = steps.map(() => undefined);
  const last = steps.length - 1;
  if (of[last] !== undefined) needed[last] = new Uint8Array(elementCount((steps[last] as Step).dims)).fill(1);
  for (let index = last; index >= 0; index--) {
    const own = needed[index];
    if (own === undefined) continue;
    const reads = readsOf(index);
    // Elements that follow one another often read the same row.
    let [lastOperand, lastFrom, lastCount] = [-1, -1, -1];
    const need = (operand: Operand, from: number, count: number): void => {
      if (operand === lastOperand && from === lastFrom && count === lastCount) return;
      [lastOperand, lastFrom, lastCount] = [operand, from, count];
      if (!isStep(operand) || of[operand] === undefined) return;
      needed[operand] ??= new Uint8Array(elementCount((steps[operand] as Step).dims));
      needed[operand]?.fill(1, from, from + count);
    };
    for (let element = 0; element < own.length; element++) if (own[element] === 1) reads(element, need);
  }
  return needed;
}

/** By stage, the places (`length` elements each) with a needed element of that bound, as runs: the first place of a run,
 *  then its end, and so on. */
class StagePlaces {
  /** in all stages together */
  readonly count: number;
  /** that have a place, in order */
  readonly #stages: Int32Array;
  /** where the runs of each of these stages begin; and the end of the last */
  readonly #starts: Int32Array;
  readonly #runs: Int32Array;

  /** @param stages of the program */
  constructor(bounds: Bounds, needed: Uint8Array, length: number, stages: number) {
    const counts = new Int32Array(stages);
    let count = 0;
    eachPlace(bounds, needed, length, stages, (_, stage, isNext) => {
      count += 1;
      if (!isNext) counts[stage] = (counts[stage] as number) + 1;
    });
    this.count = count;
    this.#stages = Int32Array.from([...counts.keys()].filter((stage) => counts[stage] !== 0));
    this.#starts = new Int32Array(this.#stages.length + 1);
    const next = new Int32Array(stages);
    for (const [i, stage] of this.#stages.entries()) {
      next[stage] = this.#starts[i] as number;
      this.#starts[i + 1] = (this.#starts[i] as number) + 2 * (counts[stage] as number);
    }
    this.#runs = new Int32Array(this.#starts.at(-1) as number);
    eachPlace(bounds, needed, length, stages, (place, stage, isNext) => {
      const at = next[stage] as number;
      if (isNext) this.#runs[at - 1] = place + 1;
      else {
        this.#runs.set([place, place + 1], at);
        next[stage] = at + 2;
      }
    });
  }

  get runs(): number {
    return this.#runs.length / 2;
  }

  /** @returns undefined where there are none */
  of(stage: number): Int32Array | undefined {
    let [low, high] = [0, this.#stages.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#stages[middle] as number) < stage) low = middle + 1;
      else high = middle;
    }
    if (this.#stages[low] !== stage) return undefined;
    return this.#runs.subarray(this.#starts[low], this.#starts[low + 1]);
  }
}

/** Each place and stage once, in the order of places. What has bound 0 the first run computes.
 *  @param visit `isNext`: the place in front of it is of that stage, too */
function eachPlace(
  bounds: Bounds,
  needed: Uint8Array,
  length: number,
  stages: number,
  visit: (place: number, stage: number, isNext: boolean) => void,
): void {
  const last = new Int32Array(stages).fill(-2);
  for (let i = 0; i < needed.length; i++) {
    const stage = needed[i] === 1 ? (bounds?.[i] as number) : 0;
    // No stage has what hangs on the last row.
    if (stage < 1 || stage >= stages) continue;
    const place = Math.floor(i / length);
    if (last[stage] === place) continue;
    visit(place, stage, last[stage] === place - 1);
    last[stage] = place;
  }
}

function rower(step: Step, operands: readonly (PreparedOperand | undefined)[]): Compute {
  const kernel = rowKernel(step, operands);
  return (runs, out, data) => {
    for (let i = 0; i < runs.length; i += 2)
      for (let row = runs[i] as number; row < (runs[i + 1] as number); row++) kernel(row, out, data);
  };
}

/** MOVE copies bits; where the source does not reach stays what the first run gave, the pad, or b's element. */
function mover(step: Step): Compute {
  const map = sourceMap(step);
  const isWide = step.type === "s32" || step.type === "f32";
  const raw = (data: TensorData): TensorData => (isWide ? bitsOf(data) : data);
  return (runs, out, [a, b]) => {
    const [target, source] = [raw(out), raw(a as TensorData)];
    const other = b && raw(b);
    for (let i = 0; i < runs.length; i += 2) {
      for (let element = runs[i] as number; element < (runs[i + 1] as number); element++) {
        const from = map[element] as number;
        if (from >= 0) target[element] = source[from] as number;
        else if (other !== undefined) target[element] = other[element] as number;
      }
    }
  };
}
