/** Which programs the canonical executor itself computes the soonest. */
import { sinceVersion } from "../program/codes.ts";
import {
  elementCount,
  lastDim,
  operandDims,
  type Program,
  readsClaimed,
  type Step,
} from "../program/form.ts";

/** Elements that the executor computes in the time that tensors take to a child process and back, some 0.2 ms. All
 *  shipped models have fewer: docs/BENCHMARKS.md, "Canonical executor beside onnxruntime". */
const MOST_ELEMENTS = 65_536;
/** Runs that find the output of a causal program: on zero bytes, row by row, and the one that shows it. */
const RUNS_BY_ROWS = 3;
/** Products of a DOT step that take as long as another element. */
const PRODUCTS_AN_ELEMENT = 16;

/** True where a run of the executor takes less than sending its input to onnxruntime: there it is asked at once, and no
 *  faster path is before it. By the program's size alone, so that it is the same on every machine. */
export const isQuick = (program: Program): boolean => elementsOf(program) <= MOST_ELEMENTS;

/** True where the executor is asked at once: of quick programs, and of those whose work is mostly that of steps that judges
 *  of version 1 lack. Those the emitted file computes in 64 bits, in two thirds of the executor's time (docs/BENCHMARKS.md,
 *  "Derived models"), by kernels of onnxruntime few of which others use, and some of which are wrong
 *  (inference/emit/wide.ts): a third of the time is not worth that trust. */
export function isForExecutorAlone(program: Program): boolean {
  const newer = program.steps.filter(({ opcode, variant }) => sinceVersion(opcode, variant) > 1);
  return isQuick(program) || 2 * workOf(program, newer) > runWork(program);
}

/** How many runs take as long as that many of the largest quick program: 1 to `most`. */
export const runsLike = (program: Program, most: number): number =>
  Math.max(1, Math.min(most, Math.floor((most * MOST_ELEMENTS) / elementsOf(program))));

/** Of a run, and of what finds the output where the program reads it. */
const elementsOf = (program: Program): number =>
  (readsClaimed(program) ? RUNS_BY_ROWS : 1) * runWork(program);

/** Of one run. */
export const runWork = (program: Program): number => workOf(program, program.steps);

const workOf = (program: Program, steps: readonly Step[]): number =>
  steps.reduce((sum, step) => sum + stepWork(program, step, elementCount(step.dims)), 0);

/** What elements of a step take, in elements of a step that computes each from as many. */
export function stepWork(program: Program, { opcode, a, b }: Step, elements: number): number {
  if (opcode === "dot") return elements * (1 + lastDim(operandDims(program, b)) / PRODUCTS_AN_ELEMENT);
  return opcode === "reduce" ? elements * lastDim(operandDims(program, a)) : elements;
}
