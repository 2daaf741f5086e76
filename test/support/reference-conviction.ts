/** Whether a conviction holds, by the reference judge: what the contract finds when it recomputes the fault. */

import { equalBytes, toHex } from "../../base/bytes.ts";
import type { Question } from "../../challenger/interrogate.ts";
import { judge } from "../../conformance/reference/judge.ts";
import { encodeOutput, outputElement, outputFault } from "../../inference/codecs/output.ts";
import { tensorRoot } from "../../inference/commit/commitments.ts";
import { keccak256 } from "../../inference/commit/keccak.ts";
import { foldOpening, outputRead, readsOf } from "../../inference/commit/openings.ts";
import { foldPath } from "../../inference/commit/tree.ts";
import { elementBytes, isWeight, type Step, type Tensor } from "../../inference/program/form.ts";
import { locate } from "../../inference/program/shape.ts";
import { fromStoredBytes, storedBytes } from "../../inference/program/tensor.ts";
import type { HonestRun } from "./lies.ts";

/** @param traceRoot that the prover committed to @param outputHash of the claim */
export function convictionHolds(
  run: HonestRun,
  question: Exclude<Question, { kind: "demand" }>,
  traceRoot: Uint8Array,
  outputHash: string,
): boolean {
  const { program } = run.prepared;
  switch (question.kind) {
    case "codec": {
      const { step, root, path } = question;
      const honest = tensorRoot(program.steps[step] as Step, (run.tensors[step] as Tensor).data);
      return equalBytes(foldPath(root, step, path), traceRoot) && !equalBytes(root, honest);
    }
    case "output": {
      const { output, element, openings } = question;
      if (toHex(keccak256(output)) !== outputHash) return false;
      const { type, dims, data } = run.tensors.at(-1) as Tensor;
      const [opening] = openings;
      if (opening === undefined)
        return outputFault(program, encodeOutput(program, { type, dims, data }), output) === "form";
      const read = outputRead(program, program.steps.length - 1, element);
      if (!equalBytes(foldOpening(program, read, opening), traceRoot)) return false;
      // The tensor with the element that the trace holds there.
      const [size, stored] = [elementBytes(type), storedBytes(data).slice()];
      const { byte } = locate(type, dims, element);
      stored.set((opening.words[0] as Uint8Array).slice(byte, byte + size), element * size);
      const right = encodeOutput(program, { type, dims, data: fromStoredBytes(type, stored) });
      return !equalBytes(outputElement(program, right, element), outputElement(program, output, element));
    }
    case "element": {
      const { step, element, openings } = question;
      const dataOf = (operand: number) => run.tensors[operand]?.data ?? run.prepared.constant(operand);
      const reads = [outputRead(program, step, element), ...readsOf(program, step, element, dataOf)];
      const folds = reads.every((read, i) => {
        const opening = openings[i];
        const root = isWeight(read.operand) ? run.weights.root : traceRoot;
        return opening !== undefined && equalBytes(foldOpening(program, read, opening), root);
      });
      if (!folds || openings.length !== reads.length) return false;
      const { type, dims } = program.steps[step] as Step;
      const { byte } = locate(type, dims, element);
      const word = openings[0]?.words[0] as Uint8Array;
      return (
        judge(program, step, element, openings) !== BigInt(toHex(word.slice(byte, byte + elementBytes(type))))
      );
    }
  }
}
