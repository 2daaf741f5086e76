import { BaseError } from "../../base/errors.ts";
import { OPCODE_FORMS } from "../opcodes/generated/index.ts";
import type { OperandSource, Read } from "../opcodes/opcode.ts";
import {
  isStep,
  isWeight,
  type Operand,
  type Program,
  type Step,
  type TensorData,
  type WeightDescriptor,
  weightIndex,
} from "../program/form.ts";
import { ceilLog2, locate, stepShape, type TreeShape, weightShape } from "../program/shape.ts";
import type { Commitment } from "./commitments.ts";
import { keccak256, ZERO_SUBTREES } from "./keccak.ts";
import { foldNodes, foldPath } from "./tree.ts";

/** Words of an aligned subtree and the siblings from it to the trace or weights root, bottom up. */
export interface Opening {
  readonly words: readonly Uint8Array[];
  readonly path: readonly Uint8Array[];
}

/** The words that one element of a step is computed from, in order, without the output's word.
 *  @param dataOf content of an operand; LOOKUP and TABLE ask for a, and LOOKUP below for its mask, because their values
 *  say what is read of b
 *  @throws BaseError ELEMENT_OUTSIDE when the step or the element does not exist */
export function readsOf(
  program: Program,
  step: number,
  element: number,
  dataOf: (operand: Operand) => TensorData,
): Read[] {
  outputRead(program, step, element);
  const record = program.steps[step] as Step;
  const source: OperandSource = {
    shape: (operand) => (isStep(operand) ? (program.steps[operand] as Step) : weightOf(program, operand)),
    weights: (operand) => weightOf(program, operand),
    data: dataOf,
  };
  return OPCODE_FORMS[record.opcode].reads(record, element, source);
}

const weightOf = (program: Program, operand: Operand): WeightDescriptor =>
  program.weights[weightIndex(operand)] as WeightDescriptor;

/** The word that holds an element of a step's own tensor. */
export function outputRead(program: Program, step: number, element: number): Read {
  const record = program.steps[step];
  const count = record === undefined ? 0 : record.dims.reduce((product, dim) => product * dim, 1);
  if (record === undefined || !Number.isInteger(element) || element < 0 || element >= count) {
    throw new BaseError({
      code: "ELEMENT_OUTSIDE",
      shortMessage: `Step ${step} has ${count} elements, element ${element} is none of them.`,
      nextStep: `Name a step below ${program.steps.length} and an element of its tensor.`,
      details: { step, element, elements: count, steps: program.steps.length },
    });
  }
  const { row, word } = locate(record.type, record.dims, element);
  return { operand: step, row, word };
}

/** Opens what `read` names in a trace and the weights. A challenger that opens another prover's trace takes the
 *  path of its own tree inside a tensor whose root is agreed, and `traceSiblings` of the claimed trace above it. */
export function open(
  read: Read,
  trace: Commitment,
  weights: Commitment,
  traceSiblings: (step: number) => readonly Uint8Array[] = (step) => trace.roots.siblings(0, step),
): Opening {
  const inWeights = isWeight(read.operand);
  const index = inWeights ? weightIndex(read.operand) : read.operand;
  const tree = (inWeights ? weights : trace).tensors[index] as Commitment["tensors"][number];
  const above = inWeights ? weights.roots.siblings(0, index) : traceSiblings(index);
  const { words, rowHeight } = tree.shape;
  if (read.word === undefined) {
    return {
      words: Array.from({ length: words }, (_, i) => tree.word(read.row, i)),
      path: [...tree.siblings(rowHeight, read.row), ...above],
    };
  }
  return {
    words: [tree.word(read.row, read.word)],
    path: [...tree.siblings(0, read.row * 2 ** rowHeight + read.word), ...above],
  };
}

/** All openings that convictElement takes: the output's word first, then what the element reads. */
export function openElement(
  program: Program,
  step: number,
  element: number,
  trace: Commitment,
  weights: Commitment,
  dataOf: (operand: Operand) => TensorData,
): Opening[] {
  const reads = [outputRead(program, step, element), ...readsOf(program, step, element, dataOf)];
  return reads.map((read) => open(read, trace, weights));
}

/** Root that an opening folds to, exactly as a judge folds it.
 *  @throws BaseError OPENING_INVALID for a number of words or siblings that its place does not have */
export function foldOpening(program: Program, read: Read, opening: Opening): Uint8Array {
  const inWeights = isWeight(read.operand);
  const index = inWeights ? weightIndex(read.operand) : read.operand;
  const shape: TreeShape = inWeights
    ? weightShape(program.weights[index] as WeightDescriptor)
    : stepShape(program.steps[index] as Step);
  const trees = inWeights ? program.weights.length : program.steps.length;
  const whole = read.word === undefined;
  const level = whole ? shape.rowHeight : 0;
  expect("words", opening.words.length, whole ? shape.words : 1);
  expect("siblings", opening.path.length, shape.height - level + ceilLog2(trees));
  const leaves = opening.words.map(keccak256);
  while (leaves.length < 2 ** level) leaves.push(ZERO_SUBTREES[0] as Uint8Array);
  const at = whole ? read.row : read.row * 2 ** shape.rowHeight + (read.word as number);
  const root = foldPath(foldNodes(leaves), at, opening.path.slice(0, shape.height - level));
  return foldPath(root, index, opening.path.slice(shape.height - level));
}

function expect(field: string, value: number, limit: number): void {
  if (value === limit) return;
  throw new BaseError({
    code: "OPENING_INVALID",
    shortMessage: `The opening has ${value} ${field}, its place in the tree has ${limit}.`,
    nextStep: "Open the words that the element's opcode reads, in the order of docs/PROTOCOL.md, section 4.",
    details: { field, value, limit },
  });
}
