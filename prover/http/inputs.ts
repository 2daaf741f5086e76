/** A model's inputs and outputs as JSON: arguments by name to calldata, return data to results by name. */
import { type Hex, keccak256 } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { decodeUtf8 } from "../../base/json.ts";
import { decodeInput, encodeInput } from "../../inference/codecs/input.ts";
import { meaningOf, type Reading } from "../../inference/meaning/read.ts";
import { textIn } from "../../inference/text/conversation.ts";
import { decodeReturn, encodeCall, type ModelFunction } from "../../protocol/rules/abi.ts";
import { hasProgram, type ServedModel } from "../models.ts";
import { answerOf, messagesOf } from "./conversations.ts";

/** Most bytes of one input: an escaped character of JSON takes six bytes, a word as a decimal string at most 81. */
export const jsonLimit = ({ maxCalldata }: ServedModel): number => 4_096 + 6 * maxCalldata;

const functionOf = (model: ServedModel): ModelFunction => ({
  ...model.function,
  selector: toHex(model.selector),
});

/** @param values by parameter name; of a model with text a conversation, as `messagesOf` reads it, or a classifier's text
 *  @throws BaseError INPUTS_INVALID; as `messagesOf`, `ModelText.prompt`, `textIn` and `PieceText.int16s` */
export function calldataOf(model: ServedModel, values: Readonly<Record<string, unknown>>): Uint8Array {
  if (hasProgram(model) && model.pieces !== undefined) {
    const text = textIn(values, model.function.inputs);
    if (text !== undefined) {
      const input = { codec: "int16s", int16s: model.pieces.int16s(text) } as const;
      return encodeInput(model.prepared.program, model.selector, input);
    }
  }
  const asked = messagesOf(model, values);
  if (asked === undefined) return fromHex(encodeCall(functionOf(model), values));
  const { int16s } = asked.text.prompt(asked.messages);
  return encodeInput(asked.program, model.selector, { codec: "int16s", int16s });
}

/** Refuses what the model does not take. @throws BaseError as decodeInput, TEXT_NOT_UNICODE */
export function requireInput(model: ServedModel, calldata: Uint8Array): void {
  const { inputCodec, inputSize } = hasProgram(model)
    ? model.prepared.program
    : { inputCodec: "int16s" as const, inputSize: model.proofModel.inputs };
  const input = decodeInput({ inputCodec, inputSize }, model.selector, calldata);
  if (input.codec === "text") decodeUtf8(input.text, "the text");
}

export interface ResultBody {
  /** by the name of each output */
  readonly result: Readonly<Record<string, unknown>>;
  readonly meaning?: Reading;
  /** of a model with text: the answer's */
  readonly text?: string;
  readonly ids?: readonly number[];
  /** return data */
  readonly output: Hex;
  readonly inputHash: Hex;
}

/** What an answer in JSON says of an output. */
export function resultOf(model: ServedModel, calldata: Uint8Array, output: Uint8Array): ResultBody {
  return {
    result: decodeReturn(functionOf(model), toHex(output)),
    ...meaningOf(model.manifest.assay, output),
    ...answerOf(model, output),
    output: toHex(output),
    inputHash: keccak256(calldata),
  };
}
