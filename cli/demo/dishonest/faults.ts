/** Dishonest runs for tests and demonstrations: what a cheat would commit to and claim. */

import { equalBytes } from "../../../base/bytes.ts";
import { BaseError, type ErrorDetails } from "../../../base/errors.ts";
import { encodeOutput, outputPlaces } from "../../../inference/codecs/output.ts";
import type { Commitment } from "../../../inference/commit/commitments.ts";
import { commitTensors, commitTrace } from "../../../inference/commit/commitments.ts";
import { TensorTree } from "../../../inference/commit/tree.ts";
import { trace } from "../../../inference/executor/execute.ts";
import { mostPasses } from "../../../inference/executor/find-output.ts";
import type { PreparedModel } from "../../../inference/executor/prepared-model.ts";
import {
  elementCount,
  isStep,
  readsClaimed,
  type Step,
  type Tensor,
  type TensorData,
  type TensorType,
} from "../../../inference/program/form.ts";
import { lastStep } from "../../../inference/program/shape.ts";
import { storedBytes } from "../../../inference/program/tensor.ts";
import type { FallReason } from "../../../protocol/rules/types.ts";

/** What each kind does, and how its claim must fall. */
export const FAULTS = {
  element: { takesStep: true, fall: "ELEMENT", does: "one wrong element that changes the output" },
  input: { takesStep: true, fall: "CODEC", does: "the input tensor of another request" },
  codec: { takesStep: true, fall: "CODEC", does: "one wrong element of an input tensor" },
  output: { takesStep: false, fall: "OUTPUT", does: "a wrong output over an honest trace" },
  padding: { takesStep: true, fall: "DEMAND_TIMEOUT", does: "garbage in a tensor's padding" },
  stall: { takesStep: false, fall: "TRACE_TIMEOUT", does: "a wrong output and no trace" },
  "stall-reveal": { takesStep: false, fall: "DEMAND_TIMEOUT", does: "a wrong trace that is never opened" },
  "garbage-reveal": { takesStep: false, fall: "DEMAND_TIMEOUT", does: "a wrong trace and garbage on demand" },
} as const satisfies Record<string, { takesStep: boolean; fall: FallReason; does: string }>;
export type FaultKind = keyof typeof FAULTS;

export interface Fault {
  readonly kind: FaultKind;
  /** Present where the kind takes a step. */
  readonly step?: number;
}

/** A run as the cheat presents it. */
export interface DishonestRun {
  readonly output: Uint8Array;
  readonly trace: Commitment;
}

const refuse = (shortMessage: string, nextStep: string, details: ErrorDetails): never => {
  throw new BaseError({ code: "FAULT_IMPOSSIBLE", shortMessage, nextStep, details });
};

/** @param text `kind` or `kind:step` */
export function parseFault(text: string): Fault {
  const [kind = "", where, ...rest] = text.split(":");
  const known = Object.hasOwn(FAULTS, kind) ? FAULTS[kind as FaultKind] : undefined;
  if (known === undefined || rest.length > 0) {
    return refuse(
      `Fault ${JSON.stringify(text)} is unknown.`,
      `Give one of ${Object.keys(FAULTS).join(", ")}.`,
      { text },
    );
  }
  if (!known.takesStep) {
    if (where === undefined) return { kind: kind as FaultKind };
    return refuse(`Fault ${kind} takes no step, got ${JSON.stringify(where)}.`, `Give --fault ${kind}.`, {
      text,
    });
  }
  if (where === undefined || !/^\d{1,4}$/.test(where)) {
    return refuse(
      `Fault ${kind} needs a step number, got ${JSON.stringify(where)}.`,
      `Give --fault ${kind}:<step>; \`assay model inspect\` lists the steps.`,
      { text },
    );
  }
  return { kind: kind as FaultKind, step: Number(where) };
}

/** Runs the model on the input and falsifies the run.
 *  @throws BaseError FAULT_IMPOSSIBLE where the fault cannot be made at this step on this input */
