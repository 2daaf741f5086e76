import { BYTE_TYPES, type StepCheck } from "../program/check.ts";
import { DOT_VARIANTS, lastDim, type Step } from "../program/form.ts";
import { readWord } from "./broadcast.ts";
import type { OpcodeForm, OperandSource, PreparedOperand, Read } from "./opcode.ts";
import { Requantizer } from "./requantizer.ts";

/** REQUANT: s32 → u8 or s8 by the channel's parameter word. Source: docs/EXACT.md, section 3. */
export const requant: OpcodeForm = {
  rules,
  prepare(step, [, parameters]) {
    const channels = channelsOf(parameters as PreparedOperand);
    const form = DOT_VARIANTS[step.variant] as "integer" | "binary32";
    return (out, a, _b, _c, from = 0, to = out.length) => {
      channels.requantize(form, out, from, { data: a as Int32Array, from, count: to - from, channel: 0 });
    };
  },
  reads: readChannel,
};

function rules(check: StepCheck): void {
  check.variant();
  check.type(...BYTE_TYPES);
  channelRules(check);
}

/** What holds for the operands of REQUANT and RESCALE. */
export function channelRules(check: StepCheck): void {
  const { step } = check;
  check.sameDims("a", check.plain("a", "s32"));
  const parameters = check.weights("b", "channel");
  if (parameters !== undefined) {
    const n = parameters.dims[0] as number;
    check.must(n === 1 || n === lastDim(step.dims), "channels of operand b", n, `1 or ${lastDim(step.dims)}`);
  }
  check.none("c");
  check.noAttribute();
}

export function channelsOf({ dims, words }: PreparedOperand): Requantizer {
  return new Requantizer(words as Uint8Array, dims[0] as number, 0, 32);
}

/** Word of a, parameter word: what REQUANT and RESCALE read. */
export function readChannel(step: Step, element: number, source: OperandSource): Read[] {
  const n = source.weights(step.b).dims[0] as number;
  const channel = n === 1 ? 0 : element % lastDim(step.dims);
  return [readWord(step.a, "s32", step.dims, element), { operand: step.b, row: channel, word: 0 }];
}
