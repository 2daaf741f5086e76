import { BaseError } from "../../base/errors.ts";
import type { OpcodeForm } from "./opcode.ts";

/** CODEC: calldata → tensor. Its content comes from the decoded calldata (inference/codecs/), not from operands,
 *  and it is judged whole. */
export const codec: OpcodeForm = {
  prepare: () => () => judgedWhole(),
  reads: () => judgedWhole(),
};

function judgedWhole(): never {
  throw new BaseError({
    code: "CODEC_HAS_NO_OPERANDS",
    shortMessage: "A codec step is computed from calldata and judged whole, not element by element.",
    nextStep: "Use inputTensors for its content and convictCodec for its judgement.",
  });
}
