/** The profile of a model: what makes every judge, runtime and circuit agree on it. Source: docs/EXACT.md, section 4. */

import { BaseError } from "../../base/errors.ts";
import type { Model, Step } from "../program/form.ts";
import { assertWeightLengths } from "../program/weights.ts";
import type { ProgramBounds } from "./causality/bounds.ts";
import { proveCausality } from "./causality/prove.ts";
import type { ProfileProblem } from "./context.ts";
import { describeOperation } from "./describe.ts";
import { analyse } from "./intervals.ts";
import { highest, lowest } from "./range.ts";

export interface StepProof {
  readonly step: number;
  /** ONNX node, where it is known. */
  readonly node: string;
  /** `dot integer u8 [1, 12]` */
  readonly operation: string;
  /** Bounds of all elements. */
  readonly low: number;
  readonly high: number;
}

export interface ProfileReport {
  readonly steps: readonly StepProof[];
  /** Of a program that reads the claimed output: which of its rows each element can depend on. Absent too where that is
   *  too much to be kept. */
  readonly bounds: ProgramBounds | undefined;
}

/** Proves the profile of a model whose program passed `validateProgram`.
 *  @param nodes ONNX node of each step
 *  @throws PROFILE_UNPROVEN with every step whose proof fails, CAUSALITY_UNPROVEN, WEIGHTS_MISMATCH */
export function proveProfile(model: Model, nodes: readonly string[] = []): ProfileReport {
  assertWeightLengths(model);
  const { ranges, problems } = analyse(model, nodes);
  if (problems.length > 0) {
    const lines = problems.map(describeProfileProblem);
    throw new BaseError({
      code: "PROFILE_UNPROVEN",
      shortMessage: `The profile of ${problems.length} step(s) cannot be proved:\n${lines.join("\n")}`,
      nextStep:
        model.program.inputCodec === "raw"
          ? "Change the model as each line says and import it again; or, if its inputs are narrower than their type, name the codec that says so with --codec."
          : "Change the model as each line says and import it again.",
      details: { steps: lines },
    });
  }
  const bounds = proveCausality(model, ranges);
  const steps = model.program.steps.map((step: Step, i) => {
    const range = ranges[i];
    const [low, high] = range === undefined ? [0, 0] : [lowest(range), highest(range)];
    return { step: i, node: nodes[i] ?? "", operation: describeOperation(step), low, high };
  });
  return { steps, bounds };
}

export function describeProfileProblem(p: ProfileProblem): string {
  const node = p.node === undefined || p.node === "" ? "" : `, node ${p.node}`;
  return `step ${p.step} (${p.opcode}${node}): ${p.what}: ${p.low} to ${p.high}, allowed is ${p.limit}. ${p.nextStep}`;
}
