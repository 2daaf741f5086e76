/** Whether a conviction holds, by the reference judge: what the contract finds when it recomputes the fault. */
import type { Question } from "../../challenger/interrogate.ts";
import { equalBytes, toHex } from "../../inference/bytes.ts";
import { encodeOutput } from "../../inference/codecs/output.ts";
import { tensorRoot } from "../../inference/commit/commitments.ts";
import { keccak256 } from "../../inference/commit/keccak.ts";
import { foldOpening, outputRead, readsOf } from "../../inference/commit/openings.ts";
import { foldPath, TensorTree } from "../../inference/commit/tree.ts";
import { elementBytes, isWeight, type Step, type Tensor } from "../../inference/program/form.ts";
import { lastStep, locate, stepShape } from "../../inference/program/shape.ts";
import { fromStoredBytes } from "../../inference/program/tensor.ts";
import type { HonestRun } from "./lies.ts";
import { judge } from "./reference-judge.ts";

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
      const last = program.steps.length - 1;
      const { rows, rowBytes, words } = stepShape(lastStep(program));
      const stored = unpadded(question.words, rows, rowBytes, words);
      const { root } = new TensorTree(stored, rows, rowBytes);
      if (!equalBytes(foldPath(root, last, question.path), traceRoot)) return false;
      const { type, dims } = lastStep(program);
      const output = encodeOutput(program, { type, dims, data: fromStoredBytes(type, stored) });
      return toHex(keccak256(output)) !== outputHash;
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

/** Rows without the bytes that fill up their last words. */
function unpadded(all: readonly Uint8Array[], rows: number, rowBytes: number, words: number): Uint8Array {
  const bytes = new Uint8Array(rows * rowBytes);
  for (let row = 0; row < rows; row++) {
    const padded = Buffer.concat(all.slice(row * words, (row + 1) * words));
    bytes.set(padded.subarray(0, rowBytes), row * rowBytes);
  }
  return bytes;
}
