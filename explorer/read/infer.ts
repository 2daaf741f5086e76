/** An input that a model is tried with, and the run of it by the chain's node. Nothing is written. */
import { type Hex, size } from "viem";
import type { z } from "zod";
import { BaseError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { contractOf, inferOnChain } from "../../protocol/chain/execution/infer.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { decodeModelWord, type ModelWord } from "../../protocol/rules/words.ts";
import type { InferBody, Inference } from "../api/types.ts";
import { functionIn, outputView } from "./data.ts";
import { type AnswerParts, atOneBlock } from "./parts.ts";
import { modelUnknown } from "./unknown.ts";

/** Takes a body with an input for a model, as calldata of its function.
 *  @param read the body's bytes, given the model's longest calldata
 *  @throws BaseError MODEL_UNKNOWN, BODY_TOO_LARGE, INPUTS_INVALID, SELECTOR_MISMATCH, as encodeCall and `read` */
export async function readInput<Form extends z.ZodType<InferBody>>(
  parts: AnswerParts,
  id: Hex,
  form: Form,
  read: (maxCalldata: number) => Promise<Uint8Array> | Uint8Array,
): Promise<{ readonly body: z.output<Form>; readonly input: Hex }> {
  const kept = await parts.index.read(({ tables }) => tables.model(id));
  const word = decodeModelWord(kept?.word ?? 0n);
  if (word === undefined) throw modelUnknown(id);
  const parsed = form.safeParse(parseJson(await read(word.maxCalldata), "the body"));
  if (!parsed.success) throw bodyInvalid(parsed.error);
  return { body: parsed.data, input: inputOf(parts, id, word, parsed.data) };
}

/** @throws BaseError as inferOnChain does */
export async function inferenceOf(parts: AnswerParts, id: Hex, input: Hex): Promise<Inference> {
  const { chain, nowMs } = parts;
  const sinceMs = nowMs();
  const [output, block] = await Promise.all([
    inferOnChain(chain, id as ModelId, input),
    chain.client.getBlockNumber(),
  ]);
  return {
    modelId: id,
    input,
    output: await atOneBlock(parts, (own) => outputView(own, id, output)),
    block: Number(block),
    seconds: (nowMs() - sinceMs) / 1_000,
    finality: "unverified",
    interpreter: contractOf(chain, "interpreter"),
  };
}

const bodyInvalid = (cause: z.ZodError): BaseError =>
  new BaseError({
    code: "INPUTS_INVALID",
    shortMessage: "The body has neither {input} with calldata as hexadecimal text nor {arguments} by name.",
    nextStep: "Send one of the two; GET /openapi.json says what else this route takes.",
    cause,
  });

function inputOf(parts: AnswerParts, id: Hex, word: ModelWord, body: InferBody): Hex {
  const called = functionIn(parts, id, word);
  const input = "input" in body ? (body.input as Hex) : encodeCall(called, body.arguments);
  if (size(input) > word.maxCalldata) {
    throw new BaseError({
      code: "BODY_TOO_LARGE",
      shortMessage: `The input has ${size(input)} bytes of calldata, the model takes ${word.maxCalldata}.`,
      nextStep: "Shorten the input.",
    });
  }
  if (!input.startsWith(called.selector)) {
    throw new BaseError({
      code: "SELECTOR_MISMATCH",
      shortMessage: `The input calls ${input.slice(0, 10)}, the model's function is ${called.selector}.`,
      nextStep: "Encode a call of the model's function.",
    });
  }
  return input;
}
