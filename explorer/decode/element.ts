/** The operands of one judged element, from the openings of `convictElement`, and what they give. */
import { toHex } from "../../base/bytes.ts";
import { openedReads } from "../../inference/commit/opened.ts";
import { outputRead } from "../../inference/commit/openings.ts";
import type { Read } from "../../inference/opcodes/opcode.ts";
import { planeLength } from "../../inference/opcodes/planes.ts";
import {
  isActivationDot,
  isPlanes,
  isPlanesDot,
  isRatio,
  isWeight,
  lastDim,
  NONE,
  type Operand,
  operandDims,
  type Program,
  type Step,
  type TensorType,
  type WeightDescriptor,
  weightIndex,
} from "../../inference/program/form.ts";
import { unpackDot, unpackLookup } from "../../inference/program/weights.ts";
import {
  type ChannelArithmetic,
  channelArithmetic,
  type DotArithmetic,
  dotArithmetic,
  type RowsArithmetic,
  rowsArithmetic,
} from "./arithmetic.ts";
import { rowValues } from "./values.ts";

export interface DecodedOperand {
  readonly name: "output" | "a" | "b" | "c";
  readonly source: "step" | "weights";
  readonly index: number;
  readonly row: number;
  /** absent: all words of the row */
  readonly word?: number;
  readonly type: TensorType;
  readonly words: string[];
  readonly values: number[];
}

export interface DecodedElement {
  readonly coordinates: number[];
  readonly operands: DecodedOperand[];
  readonly arithmetic: DotArithmetic | RowsArithmetic | ChannelArithmetic | { readonly kind: "operands" };
  /** as a value of the step's type; absent where the operands alone are shown */
  readonly recomputed?: number;
}

/** @param openings words of each, in the order of `convictElement`: the output's first
 *  @throws BaseError ELEMENT_OUTSIDE; RangeError for openings that this element does not take: no judge took them */
export function decodeElement(
  program: Program,
  step: number,
  element: number,
  openings: readonly (readonly Uint8Array[])[],
): DecodedElement {
  const record = program.steps[step] as Step;
  const reads = [
    outputRead(program, step, element),
    ...openedReads(program, step, element, openings.slice(1)),
  ];
  if (reads.length !== openings.length)
    throw new RangeError(
      `Element ${element} of step ${step} takes ${reads.length} openings, not ${openings.length}.`,
    );
  const used = new Set<string>();
  const operands = reads.map((read, i) =>
    operandOf(program, read, i === 0 ? "output" : nameOf(record, read.operand, used), openings[i] ?? []),
  );
  const arithmetic = arithmeticOf(program, record, element, operands, openings);
  const recomputed = valueBy(record, element, arithmetic);
  return {
    coordinates: coordinatesOf(record.dims, element),
    operands,
    arithmetic,
    ...(recomputed === undefined ? {} : { recomputed }),
  };
}

function valueBy(step: Step, element: number, arithmetic: DecodedElement["arithmetic"]): number | undefined {
  if (arithmetic.kind === "operands") return undefined;
  if (arithmetic.kind === "rows") return arithmetic.sum;
  const { clamped } = arithmetic.requantization;
  if (isPlanes(step)) return element % lastDim(step.dims) < planeLength(step) ? clamped >> 8 : clamped & 255;
  const added = arithmetic.kind === "dot" ? (arithmetic.added ?? 0) : 0;
  return step.type === "s8" ? clamped - 128 : (clamped + added) | 0;
}

function nameOf({ a, b, c }: Step, operand: Operand, used: Set<string>): "a" | "b" | "c" {
  const names = (
    [
      ["a", a],
      ["b", b],
      ["c", c],
    ] as const
  ).flatMap(([name, of]) => (of === operand ? [name] : []));
  // One tensor may be two operands; of a table several rows are read.
  const name = names.find((candidate) => !used.has(candidate)) ?? names.at(-1) ?? "a";
  used.add(name);
  return name;
}

function operandOf(
  program: Program,
  { operand, row, word }: Read,
  name: DecodedOperand["name"],
  words: readonly Uint8Array[],
): DecodedOperand {
  const place = {
    name,
    row,
    ...(word === undefined ? {} : { word }),
    words: words.map((bytes) => toHex(bytes)),
  };
  if (!isWeight(operand)) {
    const { type, dims } = program.steps[operand] as Step;
    return {
      ...place,
      source: "step",
      index: operand,
      type,
      values: rowValues(type, dims, word ?? 0, words),
    };
  }
  const index = weightIndex(operand);
  const weights = program.weights[index] as WeightDescriptor;
  return {
    ...place,
    source: "weights",
    index,
    type: weights.type,
    values: weightValues(weights, word ?? 0, words),
  };
}

/** Values of a weight tensor's words, without the parameter word. */
function weightValues(weights: WeightDescriptor, word: number, words: readonly Uint8Array[]): number[] {
  const { layout, type, dims } = weights;
  const joined = Uint8Array.from(words.flatMap((bytes) => [...bytes]));
  switch (layout) {
    case "dot":
      return [...unpackDot(joined, 1, dims[1] as number)];
    case "lookup": {
      const d = lastDim(dims);
      return [...unpackLookup(joined, 1, Math.min(32, d - 32 * word))];
    }
    case "channel":
      return [];
    case "plain":
      return rowValues(type, dims, word, words);
  }
}

function arithmeticOf(
  program: Program,
  step: Step,
  element: number,
  operands: readonly DecodedOperand[],
  openings: readonly (readonly Uint8Array[])[],
): DecodedElement["arithmetic"] {
  const [, a, b, c] = operands;
  const [, activations = [], weights = []] = openings;
  if (a === undefined || b === undefined) return { kind: "operands" };
  switch (step.opcode) {
    case "dot": {
      if (isActivationDot(step)) return rowsArithmetic(a.values, b.values);
      const descriptor = program.weights[b.index] as WeightDescriptor;
      const stored = [...Uint8Array.from(activations.flatMap((bytes) => [...bytes]))];
      const k = lastDim(descriptor.dims);
      const numbers = isPlanesDot(step)
        ? stored.slice(0, k).map((high, i) => 256 * high + (stored[k + i] as number))
        : stored.slice(0, k);
      const added = c?.values[(element % lastDim(step.dims)) % 8];
      return dotArithmetic(step, descriptor, b.row, numbers, weights, added);
    }
    case "requant":
    case "rescale": {
      if (isRatio(step) || step.c !== NONE) return { kind: "operands" };
      // The word holds eight accumulators.
      const input = a.values[(numberAt(step, element) % lastDim(operandDims(program, step.a))) % 8] as number;
      return channelArithmetic(step, b.row, input, weights[0] as Uint8Array);
    }
    default:
      return { kind: "operands" };
  }
}

/** The element of operand a that a channelwise step's element is made of. */
function numberAt(step: Step, element: number): number {
  if (!isPlanes(step)) return element;
  const length = planeLength(step);
  return Math.floor(element / (2 * length)) * length + (element % length);
}

function coordinatesOf(dims: readonly number[], element: number): number[] {
  let rest = element;
  return dims
    .toReversed()
    .map((dim) => {
      const at = rest % dim;
      rest = Math.floor(rest / dim);
      return at;
    })
    .reverse();
}
