/** Runs that a prover presents: any bytes in any tensor, garbage in padding, hashes of nothing, any output. */
import { equalBytes } from "../../base/bytes.ts";
import type { RandomProgram } from "../../conformance/generate/random-program.ts";
import { encodeOutput } from "../../inference/codecs/output.ts";
import { type Commitment, commitTrace, commitWeights } from "../../inference/commit/commitments.ts";
import { RootTree, TensorTree } from "../../inference/commit/tree.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import { isStep, readsClaimed, type Step, type Tensor } from "../../inference/program/form.ts";
import { stepShape, type TreeShape } from "../../inference/program/shape.ts";
import { fromStoredBytes, storedBytes } from "../../inference/program/tensor.ts";

/** A program with an input and its honest run. */
export interface HonestRun {
  readonly prepared: PreparedModel;
  readonly calldata: Uint8Array;
  readonly tensors: readonly Tensor[];
  readonly trace: Commitment;
  readonly weights: Commitment;
  readonly output: Uint8Array;
}

export function honestRun({
  model,
  selector,
  calldata,
}: Pick<RandomProgram, "model" | "selector" | "calldata">): HonestRun {
  const prepared = prepare(model, selector);
  const tensors = trace(prepared, calldata);
  return {
    prepared,
    calldata,
    tensors,
    trace: commitTrace(model.program, tensors),
    weights: commitWeights(model),
    output: encodeOutput(model.program, tensors.at(-1) as Tensor),
  };
}

/** What a challenger compares with: of a program that reads the claimed output, the run of what is claimed. */
export function runOfClaim(run: HonestRun, output: Uint8Array): HonestRun {
  const { prepared, calldata } = run;
  if (!readsClaimed(prepared.program) || equalBytes(output, run.output)) return run;
  const tensors = trace(prepared, calldata, output);
  return { ...run, tensors, trace: commitTrace(prepared.program, tensors) };
}

/** Numbers are taken modulo what there is. */
export interface Lie {
  /** bytes of tensors that are changed */
  readonly bytes: readonly { readonly step: number; readonly at: number; readonly flip: number }[];
  /** later steps are computed from what was changed */
  readonly follows: boolean;
  /** a step with a byte of garbage in its padding, if it has some */
  readonly garbageIn?: number;
  /** a step whose root is the hash of nothing */
  readonly rootOf?: number;
  /** what is claimed: the last tensor's output, or another if that is honest; or the honest one */
  readonly output: "own" | "honest" | "other";
}

export interface Presented {
  readonly trace: Commitment;
  readonly output: Uint8Array;
}

export function present(run: HonestRun, lie: Lie): Presented {
  const { program } = run.prepared;
  const tensors = wrongTensors(run, lie);
  const trees = program.steps.map((step, i) => {
    const { rows, rowBytes } = stepShape(step);
    return new TensorTree(storedBytes((tensors[i] as Tensor).data), rows, rowBytes);
  });
  if (lie.garbageIn !== undefined) {
    const step = lie.garbageIn % trees.length;
    const stored = storedBytes((tensors[step] as Tensor).data);
    trees[step] = withGarbage(stored, stepShape(program.steps[step] as Step)) ?? (trees[step] as TensorTree);
  }
  const roots = trees.map(({ root }) => root);
  if (lie.rootOf !== undefined) roots[lie.rootOf % roots.length] = new Uint8Array(32).fill(0xee);
  const tree = new RootTree(roots);
  return {
    trace: { tensors: trees, roots: tree, root: tree.root },
    output: claimedOutput(run, lie, tensors),
  };
}

function claimedOutput(run: HonestRun, { output }: Lie, tensors: readonly Tensor[]): Uint8Array {
  if (output === "honest") return run.output;
  const own = encodeOutput(run.prepared.program, tensors.at(-1) as Tensor);
  const isOther = output === "other" || equalBytes(own, run.output);
  return isOther ? run.output.map((byte) => byte ^ 1) : own;
}

function wrongTensors({ prepared, tensors: honest }: HonestRun, { bytes, follows }: Lie): Tensor[] {
  const { steps } = prepared.program;
  const tensors: Tensor[] = [];
  const stale = new Set<number>();
  for (const [i, { type, dims, a, b, c }] of steps.entries()) {
    let tensor = honest[i] as Tensor;
    if (follows && [a, b, c].some((operand) => stale.has(operand))) {
      tensor = prepared.runStep(
        i,
        [a, b, c].map((operand) => (isStep(operand) ? tensors[operand] : undefined)),
      );
      stale.add(i);
    }
    const wrong = bytes.filter(({ step }) => step % steps.length === i);
    if (wrong.length > 0) {
      const stored = storedBytes(tensor.data).slice();
      for (const { at, flip } of wrong)
        stored[at % stored.length] = (stored[at % stored.length] as number) ^ flip;
      tensor = { type, dims, data: fromStoredBytes(type, stored) };
      stale.add(i);
    }
    tensors.push(tensor);
  }
  return tensors;
}

/** A tree of the same height with a byte behind the first row's end, or behind the last row. */
function withGarbage(stored: Uint8Array, { rows, rowBytes, rowHeight, height }: TreeShape) {
  const [paddedRows, width] = [2 ** (height - rowHeight), 32 * 2 ** rowHeight];
  const at = rowBytes < width ? rowBytes : rows < paddedRows ? rows * width : undefined;
  if (at === undefined) return undefined;
  const bytes = new Uint8Array(paddedRows * width);
  for (let row = 0; row < rows; row++)
    bytes.set(stored.subarray(row * rowBytes, (row + 1) * rowBytes), row * width);
  bytes[at] = 0xff;
  return new TensorTree(bytes, paddedRows, width);
}
