import { shiftRight } from "../bits.ts";
import { sum } from "../integer.ts";
import type { Gadget } from "./gadget.ts";
import { withChannels } from "./requant.ts";

/** RESCALE: the bits of the scaled sum without those that the shift drops. */
export const rescale: Gadget = (ctx) =>
  withChannels(ctx, (x, { multiplier, addend, shift }) =>
    shiftRight(ctx.circuit, sum([[x, BigInt(multiplier)]], addend), shift & 63, "the scaled sum"),
  );