export function falsify(prepared: PreparedModel, calldata: Uint8Array, fault: Fault): DishonestRun {
  const run = (claimed?: Uint8Array) => trace(prepared, calldata, claimed);
  const subject = { prepared, run, honest: run() };
  const { steps } = prepared.program;
  const step = fault.step ?? 0;
  if (step >= steps.length) {
    return refuse(`Step ${step} does not exist.`, `Name one of the steps 0 to ${steps.length - 1}.`, {
      step,
    });
  }
  switch (fault.kind) {
    case "output":
    case "stall":
      return wrongOutput(subject);
    case "padding":
      return withGarbage(subject, step);
    case "stall-reveal":
    case "garbage-reveal":
      return present(prepared, anyWrongElement(subject));
    case "element":
    case "codec":
    case "input": {
      const isCodec = (steps[step] as Step).opcode === "codec";
      if (isCodec === (fault.kind === "element")) {
        const wanted = isCodec ? "codec or input" : "element";
        return refuse(
          `Step ${step} is ${isCodec ? "a" : "no"} codec step, so ${fault.kind} does not apply.`,
          `Use --fault ${wanted}:${step}.`,
          { step, kind: fault.kind },
        );
      }
      const tensors = fault.kind === "input" ? wrongInput(subject, step) : wrongElement(subject, step);
      return present(
        prepared,
        tensors ??
          refuse(
            `No single wrong element of step ${step} changes the output on this input.`,
            "Choose another step or another input.",
            { step },
          ),
      );
    }
  }
}

/** What is falsified. */
interface Subject {
  readonly prepared: PreparedModel;
  /** Every step's tensor. @param claimed what a program reads that reads the claimed output; absent: the right one */
  readonly run: (claimed?: Uint8Array) => readonly Tensor[];
  /** of the right output */
  readonly honest: readonly Tensor[];
}

const encode = (prepared: PreparedModel, tensors: readonly Tensor[]): Uint8Array =>
  encodeOutput(prepared.program, tensors[tensors.length - 1] as Tensor);

function present(
  prepared: PreparedModel,
  tensors: readonly Tensor[],
  output: Uint8Array = encode(prepared, tensors),
): DishonestRun {
  return { output, trace: commitTrace(prepared.program, tensors) };
}

/** A wrong output, and the honest trace of it. */
function wrongOutput({ prepared, run, honest }: Subject): DishonestRun {
  const output = bumped(prepared, encode(prepared, honest));
  return present(prepared, run(output), output);
}

/** The output with its last element's lowest byte changed. */
function bumped({ program }: PreparedModel, output: Uint8Array): Uint8Array {
  const { start, size } = outputPlaces(program);
  // Behind the last element there may be zeros.
  const last = start + size * elementCount(lastStep(program).dims) - 1;
  const wrong = output.slice();
  wrong[last] = (wrong[last] as number) ^ 1;
  return wrong;
}

/** The tensors with `data` at `step`, and everything after it computed from that. */
function recomputed(
  prepared: PreparedModel,
  honest: readonly Tensor[],
  step: number,
  data: TensorData,
): Tensor[] {
  const tensors = honest.slice(0, step);
  tensors.push({ ...(honest[step] as Tensor), data });
  const stale = new Set([step]);
  for (let i = step + 1; i < honest.length; i++) {
    const { a, b, c } = prepared.program.steps[i] as Step;
    const operands = [a, b, c];
    if (!operands.some((operand) => stale.has(operand))) {
      tensors.push(honest[i] as Tensor);
      continue;
    }
    stale.add(i);
    tensors.push(
      prepared.runStep(
        i,
        operands.map((operand) => (isStep(operand) ? tensors[operand] : undefined)),
      ),
    );
  }
  return tensors;
}

/** The falsified run of the output that it makes itself: where a program reads what is claimed, that follows until both
 *  are the same. @param change of the step's content */
