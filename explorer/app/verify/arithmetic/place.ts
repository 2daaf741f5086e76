import { broadcastElement } from "../../../../inference/opcodes/broadcast.ts";
import {
  isStep,
  type Model,
  type Operand,
  type Step,
  type Tensor,
  type TensorType,
  type WeightDescriptor,
  weightIndex,
} from "../../../../inference/program/form.ts";
import { storedElement } from "../../../../inference/program/tensor.ts";
import { indexOf, numberOf } from "../values.ts";
import type { Part } from "./form.ts";

/** What one element is computed from. */
export interface Place {
  readonly model: Model;
  readonly step: Step;
  readonly element: number;
  readonly tensors: readonly Tensor[];
  /** content of a PLAIN weight operand */
  readonly constant: (operand: Operand) => Tensor["data"];
}

export const nameOf = (operand: Operand): string =>
  isStep(operand) ? `step ${operand}` : `weights ${weightIndex(operand)}`;

export function shapeOf({ model: { program } }: Place, operand: Operand): Step | WeightDescriptor {
  return (isStep(operand) ? program.steps[operand] : program.weights[weightIndex(operand)]) as Step;
}

export function partAt(place: Place, operand: Operand, element: number): Part {
  const { type, dims } = shapeOf(place, operand);
  const data = isStep(operand) ? (place.tensors[operand] as Tensor).data : place.constant(operand);
  const stored = storedElement(data, element);
  return {
    from: nameOf(operand),
    element,
    index: indexOf(dims, element),
    stored,
    value: numberOf(type, stored),
  };
}

/** The operand's element under broadcast. */
export const partOf = (place: Place, operand: Operand): Part =>
  partAt(place, operand, broadcastElement(place.step.dims, shapeOf(place, operand).dims, place.element));

export const LIMITS = { u8: [0, 255], s8: [-128, 127], s32: [-(2 ** 31), 2 ** 31 - 1] } as const;

/** Stored bytes of a number that is saturated to the type. */
export function saturated(type: TensorType, value: number): number {
  if (type === "bool") return value !== 0 ? 1 : 0;
  const [low, high] = LIMITS[type as keyof typeof LIMITS];
  const kept = Math.min(Math.max(value, low), high);
  return type === "s8" ? kept + 128 : kept >>> 0;
}
