/** What one element of a step is computed from: what the opcodes have in common. Source: docs/EXACT.md, section 3. */
import { elementCount, lastDim, type Slot, type Step } from "../../program/form.ts";
import { broadcastIndex, isUniform, type Range } from "../range.ts";

/** Told of consecutive elements of an operand. */
export type Visit = (slot: Slot, from: number, count: number) => void;

/** Names every element that the value of one element of a step can depend on. */
export type ElementReads = (element: number, visit: Visit) => void;

/** All that the reads of a step depend on: steps that are alike in it read alike. */
export interface ReadForm {
  readonly step: Omit<Step, "a" | "b" | "c">;
  /** of the operands a, b and c; undefined: it has no such operand */
  readonly dims: readonly (readonly number[] | undefined)[];
  /** of the operands a, b and c, where the opcode asks for it */
  readonly zeros: readonly Zeros[];
}

/** Of each element of a tensor, or of all where it holds one, whether it CAN_BE_ZERO or CAN_BE_OTHER, whatever the input;
 *  undefined: each can be both. */
export type Zeros = Uint8Array | undefined;
export const CAN_BE_ZERO = 1;
export const CAN_BE_OTHER = 2;

export function zerosOf({ low, high }: Range): Zeros {
  const zeros = new Uint8Array(low.length);
  let isKnown = false;
  for (let i = 0; i < zeros.length; i++) {
    const [least, most] = [low[i] as number, high[i] as number];
    const zero = least > 0 || most < 0 ? 0 : CAN_BE_ZERO;
    const other = least === 0 && most === 0 ? 0 : CAN_BE_OTHER;
    zeros[i] = zero + other;
    isKnown ||= zero === 0 || other === 0;
  }
  return isKnown ? zeros : undefined;
}

export const zerosAt = (zeros: Zeros, element: number): number =>
  zeros === undefined ? CAN_BE_ZERO + CAN_BE_OTHER : (zeros[zeros.length === 1 ? 0 : element] as number);

export function sameElement(): ElementReads {
  return (element, visit) => visit(0, element, 1);
}

/** A whole row of operand a. */
export function wholeRow({ dims: [a] }: ReadForm, rowOf: (element: number) => number): ElementReads {
  const length = lastDim(a as readonly number[]);
  return (element, visit) => visit(0, rowOf(element) * length, length);
}

/** Indices of each operand's elements by those of the step's. */
export const broadcastMaps = ({ step, dims }: ReadForm): (Int32Array | undefined)[] =>
  dims.map((own) => own && broadcastIndex(own, step.dims));

export function broadcastElements(form: ReadForm): ElementReads {
  const [a, b, c] = broadcastMaps(form);
  return (element, visit) => {
    if (a !== undefined) visit(0, a[element] as number, 1);
    if (b !== undefined) visit(1, b[element] as number, 1);
    if (c !== undefined) visit(2, c[element] as number, 1);
  };
}

/** Interval of one element. */
export function boundsAt({ low, high }: Range, element: number): readonly [number, number] {
  const at = low.length === 1 ? 0 : element;
  return [low[at] as number, high[at] as number];
}

/** 1 for each element that is one number, whatever the input; undefined where none is. Of a bool or an f32 an interval of
 *  one number leaves more than one content: 1 is every byte but 0, 0 has two signs. */
export function fixedElements(
  { type, dims }: Pick<Step, "type" | "dims">,
  range: Range,
): Uint8Array | undefined {
  if (type === "bool" || type === "f32") return undefined;
  const { low, high } = range;
  if (isUniform(range)) return low[0] === high[0] ? new Uint8Array(elementCount(dims)).fill(1) : undefined;
  const fixed = new Uint8Array(low.length);
  let isAny = false;
  for (let i = 0; i < fixed.length; i++) {
    if (low[i] !== high[i]) continue;
    fixed[i] = 1;
    isAny = true;
  }
  return isAny ? fixed : undefined;
}
