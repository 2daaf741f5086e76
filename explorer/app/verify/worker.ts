/** The canonical executor, off the page's thread: it runs a model again and compares. What it fetches is checked against
 *  the model's id, so that nothing here rests on the explorer's word. */
import { expose } from "comlink";
import { equalBytes, fromHex, type Hex, toHex } from "../../../base/bytes.ts";
import { encodeOutput } from "../../../inference/codecs/output.ts";
import { type Commitment, commitModel, commitTrace, modelId } from "../../../inference/commit/commitments.ts";
import { trace } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../../inference/executor/prepared-model.ts";
import { splitWeights } from "../../../inference/manifest/model-files.ts";
import { proveProfile } from "../../../inference/profile/prove.ts";
import {
  isWeight,
  type Operand,
  readsClaimed,
  type Tensor,
  type TensorData,
  type TensorType,
} from "../../../inference/program/form.ts";
import { storedElement } from "../../../inference/program/tensor.ts";
import { readProgram } from "../../../inference/program/validate.ts";
import type { PromisesAddress } from "../../../protocol/rules/promises/signed-claim.ts";
import { LANE, type LaneName } from "../../../protocol/rules/types.ts";
import type { Model } from "../../api/types.ts";
import { explain } from "./arithmetic/explain.ts";
import type { Arithmetic } from "./arithmetic/form.ts";
import { descent, type Floor, type Shown } from "./descent.ts";
import { checkPlace, type LeafPlace, type LeafProof, leafModelOf } from "./leaf.ts";
import { type StepSheet, stepSheets } from "./steps.ts";
import { numberOf } from "./values.ts";

const NO_KEY = `0x${"00".repeat(32)}` as const;

interface Run {
  readonly tensors: readonly Tensor[];
  readonly trace: Commitment;
  readonly output: Hex;
  readonly seconds: number;
}

export interface TensorSheet {
  readonly type: TensorType;
  readonly dims: readonly number[];
  readonly values: readonly number[];
}

export interface CheckedLeaf extends LeafPlace {
  readonly run: { readonly output: Hex; readonly traceRoot: Hex; readonly seconds: number };
}

const models = new Map<string, Promise<PreparedModel>>();
/** Reads a path of the explorer's JSON interface: the page knows where that is. @throws Error */
export type Read = (path: string) => Promise<Uint8Array>;
let read: Read = async (path) => {
  throw new Error(`Nothing reads ${path} for this worker.`);
};
let last: { readonly key: string; readonly run: Run } | undefined;

/** @throws Error when the files cannot be read, or are not what the model's id commits to */
async function open(id: string): Promise<PreparedModel> {
  const path = `/v1/models/${id}`;
  const {
    selector,
    lanes,
    vkHash = NO_KEY,
    hasProgram,
    hasWeights,
  } = JSON.parse(new TextDecoder().decode(await read(path))) as Model;
  if (!hasProgram || !hasWeights) {
    throw new Error("The explorer has no files of this model: give it the model's folder by --models.");
  }
  const [program, bytes] = await Promise.all([
    read(`${path}/files/program.bin`).then(readProgram),
    read(`${path}/files/weights.bin`),
  ]);
  const model = { program, weights: splitWeights(program, bytes) };
  const laneBits = lanes.reduce((bits, lane) => bits | LANE[lane as LaneName], 0);
  const identity = {
    ...commitModel(model),
    selector: fromHex(selector),
    lanes: laneBits,
    vkHash: fromHex(vkHash),
  };
  if (!equalBytes(modelId(identity), fromHex(id))) {
    throw new Error(
      "Program and weights that the explorer gave are not those that the model's id commits to.",
    );
  }
  return prepare(model, fromHex(selector));
}

function opened(id: string): Promise<PreparedModel> {
  const found = models.get(id) ?? open(id);
  models.set(id, found);
  found.catch(() => models.delete(id));
  return found;
}

/** @param stated the output of a claim that is looked at: of a program that reads it, the run is that claim's */
async function runOf(id: string, input: Hex, stated?: Hex): Promise<readonly [PreparedModel, Run]> {
  const prepared = await opened(id);
  const claimed = readsClaimed(prepared.program) ? stated : undefined;
  const key = `${id} ${input} ${claimed}`;
  if (last?.key === key) return [prepared, last.run];
  const before = performance.now();
  const tensors = trace(prepared, fromHex(input), claimed && fromHex(claimed));
  const output = toHex(encodeOutput(prepared.program, tensors.at(-1) as Tensor));
  const seconds = (performance.now() - before) / 1_000;
  const run: Run = { tensors, trace: commitTrace(prepared.program, tensors), output, seconds };
  last = { key, run };
  return [prepared, run];
}

const constantOf =
  (prepared: PreparedModel) =>
  (operand: Operand): TensorData => {
    if (!isWeight(operand)) throw new RangeError(`Operand ${operand} is no weight tensor.`);
    return prepared.constant(operand);
  };

const verifier = {
  readBy(page: Read): void {
    read = page;
  },
  /** The program, step by step, with the interval in which the weights prove each step's numbers to lie. */
  async program(id: string): Promise<StepSheet[]> {
    const { model, program } = await opened(id);
    return stepSheets(program, proveProfile(model));
  },
  /** One step's tensor in the run of an input, as numbers. */
  async tensor(id: string, input: Hex, step: number): Promise<TensorSheet> {
    const [, { tensors }] = await runOf(id, input);
    const { type, dims, data } = tensors[step] as Tensor;
    return { type, dims, values: Array.from(data, (_, i) => numberOf(type, storedElement(data, i))) };
  },
  /** Runs the model. @returns return data, the trace's root, and the seconds that it took */
  async run(id: string, input: Hex): Promise<{ output: Hex; traceRoot: Hex; seconds: number }> {
    const [, run] = await runOf(id, input);
    return { output: run.output, traceRoot: toHex(run.trace.root), seconds: run.seconds };
  },
  /** Checks that a leaf stands in its batch, and runs the model on its input. */
  async leaf(at: PromisesAddress, batchId: Hex, proof: LeafProof): Promise<CheckedLeaf> {
    const { modelId } = proof.batch;
    const { program, selector } = await opened(modelId);
    const place = checkPlace(at, batchId, leafModelOf(program, selector), proof);
    const [, run] = await runOf(modelId, place.input);
    return { ...place, run: { output: run.output, traceRoot: toHex(run.trace.root), seconds: run.seconds } };
  },
  /** Compares what a dispute has shown with the honest trace. @param stated the claim's output, where it is there */
  async descend(id: string, input: Hex, stated: Hex | undefined, shown: Shown): Promise<Floor[]> {
    const [{ program }, { tensors, trace: committed }] = await runOf(id, input, stated);
    return descent({ program, tensors, trace: committed }, shown);
  },
  /** How one element of the honest trace is computed; undefined of a CODEC step. @param stated the claim's output, where it is there */
  async explain(
    id: string,
    input: Hex,
    stated: Hex | undefined,
    step: number,
    element: number,
  ): Promise<Arithmetic | undefined> {
    const [prepared, { tensors }] = await runOf(id, input, stated);
    return explain(prepared.model, tensors, constantOf(prepared), step, element);
  },
};

export type Verifier = typeof verifier;
expose(verifier);
