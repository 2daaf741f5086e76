import { sourceMap } from "../../../../inference/opcodes/move.ts";
import { padValue } from "../../../../inference/profile/move.ts";
import { NONE } from "../../../../inference/program/form.ts";
import { constant, type Int } from "../integer.ts";
import type { Gadget } from "./gadget.ts";

/** MOVE: the same wires in another order. */
export const move: Gadget = (ctx) => {
  const { step } = ctx;
  const { elements } = ctx.operand("a");
  const other = step.b === NONE ? undefined : ctx.operand("b").elements;
  const pad = constant(padValue(step));
  return Array.from(sourceMap(step), (from, i) =>
    from >= 0 ? (elements[from] as Int) : other === undefined ? pad : (other[i] as Int),
  );
};