function consistent(
  { prepared, run, honest }: Subject,
  step: number,
  change: (data: TensorData) => TensorData,
): Tensor[] {
  const falsified = (tensors: readonly Tensor[]) =>
    recomputed(prepared, tensors, step, change((tensors[step] as Tensor).data));
  let tensors = falsified(honest);
  if (!readsClaimed(prepared.program)) return tensors;
  let claimed = encode(prepared, honest);
  for (let pass = 0; pass < mostPasses(prepared.program); pass++) {
    const next = encode(prepared, tensors);
    if (equalBytes(next, claimed)) break;
    claimed = next;
    tensors = falsified(run(claimed));
  }
  return tensors;
}

/** Of an s32 element: so large a score is the likeliest. */
const FARTHEST = 2 ** 30;

/** Wrong values to try for one element: far ones first, a cheat wants another answer. */
function wrongValues(type: TensorType, value: number): number[] {
  if (type === "bool") return [value === 0 ? 1 : 0];
  if (type === "u8" || type === "s8")
    return [value ^ 0x80, 255 - value, 0, 255].filter((wrong) => wrong !== value);
  if (type === "f32") return [value + 1, value * 2 + 64, -value - 1].map(Math.fround);
  return [-value - 1, value + 4096, value - 4096, value + 1, FARTHEST, -FARTHEST].map((wrong) => wrong | 0);
}

const TRIES = 4_096;

function wrongElement(subject: Subject, step: number): Tensor[] | undefined {
  const { prepared, honest } = subject;
  const { type, data } = honest[step] as Tensor;
  const right = encode(prepared, honest);
  // A stride that is coprime to most sizes visits elements far apart first.
  const stride = 7919;
  let tries = TRIES;
  for (let n = 0; n < data.length && tries > 0; n++) {
    const at = (n * stride) % data.length;
    for (const value of wrongValues(type, data[at] as number)) {
      tries--;
      const tensors = consistent(subject, step, (right) => {
        const wrong = right.slice();
        wrong[at] = value;
        return wrong;
      });
      if (!equalBytes(encode(prepared, tensors), right)) return tensors;
    }
  }
  return undefined;
}

function anyWrongElement(subject: Subject): Tensor[] {
  const { prepared, honest } = subject;
  for (let step = 0; step < honest.length; step++) {
    if ((prepared.program.steps[step] as Step).opcode === "codec") continue;
    const tensors = wrongElement(subject, step);
    if (tensors !== undefined) return tensors;
  }
  return refuse("No single wrong element changes the output on this input.", "Choose another input.", {});
}

/** The codec step's elements in reverse order: a well-formed tensor of some other input. */
function wrongInput(subject: Subject, step: number): Tensor[] | undefined {
  const { prepared, honest } = subject;
  const tensors = consistent(subject, step, (data) => data.slice().reverse());
  const changed = !equalBytes(encode(prepared, tensors), encode(prepared, honest));
  return changed ? tensors : wrongElement(subject, step);
}

/** A wrong output over a trace that is honest but for one padding byte: nothing of it can be convicted or opened. */
function withGarbage(subject: Subject, step: number): DishonestRun {
  const { trace: committed, output } = wrongOutput(subject);
  const honest = subject.run(output);
  const { rows, words, rowBytes, rowHeight, height } = (committed.tensors[step] as TensorTree).shape;
  const [paddedRows, width] = [2 ** (height - rowHeight), 32 * 2 ** rowHeight];
  const bytes = new Uint8Array(paddedRows * width);
  const stored = storedBytes((honest[step] as Tensor).data);
  for (let row = 0; row < rows; row++)
    bytes.set(stored.subarray(row * rowBytes, (row + 1) * rowBytes), row * width);
  const at = rowBytes < width ? rowBytes : rows < paddedRows ? rows * width : undefined;
  if (at === undefined) {
    return refuse(
      `The tensor of step ${step} has no padding: ${rows} rows of ${words} whole words.`,
      "Choose a step whose rows or row bytes are no power of two.",
      { step, rows, words },
    );
  }
  bytes[at] = 0xff;
  const tensors = committed.tensors.map((tensor, i) =>
    i === step ? new TensorTree(bytes, paddedRows, width) : tensor,
  );
  return { output, trace: commitTensors(tensors) };
}
