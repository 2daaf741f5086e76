/** How one element of a step is computed, written out. Source: docs/EXACT.md, section 3. The result is computed here from
 *  the parts that are shown; tests compare it with the executor. */
import type { Model, Opcode, Operand, Step, Tensor } from "../../../../inference/program/form.ts";
import { indexOf, numberOf } from "../values.ts";
import { arith, float, select } from "./elementwise.ts";
import type { Arithmetic, Found } from "./form.ts";
import { dot, requant, rescale } from "./linear.ts";
import type { Place } from "./place.ts";
import { lookup, move, reduce, table } from "./rows.ts";

const EXPLAIN: Readonly<Record<Exclude<Opcode, "codec">, (place: Place) => Found>> = {
  ...{ move, lookup, dot, requant, rescale, table, arith, float, reduce, select },
};

/** @param tensors the trace that the operands are taken from: one a step, in order
 *  @param constant content of a PLAIN weight operand
 *  @returns undefined for a CODEC step, which is computed whole */
export function explain(
  model: Model,
  tensors: readonly Tensor[],
  constant: (operand: Operand) => Tensor["data"],
  step: number,
  element: number,
): Arithmetic | undefined {
  const record = model.program.steps[step] as Step;
  if (record.opcode === "codec") return undefined;
  const found = EXPLAIN[record.opcode]({ model, step: record, element, tensors, constant });
  return {
    step,
    element,
    index: indexOf(record.dims, element),
    opcode: record.opcode,
    type: record.type,
    value: numberOf(record.type, found.stored),
    ...found,
  };
}
