import { broadcastMap } from "../../../../inference/opcodes/broadcast.ts";
import { elementCount } from "../../../../inference/program/form.ts";
import { choose } from "../bits.ts";
import { broadcast, type Gadget } from "./gadget.ts";

/** SELECT: condition · (b − c) + c; bools are 0 or 1. */
export const select: Gadget = (ctx) => {
  const { circuit, step } = ctx;
  const [condition, yes, no] = (["a", "b", "c"] as const).map((name) =>
    broadcast(ctx.operand(name), broadcastMap, step.dims),
  ) as [ReturnType<typeof broadcast>, ReturnType<typeof broadcast>, ReturnType<typeof broadcast>];
  return Array.from({ length: elementCount(step.dims) }, (_, i) => {
    circuit.element(i);
    return choose(circuit, condition(i), yes(i), no(i), "the chosen one");
  });
};
