/** What calldata and return data say as text, for readers. Anybody may have sent them: data that hold no ids of the model say
 *  nothing, and are no error. */
import { toHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import type { FolderText } from "./folder-text.ts";
import type { AnswerText, ModelText } from "./model-text.ts";

/** A text with the ids that are claimed about: it is derived from them. */
export type DataText = AnswerText;

/** A model's text, and the selector of the function that is asked with it. */
export interface AskedModel extends FolderText {
  readonly selector?: string;
}

/** What was asked: nothing in a call of another function. @param calldata with their selector */
export function askedIfAny(
  { text, pieces, selector }: AskedModel,
  calldata: Uint8Array,
): DataText | undefined {
  if (toHex(calldata.subarray(0, 4)) !== selector) return undefined;
  return ifAny(() => text?.promptOf(calldata) ?? pieces?.textOf(calldata));
}

/** What a language model answered. @param output return data */
export const answerIfAny = (text: ModelText | undefined, output: Uint8Array): DataText | undefined =>
  ifAny(() => text?.answerOf(output));

function ifAny(read: () => DataText | undefined): DataText | undefined {
  try {
    return read();
  } catch (error) {
    if (isBaseError(error)) return undefined;
    throw error;
  }
}
