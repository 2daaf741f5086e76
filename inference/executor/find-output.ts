import { equalBytes } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { CodecInput } from "../codecs/input.ts";
import { encodeOutput } from "../codecs/output.ts";
import { describeOperation } from "../profile/describe.ts";
import type { Program, Step, Tensor } from "../program/form.ts";
import { lastStep, outputLength } from "../program/shape.ts";
import type { PreparedModel } from "./prepared-model.ts";
import { runWork } from "./quick.ts";
import type { RowPlan } from "./rows/plan.ts";

/** Passes that find the output of a causal program. */
export const mostPasses = (program: Program): number => (lastStep(program).dims[0] as number) + 1;

/** Return data of one run. @param claimed as of PreparedModel.run */
export function onePass(prepared: PreparedModel, input: CodecInput, claimed?: Uint8Array): Uint8Array {
  return encodeOutput(prepared.program, prepared.pass(input, claimed));
}

/** Runs that finding an output may take as long as; row by row it mostly takes three. */
const MOST_RUNS = 32;
/** As `stepWork` counts it: some seconds. Less is never refused. */
const LITTLE_WORK = 2 ** 26;

/** A check takes one run, whatever it takes to find what is right: so nobody else's program keeps a node for hours.
 *  @throws OUTPUT_TOO_COSTLY */
function assertFindable({ program }: PreparedModel, plan: RowPlan | undefined): void {
  const run = runWork(program);
  const work = plan?.work ?? mostPasses(program) * run;
  if (work <= Math.max(LITTLE_WORK, MOST_RUNS * run)) return;
  const step = plan?.costliest;
  const why =
    step === undefined
      ? `it cannot be found row by row, and by passes ${mostPasses(program)} are needed`
      : `most of all step ${step} (${describeOperation(program.steps[step] as Step)}) is computed again for each row`;
  const runs = Math.ceil(work / run);
  throw new BaseError({
    code: "OUTPUT_TOO_COSTLY",
    shortMessage: `Finding an output takes as long as ${runs} runs of the program, at most ${MOST_RUNS} are made: ${why}.`,
    nextStep:
      "Use a program that has the rows of its output on the first axes of its steps; a claim on this one can still be checked.",
    details: { runs, limit: MOST_RUNS, ...(step === undefined ? {} : { step }) },
  });
}

/** The output that a program which reads the claimed output finds right. Of a causal program that is found row by row,
 *  and one pass shows that it is; else by passes.
 *  @param seen is told of each row that is found, while others are still looked for
 *  @throws as `findByPasses`; OUTPUT_TOO_COSTLY before any of it is computed */
export function findOutput(prepared: PreparedModel, input: CodecInput, seen?: SeeRow): Uint8Array {
  const plan = prepared.rowPlan();
  assertFindable(prepared, plan);
  if (plan !== undefined) {
    const output = findByRows(prepared, plan, input, seen);
    if (equalBytes(onePass(prepared, input, output), output)) return output;
    // As where a row's parts are divided by their own lengths, of which rows have some and not yet the others.
    assertFindable(prepared, undefined);
  }
  return findByPasses(prepared, input);
}

/** @param output return data of which the rows up to this one are found */
export type SeeRow = (row: number, output: Uint8Array) => void;

/** What stage after stage gives, each with one more row of what the one before gave; the first is a run on zero bytes. */
export function findByRows(
  prepared: PreparedModel,
  plan: RowPlan,
  input: CodecInput,
  seen?: SeeRow,
): Uint8Array {
  const { program } = prepared;
  let tensors = prepared.run(input, new Uint8Array(outputLength(program)));
  const output = (): Uint8Array => encodeOutput(program, tensors[tensors.length - 1] as Tensor);
  for (let stage = 1; stage < plan.rows; stage++) {
    const found = output();
    seen?.(stage - 1, found);
    tensors = prepared.runStage(plan, stage, found);
  }
  const whole = output();
  seen?.(plan.rows - 1, whole);
  return whole;
}

/** The output that a program which reads the claimed output finds right: each pass reads what the one before gave, the
 *  first one zero bytes, until nothing changes. In a causal program each pass makes one more row right, so there is
 *  one such output, and no more passes than rows, and one that changes nothing, find it. Source: docs/EXACT.md,
 *  section 5.
 *  @throws BaseError OUTPUT_NOT_FOUND where the passes have not found it, as the program is not causal */
export function findByPasses(prepared: PreparedModel, input: CodecInput): Uint8Array {
  const { program } = prepared;
  const passes = mostPasses(program);
  let output: Uint8Array = new Uint8Array(outputLength(program));
  for (let pass = 0; pass < passes; pass++) {
    const next = onePass(prepared, input, output);
    if (equalBytes(next, output)) return output;
    output = next;
  }
  throw new BaseError({
    code: "OUTPUT_NOT_FOUND",
    shortMessage: `No output that the program finds right was found in ${passes} passes, which suffice for a causal program.`,
    nextStep: "Use a model whose import proves that it is causal.",
    details: { passes },
  });
}
