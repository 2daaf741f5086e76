/** `assay model inspect MODEL`: the program, its proofs, and the sizes that gas depends on. */

import type { Command } from "commander";
import {
  elementCount,
  isStep,
  isWeight,
  NONE,
  type Operand,
  type Program,
  type Step,
  weightIndex,
} from "../../inference/program/form.ts";
import {
  demandDepth,
  maxCalldata,
  outputLength,
  stepShape,
  traceHeight,
} from "../../inference/program/shape.ts";
import { printResult, withJson } from "../output.ts";
import { claimedLines, requantizationLines } from "./import.ts";
import { inspectProofModel } from "./inspect-proof-model.ts";
import { type ImportFlags, importSettingsOf, withImportOptions } from "./options.ts";
import { openModel, proofModelFolder } from "./resolve.ts";

export function addInspectCommand(parent: Command): void {
  const command = parent
    .command("inspect <model>")
    .description("list a program's steps with their proofs and sizes, or what a float model's proofs take");
  withJson(withImportOptions(command)).action((name: string, flags: ImportFlags, self: Command) => {
    const folder = proofModelFolder(name);
    if (folder !== undefined) return inspectProofModel(folder, self);
    const opened = openModel(name, importSettingsOf(flags));
    const { model, profile, requantizations, notes, io } = opened;
    const { program } = model;
    const steps = profile.steps.map((proof) => {
      const step = program.steps[proof.step] as Step;
      const operands = [step.a, step.b, step.c].filter((o) => o !== NONE).map(operandName);
      return { ...proof, operands, height: stepShape(step).height };
    });
    const sizes = {
      inputCodec: program.inputCodec,
      outputCodec: program.outputCodec,
      inputSize: program.inputSize,
      maxCalldata: maxCalldata(program),
      outputLength: outputLength(program),
      steps: program.steps.length,
      weightTensors: program.weights.length,
      weightBytes: model.weights.reduce((sum, w) => sum + w.length, 0),
      multiplications: multiplications(program),
      lookups: lookups(program),
      elements: program.steps.reduce((sum, s) => sum + elementCount(s.dims), 0),
      traceHeight: traceHeight(program),
      d: demandDepth(program),
    };
    printResult(self, { sizes, io, steps, requantizations, notes }, [
      ...Object.entries(sizes).map(([key, value]) => `${key}: ${value}`),
      ...claimedLines(opened),
      ...steps.map((s) => {
        const from = s.operands.length === 0 ? "" : ` of ${s.operands.join(", ")}`;
        return `${s.step}: ${s.operation}${from}: proven ${s.low} to ${s.high}, height ${s.height} (${s.node})`;
      }),
      ...requantizationLines(opened),
      ...notes.map((note) => `note: ${note}`),
    ]);
  });
}

function operandName(operand: Operand): string {
  return isStep(operand) ? `step ${operand}` : `weight ${weightIndex(operand)}`;
}

function multiplications(program: Program): number {
  return program.steps.reduce((sum, step) => {
    if (step.opcode !== "dot" || !isWeight(step.b)) return sum;
    const k = program.weights[weightIndex(step.b)]?.dims[1] ?? 0;
    return sum + elementCount(step.dims) * k;
  }, 0);
}

/** Table rows read, at most. */
function lookups(program: Program): number {
  return program.steps.reduce((sum, step) => {
    if (step.opcode !== "lookup" || !isStep(step.a)) return sum;
    return sum + elementCount(program.steps[step.a]?.dims ?? []);
  }, 0);
}
