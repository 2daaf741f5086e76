import { INTEGERS, type StepCheck } from "../program/check.ts";
import { isPlanes, isRatio, lastDim, type Step } from "../program/form.ts";
import { readWord } from "./broadcast.ts";
import type { OpcodeForm, OperandSource, PreparedOperand, Read } from "./opcode.ts";
import { planesReads, planesRules, preparePlanes } from "./planes.ts";
import { checkDivisors, prepareRatio } from "./ratio.ts";
import { channelRules, channelsOf, readChannel } from "./requant.ts";

/** RESCALE: s32 → s32 by the channel's multiplier, addend and shift, or to planes of bytes (planes.ts); or integers by a
 *  divisor a row (ratio.ts). Source: docs/EXACT.md, section 3. */
export const rescale: OpcodeForm = {
  rules,
  prepare(step, [source, parameters, by]) {
    if (isRatio(step)) return prepareRatio(step, source as PreparedOperand);
    const channels = channelsOf(parameters as PreparedOperand);
    if (isPlanes(step)) return preparePlanes(step, channels, by);
    return (out, a, _b, _c, from = 0, to = out.length) =>
      channels.shiftedSums(out as Int32Array, from, {
        data: a as Int32Array,
        from,
        count: to - from,
        channel: 0,
      });
  },
  reads(step, element, source) {
    if (isRatio(step)) return ratioReads(step, element, source);
    return (isPlanes(step) ? planesReads : readChannel)(step, element, source);
  },
};

function rules(check: StepCheck): void {
  check.variant();
  if (isRatio(check.step)) ratioRules(check);
  else if (isPlanes(check.step)) planesRules(check);
  else {
    check.type("s32");
    channelRules(check);
  }
}

/** The element's word, then that of its row's divisor. */
function ratioReads(step: Step, element: number, source: OperandSource): Read[] {
  const row = Math.floor(element / lastDim(step.dims));
  return [
    readWord(step.a, source.shape(step.a).type, step.dims, element),
    readWord(step.b, "s32", source.shape(step.b).dims, row),
  ];
}

function ratioRules(check: StepCheck): void {
  check.type("u8", "s8", "s32");
  check.sameDims("a", check.plain("a", ...INTEGERS));
  checkDivisors(check);
  check.none("c");
}
