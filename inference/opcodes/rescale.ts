import type { StepCheck } from "../program/check.ts";
import { elementCount } from "../program/form.ts";
import type { OpcodeForm, PreparedOperand } from "./opcode.ts";
import { channelRules, channelsOf, readChannel } from "./requant.ts";

/** RESCALE: s32 → s32 by the channel's multiplier, addend and shift. Source: docs/EXACT.md, section 3. */
export const rescale: OpcodeForm = {
  rules,
  prepare(step, [, parameters]) {
    const channels = channelsOf(parameters as PreparedOperand);
    const count = elementCount(step.dims);
    const period = channels.bias.length;
    return (out, a) => {
      const input = a as Int32Array;
      for (let i = 0, n = 0; i < count; i++) {
        const acc = ((input[i] as number) + (channels.bias[n] as number)) | 0;
        const exact = channels.exact(acc, n);
        // Of a larger one, the low 32 bits.
        out[i] = Number.isNaN(exact) ? Number(BigInt.asIntN(32, channels.shifted(acc, n))) : exact;
        if (++n === period) n = 0;
      }
    };
  },
  reads: readChannel,
};

function rules(check: StepCheck): void {
  check.variant();
  check.type("s32");
  channelRules(check);
}
