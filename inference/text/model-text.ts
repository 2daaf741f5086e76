/** What a derived language model reads and gives, as text: conversations in, answers out. */
import { isBaseError } from "../../base/errors.ts";
import { fail } from "../onnx/fail.ts";
import { ChatTemplate, type Message } from "./chat.ts";
import { answerIds, askedNumbers, numbersIn, promptIds, promptNumbers } from "./ids.ts";
import { namedText } from "./named-text.ts";
import { Tokenizer } from "./tokenizer.ts";
import type { TokenizerFiles } from "./tokenizer-file.ts";

export interface Prompt {
  readonly ids: readonly number[];
  /** what the codec int16s packs: as many as the model's prompt has, nothing in front */
  readonly int16s: readonly number[];
}

export interface AnswerText {
  readonly text: string;
  /** the end token among them, where the answer reached it */
  readonly ids: readonly number[];
}

/** Most ids. */
export interface TextLengths {
  readonly prompt: number;
  readonly answer: number;
}

/** Of a derived model's manifest. @param io its `assay` section */
export const textLengths = (io: {
  readonly inputs: readonly { readonly dims: readonly number[] }[];
  readonly outputs: readonly { readonly dims: readonly number[] }[];
}): TextLengths => ({ prompt: io.inputs[0]?.dims[0] ?? 0, answer: io.outputs[0]?.dims[0] ?? 0 });

export class ModelText {
  readonly tokenizer: Tokenizer;
  readonly lengths: TextLengths;
  #template: ChatTemplate | undefined;

  /** @throws TOKENIZER_INVALID, FILE_NOT_JSON */
  constructor(files: TokenizerFiles, lengths: TextLengths) {
    this.tokenizer = new Tokenizer(files);
    this.lengths = lengths;
  }

  /** Ids of a conversation, which the model may be too short for.
   *  @throws MODEL_WITHOUT_CHAT, TEMPLATE_INVALID, TEMPLATE_REFUSES, TEXT_NOT_ENCODABLE; PROMPT_TOO_LONG for a text that is
   *  far too long to be counted */
  ids(messages: readonly Message[]): number[] {
    this.#template ??= new ChatTemplate(this.tokenizer);
    const bytes = messages.reduce((sum, { content }) => sum + content.length, 0);
    const least = Math.ceil(bytes / this.tokenizer.longest);
    if (least > this.lengths.prompt) throw tooLong(`at least ${least}`, this.lengths.prompt);
    return this.#template.ids(messages);
  }

  /** @throws as `ids`; PROMPT_TOO_LONG naming the ids and the limit */
  prompt(messages: readonly Message[]): Prompt {
    const ids = this.ids(messages);
    if (ids.length > this.lengths.prompt) throw tooLong(String(ids.length), this.lengths.prompt);
    return { ids, int16s: promptNumbers(ids, this.lengths.prompt) };
  }

  /** The same without the oldest turns, as many as do not fit; a system message and the last message stay.
   *  @throws as `prompt`, where those two do not fit */
  lastTurns(messages: readonly Message[]): {
    readonly prompt: Prompt;
    readonly messages: readonly Message[];
  } {
    let kept = messages;
    for (;;) {
      const system = kept[0]?.role === "system" ? 1 : 0;
      // A turn is a question and its answer.
      const shorter = [...kept.slice(0, system), ...kept.slice(system + 2)];
      const canShorten = kept.length > system + 2;
      try {
        return { prompt: this.prompt(kept), messages: kept };
      } catch (error) {
        if (!canShorten || !isBaseError(error, "PROMPT_TOO_LONG")) throw error;
        kept = shorter;
      }
    }
  }

  /** What calldata ask, as the chat template wrote it: control tokens by their names.
   *  @param calldata with their selector @throws CALLDATA_NOT_CANONICAL, INT16S_INVALID, ID_UNKNOWN */
  promptOf(calldata: Uint8Array): AnswerText {
    const ids = promptIds(askedNumbers(calldata, this.lengths.prompt));
    return { text: namedText(ids, this.tokenizer.decoder(), this.tokenizer.parts), ids };
  }

  /** @param output return data @throws CALLDATA_NOT_CANONICAL, INT16S_INVALID, ID_UNKNOWN */
  answerOf(output: Uint8Array): AnswerText {
    return this.answer(numbersIn(output, this.lengths.answer));
  }

  /** @param numbers that return data hold @throws ID_UNKNOWN */
  answer(numbers: ArrayLike<number>): AnswerText {
    const ids = answerIds(numbers);
    return { text: this.tokenizer.text(ids), ids };
  }
}

const tooLong = (ids: string, limit: number) =>
  fail(
    "PROMPT_TOO_LONG",
    `The conversation has ${ids} ids with what the chat template adds, the model takes ${limit}.`,
    "Shorten it, or take a model that was derived with a longer --prompt.",
    { ids, limit },
  );
