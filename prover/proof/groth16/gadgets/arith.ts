import { broadcastMap } from "../../../../inference/opcodes/broadcast.ts";
import { ARITH_VARIANTS, elementCount, isRotate } from "../../../../inference/program/form.ts";
import { isZero, maximum, minimum, product, sign } from "../bits.ts";
import type { Circuit } from "../circuit.ts";
import { quotient } from "../divide.ts";
import { add, type Int, not, subtract } from "../integer.ts";
import { broadcast, type Gadget } from "./gadget.ts";

type Variant = Exclude<(typeof ARITH_VARIANTS)[number], "cast" | "rotate">;

/** ARITH: add, sub and cast cost nothing, mul a constraint, the others the bits of a difference or a quotient.
 *  Import proves that no result leaves its type, so nothing wraps or saturates. */
export const arith: Gadget = (ctx) => {
  const { circuit, step } = ctx;
  if (isRotate(step))
    ctx.refuse("turns pairs of elements, which has no circuit", "Leave out the lane PROOF.");
  const variant = ARITH_VARIANTS[step.variant] as Variant | "cast";
  const a = broadcast(ctx.operand("a"), broadcastMap, step.dims);
  const count = elementCount(step.dims);
  if (variant === "cast") return Array.from({ length: count }, (_, i) => a(i));
  const b = broadcast(ctx.operand("b"), broadcastMap, step.dims);
  return Array.from({ length: count }, (_, i) => {
    circuit.element(i);
    return COMPUTE[variant](circuit, a(i), b(i));
  });
};

const COMPUTE: Readonly<Record<Variant, (c: Circuit, a: Int, b: Int) => Int>> = {
  add: (_, a, b) => add(a, b),
  sub: (_, a, b) => subtract(a, b),
  mul: (c, a, b) => product(c, a, b, "the product"),
  min: (c, a, b) => minimum(c, a, b, "the minimum"),
  max: (c, a, b) => maximum(c, a, b, "the maximum"),
  div: (c, a, b) => quotient(c, a, b, "division"),
  lt: (c, a, b) => not(sign(c, subtract(a, b), "the difference").positive),
  le: (c, a, b) => sign(c, subtract(b, a), "the difference").positive,
  eq: (c, a, b) => isZero(c, subtract(a, b), "the difference"),
};
