/** Whole programs by every way in which a chain runs them, against the canonical executor. */
import { equalBytes, toHex } from "../../base/bytes.ts";
import type { Subject } from "../../conformance/generate/shaped-program.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { describeProgram } from "../../inference/program/describe.ts";
import type { Model } from "../../inference/program/form.ts";
import type { Outcome, Played, ProgramChain } from "./program-chain.ts";

export interface Compared {
  readonly played: Played;
  /** what went wrong, in words; empty if nothing did */
  readonly differences: readonly string[];
}

/** The executor's outputs. */
export function outputsOf({ model, selector, inputs }: Subject): readonly Uint8Array[] {
  const prepared = prepare(model, selector);
  return inputs.map((input) => execute(prepared, input));
}

/** @returns what each engine did with each input, and where it differs from the executor */
export async function compareProgram(
  chain: ProgramChain,
  subject: Subject,
  expected = outputsOf(subject),
): Promise<Compared> {
  const { model, selector, inputs } = subject;
  const played = await chain.play(model, selector, inputs);
  const differences: string[] = [];
  if (played.refusal !== undefined) differences.push(played.refusal);
  for (const reason of played.unplanned) {
    if (reason !== undefined && !reason.startsWith("NotPlannable(")) differences.push(`no plan: ${reason}`);
  }
  for (const outcome of played.outcomes) {
    const difference = differenceOf(outcome, expected[outcome.input] as Uint8Array);
    if (difference !== undefined) differences.push(difference);
  }
  return { played, differences };
}

function differenceOf({ engine, input, output, revert }: Outcome, expected: Uint8Array): string | undefined {
  if (output !== undefined && equalBytes(output, expected)) return undefined;
  const found = output === undefined ? revert : firstDifference(output, expected);
  return `${engine}, input ${input}: ${found}`;
}

function firstDifference(found: Uint8Array, expected: Uint8Array): string {
  if (found.length !== expected.length) return `${found.length} bytes, executor ${expected.length}`;
  const at = found.findIndex((byte, i) => byte !== expected[i]);
  const some = (bytes: Uint8Array): string => toHex(bytes.subarray(at, at + 8));
  return `byte ${at} of ${found.length} on: ${some(found)}, executor ${some(expected)}`;
}

/** A report of a program that went wrong: the first of its steps whose tensor does, if the program ended there. */
export async function explain(
  chain: ProgramChain,
  subject: Subject,
  { differences }: Compared,
): Promise<string> {
  const lines = [`${subject.name}:`, ...differences.slice(0, 6)];
  const { program } = subject.model;
  for (let steps = 1; steps <= program.steps.length; steps++) {
    const part: Model = {
      ...subject.model,
      program: { ...program, outputCodec: "raw", steps: program.steps.slice(0, steps) },
    };
    const compared = await compareProgram(chain, { ...subject, model: part });
    if (compared.differences.length === 0) continue;
    lines.push(`First at step ${steps - 1}: ${compared.differences[0]}`);
    const described = describeProgram(part.program);
    lines.push(...described.slice(0, 2), ...described.slice(-12));
    break;
  }
  return lines.join("\n");
}
