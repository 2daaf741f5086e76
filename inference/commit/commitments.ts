import { encodeProgram } from "../program/encode.ts";
import { judgeVersionOf, type Model, type Program, type Step, type Tensor } from "../program/form.ts";
import { maxCalldata, outputLength, stepShape, type TreeShape, weightShape } from "../program/shape.ts";
import { assertTensor, fromStoredBytes } from "../program/tensor.ts";
import { assertWeightLengths } from "../program/weights.ts";
import { keccak256 } from "./keccak.ts";
import { RootTree, TensorTree } from "./tree.ts";

/** Trees of all tensors of a trace, or of all weight tensors, and the tree over their roots. */
export interface Commitment {
  readonly tensors: readonly TensorTree[];
  readonly roots: RootTree;
  readonly root: Uint8Array;
}

/** A commitment to trees that are already built. */
export function commitTensors(tensors: readonly TensorTree[]): Commitment {
  const roots = new RootTree(tensors.map((tensor) => tensor.root));
  return { tensors, roots, root: roots.root };
}

/** Commits to every step's tensor. Source: docs/PROTOCOL.md, section 1.
 *  @param tensors one a step, in order
 *  @throws BaseError TENSOR_MISMATCH when one has another type or shape than its step */
export function commitTrace(program: Program, tensors: readonly Tensor[]): Commitment {
  return commitTensors(
    program.steps.map((step, i) => {
      const tensor = tensors[i] ?? { type: step.type, dims: [], data: new Uint8Array(0) };
      assertTensor(tensor, step.type, step.dims, `tensor of step ${i}`);
      return tensorTree(tensor.data, stepShape(step));
    }),
  );
}

function tensorTree(data: Tensor["data"], { rows, rowBytes }: TreeShape): TensorTree {
  return new TensorTree(data, rows, rowBytes);
}

/** Root of one tensor. */
export const tensorRoot = (step: Program["steps"][number], data: Tensor["data"]): Uint8Array =>
  tensorTree(data, stepShape(step)).root;

/** A step's tensor, as the trace holds it. */
export function tensorOf({ steps }: Program, trace: Commitment, step: number): Tensor {
  const { type, dims } = steps[step] as Step;
  return { type, dims, data: fromStoredBytes(type, (trace.tensors[step] as TensorTree).stored) };
}

/** Commits to the weights; the root is 32 zero bytes where there are none.
 *  @throws BaseError WEIGHTS_MISMATCH */
export function commitWeights(model: Model): Commitment {
  assertWeightLengths(model);
  return commitTensors(
    model.program.weights.map((weight, i) => {
      const { rows, rowBytes } = weightShape(weight);
      return new TensorTree(model.weights[i] as Uint8Array, rows, rowBytes);
    }),
  );
}

export const programHash = (program: Program): Uint8Array => keccak256(encodeProgram(program));

/** What of a modelId comes from the model's files; selector, lanes and verification key are chosen at
 *  registration. */
export interface ModelCommitment {
  readonly programHash: Uint8Array;
  readonly weightsRoot: Uint8Array;
  readonly maxCalldata: number;
  readonly outputLength: number;
  /** Version of the judge that the program needs; 1 of a model without a program. */
  readonly judgeVersion: number;
}

export function commitModel(model: Model): ModelCommitment {
  const { program } = model;
  return {
    programHash: programHash(program),
    weightsRoot: commitWeights(model).root,
    maxCalldata: maxCalldata(program),
    outputLength: outputLength(program),
    judgeVersion: judgeVersionOf(program),
  };
}

/** What a modelId hashes. */
export interface ModelIdentity extends ModelCommitment {
  /** 4 bytes. */
  readonly selector: Uint8Array;
  /** Bits 1 EXECUTION, 2 PROOF, 4 BOND. */
  readonly lanes: number;
  /** 32 bytes, zero without a PROOF lane. */
  readonly vkHash: Uint8Array;
}

/** keccak256 of the identity's eight ABI words. Source: docs/PROTOCOL.md, section 1. */
export function modelId(identity: ModelIdentity): Uint8Array {
  const words = new Uint8Array(32 * 8);
  const view = new DataView(words.buffer);
  words.set(identity.programHash, 0);
  words.set(identity.weightsRoot, 32);
  words.set(identity.selector, 64);
  view.setUint32(4 * 32 - 4, identity.maxCalldata);
  view.setUint32(5 * 32 - 4, identity.outputLength);
  view.setUint8(6 * 32 - 1, identity.lanes);
  words.set(identity.vkHash, 192);
  view.setUint16(8 * 32 - 2, identity.judgeVersion);
  return keccak256(words);
}
