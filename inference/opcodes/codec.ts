import { BaseError } from "../../base/errors.ts";
import { MAX_WHOLE_HEIGHT, type StepCheck } from "../program/check.ts";
import { INPUT_CODEC_CODES, OPCODE_TABLE } from "../program/codes.ts";
import { elementBytes, elementCount, isClaimed } from "../program/form.ts";
import { lastStep, tensorShape } from "../program/shape.ts";
import type { OpcodeForm } from "./opcode.ts";

/** Of a text: tokens, ids of a token, rows of the table that they name. */
const MAX_TOKENS = 64;
const MAX_TOKEN_IDS = 16;
const MAX_TABLE_ROWS = 2 ** 24;

/** CODEC: calldata, or the claimed output → tensor. Its content comes from these bytes (inference/codecs/), not from
 *  operands, and it is judged whole. */
export const codec: OpcodeForm = {
  rules,
  prepare: () => () => judgedWhole(),
  reads: () => judgedWhole(),
};

function rules(check: StepCheck): void {
  const { step, program } = check;
  const { inputCodec, inputSize } = program;
  check.none("a", "b", "c");
  const { height } = tensorShape(step.type, step.dims);
  check.must(height <= MAX_WHOLE_HEIGHT, "leaves", `2^${height}`, `<= 2^${MAX_WHOLE_HEIGHT}`);
  if (isClaimed(step)) {
    claimedRules(check);
    return;
  }
  const code = INPUT_CODEC_CODES[inputCodec];
  const limit = `${code} (${inputCodec}, as in the header) or ${OPCODE_TABLE.codec.variants.claimed} (claimed)`;
  check.must(step.variant === code, "variant", step.variant, limit);
  const dims = `[${step.dims.join(", ")}]`;
  const count = elementCount(step.dims);
  const end = step.k + count * (inputCodec === "raw" ? elementBytes(step.type) : 1);
  switch (inputCodec) {
    case "text": {
      const [tokens, width] = step.dims;
      check.type("s32");
      const fits =
        step.dims.length === 2 && (tokens as number) <= MAX_TOKENS && (width as number) <= MAX_TOKEN_IDS;
      check.must(fits, "dims", dims, `[tokens <= ${MAX_TOKENS}, width <= ${MAX_TOKEN_IDS}]`);
      check.must(step.k >= 2 && step.k <= MAX_TABLE_ROWS, "k (table rows)", step.k, `2..${MAX_TABLE_ROWS}`);
      break;
    }
    case "prices":
      check.type("s32");
      check.must(
        step.dims.length === 2 && step.dims[0] === 3 && step.dims[1] === inputSize - 1,
        "dims",
        dims,
        `[3, ${inputSize - 1}]`,
      );
      check.noAttribute();
      break;
    case "int16s":
      check.type("s32");
      check.must(end <= inputSize, "last number (k + elements)", end, `<= input size ${inputSize}`);
      break;
    case "raw":
      check.must(end <= inputSize, "last byte (k + bytes)", end, `<= input size ${inputSize}`);
      break;
  }
}

/** It is the last step's tensor, of numbers that every codec keeps apart: no bytes of bool or bits of f32. */
function claimedRules(check: StepCheck): void {
  const { type, dims } = lastStep(check.program);
  check.type("u8", "s8", "s32");
  check.must(check.step.type === type, "type", check.step.type, `${type}, as the last step's`);
  const [own, last] = [check.step.dims, dims].map((list) => `[${list.join(", ")}]`);
  check.must(own === last, "dims", own, `${last}, as the last step's`);
  check.noAttribute();
}

function judgedWhole(): never {
  throw new BaseError({
    code: "CODEC_HAS_NO_OPERANDS",
    shortMessage:
      "A codec step is computed from calldata or a claimed output and judged whole, not element by element.",
    nextStep: "Use inputTensors for its content and convictCodec for its judgement.",
  });
}
