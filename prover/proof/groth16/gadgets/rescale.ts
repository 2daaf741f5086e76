import { isPlanes, isRatio } from "../../../../inference/program/form.ts";
import { shiftRight } from "../bits.ts";
import { sum } from "../integer.ts";
import type { Gadget } from "./gadget.ts";
import { withChannels } from "./requant.ts";

/** RESCALE: the bits of the scaled sum without those that the shift drops. */
export const rescale: Gadget = (ctx) => {
  if (isRatio(ctx.step))
    ctx.refuse("divides by a tensor of the program, which has no circuit", "Leave out the lane PROOF.");
  if (isPlanes(ctx.step))
    ctx.refuse("makes planes of bytes, which has no circuit", "Leave out the lane PROOF.");
  return withChannels(ctx, (x, { multiplier, addend, shift }) =>
    shiftRight(ctx.circuit, sum([[x, BigInt(multiplier)]], addend), shift & 63, "the scaled sum"),
  );
};
