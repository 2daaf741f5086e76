import { isClaimed } from "../program/form.ts";
import type { ElementReads } from "./causality/reads.ts";
import type { StepRanges } from "./context.ts";
import { LIMITS, type Range, SMALLEST_NORMAL, uniform } from "./range.ts";

/** What a codec can give: docs/EXACT.md, section 5. */
export function codecRange(ctx: StepRanges): Range {
  const { step, model } = ctx;
  // A claim can state any bytes.
  if (isClaimed(step)) {
    return model.program.outputCodec === "int16s" ? uniform(-32_768, 32_767) : uniform(...LIMITS[step.type]);
  }
  switch (model.program.inputCodec) {
    case "text":
      return uniform(0, step.k - 1);
    case "prices":
      return uniform(-32_767, 32_767);
    case "int16s":
      return uniform(-32_768, 32_767);
    case "raw":
      switch (step.type) {
        case "u8":
          return uniform(0, 255);
        case "s8":
          return uniform(-128, 127);
        case "bool":
          return uniform(0, 1);
        case "s32":
          return uniform(-(2 ** 31), 2 ** 31 - 1);
        case "f32":
          return uniform(-(2 ** 20), 2 ** 20, SMALLEST_NORMAL);
      }
  }
}

/** Nothing: what the claimed output bounds stands in causality/bounds.ts. */
export const codecReads = (): ElementReads => () => {};
