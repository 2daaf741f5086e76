/** Memory of a run's tensors. */
import {
  elementCount,
  isStep,
  type Program,
  type Step,
  type Tensor,
  type TensorData,
  type TensorType,
} from "../program/form.ts";
import { newData } from "../program/tensor.ts";

/** Zero-filled memory of a tensor. */
export type NewData = (type: TensorType, count: number) => TensorData;

const newTensor = ({ type, dims }: Step, make: NewData): Tensor => ({
  type,
  dims,
  data: make(type, elementCount(dims)),
});

/** One for each step. */
export const newTensors = ({ steps }: Program, make: NewData = newData): readonly Tensor[] =>
  steps.map((step) => newTensor(step, make));

/** One for each step, for runs of which the last one alone is asked for: a step is computed into the memory of an earlier
 *  one that no further step reads. */
export function passTensors({ steps }: Program, make: NewData = newData): readonly Tensor[] {
  const free = new Map<string, TensorData[]>();
  const freeOf = ({ type, dims }: Step): TensorData[] => {
    const key = `${type} ${elementCount(dims)}`;
    const known = free.get(key) ?? [];
    free.set(key, known);
    return known;
  };
  const lastRead = new Map<number, number>();
  for (const [index, { a, b, c }] of steps.entries())
    for (const operand of [a, b, c]) if (isStep(operand)) lastRead.set(operand, index);
  const tensors: Tensor[] = [];
  for (const [index, step] of steps.entries()) {
    const data = freeOf(step).pop();
    tensors.push(data === undefined ? newTensor(step, make) : { type: step.type, dims: step.dims, data });
    for (const operand of new Set([step.a, step.b, step.c]))
      if (isStep(operand) && lastRead.get(operand) === index)
        freeOf(steps[operand] as Step).push((tensors[operand] as Tensor).data);
  }
  return tensors;
}
