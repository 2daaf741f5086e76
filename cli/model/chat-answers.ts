/** Who answers a conversation: the model here, or a prover that has it. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { type Hex, keccak256 } from "viem";
import { askText } from "../../agent/sdk/text.ts";
import { toHex } from "../../base/bytes.ts";
import { prepareForRuns } from "../../inference/runtime/two-threads.ts";
import { runText } from "../../inference/text/answer.ts";
import type { Message } from "../../inference/text/chat.ts";
import { loadTextModel } from "../../inference/text/text-model.ts";
import { modelFolder, modelIdIn } from "../model-source.ts";

export interface Answer {
  readonly modelId: Hex;
  readonly text: string;
  readonly ids: readonly number[];
  /** of the prompt */
  readonly promptIds?: number;
  readonly calldata?: Hex;
  readonly returnData: Hex;
  readonly inputHash: Hex;
  readonly outputHash: Hex;
  /** of a prover's answer: how final it is */
  readonly status?: string;
  readonly request?: Hex;
  readonly claim?: Hex;
}

/** @param write gets the answer's text in parts, as it is found
 *  @returns the answer, and the messages that it answers: those that fit */
export type Chat = (
  messages: readonly Message[],
  write: (part: string) => void,
) => Promise<{ readonly answer: Answer; readonly messages: readonly Message[] }>;

/** @throws BaseError MODEL_NOT_FOUND; as `loadTextModel` */
export function localChat(name: string): Chat {
  const { model, modelId, selector, profile, text } = loadTextModel(modelFolder(name));
  const prepared = prepareForRuns(model, selector, profile);
  return async (messages, write) => {
    const { prompt, messages: kept } = text.lastTurns(messages);
    const { calldata, output, ...found } = runText(prepared, text, prompt, write);
    const answer = {
      modelId,
      ...found,
      promptIds: prompt.ids.length,
      calldata: toHex(calldata),
      returnData: toHex(output),
      inputHash: keccak256(calldata),
      outputHash: keccak256(output),
    };
    return { answer, messages: kept };
  };
}

/** Asks by the id where the model's folder is here, so that no other model answers; else by its name. The whole
 *  conversation is sent: what does not fit is the prover's error. @throws BaseError as `askText` */
export function proverChat(name: string, url: string): Chat {
  const model = existsSync(join(name, "manifest.json")) ? modelIdIn(name) : basename(name);
  return async (messages, write) => {
    const { output, ...found } = await askText(model, messages, { url });
    write(found.text);
    return { answer: { ...found, returnData: output, outputHash: keccak256(output) }, messages };
  };
}
