/** Text as the values of a derived model's function. */
import { toHex } from "../../base/bytes.ts";
import { writeInt16s } from "../../inference/codecs/int16s.ts";
import type { Message } from "../../inference/text/chat.ts";
import type { ModelText } from "../../inference/text/model-text.ts";
import type { PieceText } from "../../inference/text/piece-text.ts";
import type { Model, Values } from "./model.ts";

const WORD_BYTES = 32;

/** What `request` and `askSigned` take: a conversation as the model's one argument.
 *  @throws BaseError as `ModelText.prompt`: PROMPT_TOO_LONG, MODEL_WITHOUT_CHAT, TEMPLATE_REFUSES, TEXT_NOT_ENCODABLE */
export function textValues(
  { function: { inputs } }: Pick<Model, "function">,
  text: ModelText,
  messages: readonly Message[],
): Values {
  return numbersOf(inputs, text.prompt(messages).int16s);
}

/** The same of a classifier's text. @throws BaseError TEXT_TOO_LONG */
export const pieceValues = (
  { function: { inputs } }: Pick<Model, "function">,
  pieces: PieceText,
  text: string,
): Values => numbersOf(inputs, pieces.int16s(text));

function numbersOf(inputs: Model["function"]["inputs"], int16s: readonly number[]): Values {
  const words = writeInt16s(int16s);
  const count = words.length / WORD_BYTES;
  const name = inputs[0]?.name || "0";
  const word = (i: number) => BigInt(toHex(words.subarray(WORD_BYTES * i, WORD_BYTES * (i + 1))));
  return { [name]: Array.from({ length: count }, (_, i) => word(i)) };
}
