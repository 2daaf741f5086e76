import { INTEGERS, type StepCheck } from "../program/check.ts";
import { elementCount, isRatio, lastDim, rowCount, type Step } from "../program/form.ts";
import { readWord } from "./broadcast.ts";
import type { OpcodeForm, OperandSource, PreparedOperand, Read } from "./opcode.ts";
import { prepareRatio } from "./ratio.ts";
import { channelRules, channelsOf, readChannel } from "./requant.ts";

/** RESCALE: s32 → s32 by the channel's multiplier, addend and shift; or integers by a divisor a row (ratio.ts).
 *  Source: docs/EXACT.md, section 3. */
export const rescale: OpcodeForm = {
  rules,
  prepare(step, [source, parameters]) {
    if (isRatio(step)) return prepareRatio(step, source as PreparedOperand);
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
  reads: (step, element, source) =>
    isRatio(step) ? ratioReads(step, element, source) : readChannel(step, element, source),
};

function rules(check: StepCheck): void {
  check.variant();
  if (isRatio(check.step)) ratioRules(check);
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
  const { step } = check;
  check.type("u8", "s8", "s32");
  check.sameDims("a", check.plain("a", ...INTEGERS));
  const divisors = check.plain("b", "s32");
  check.none("c");
  check.must(step.k >= 1, "k (multiplier)", step.k, ">= 1");
  if (divisors === undefined) return;
  const [count, rows] = [elementCount(divisors.dims), rowCount(step.dims)];
  check.must(count === rows, "elements of operand b", count, `${rows}, one a row`);
}
