/** POST /v1/models/{id}/infer: the chain's node runs a model on an input. Nothing is written. */
import type { Request, Response } from "express";
import { type Hex, size } from "viem";
import type { z } from "zod";
import { BaseError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { contractOf, inferOnChain } from "../../protocol/chain/execution/infer.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { decodeModelWord, type ModelWord } from "../../protocol/rules/words.ts";
import { readBody, requireType } from "../../protocol/service/http/body.ts";
import type { Slots } from "../../protocol/service/http/slots.ts";
import { withinTime } from "../../protocol/service/http/time-limit.ts";
import { inferBody } from "../api/schemas/models.ts";
import type { InferBody, Inference } from "../api/types.ts";
import { functionOf, outputView } from "../read/data.ts";
import type { ReadParts } from "../read/parts.ts";
import { modelUnknown } from "../read/unknown.ts";

/** Longest that the node may take, ms. */
const TIMEOUT_MS = 20_000;
/** JSON around the input, and hexadecimal digits for bytes. */
const ROOM = 4_096;

/** @throws BaseError MODEL_UNKNOWN, BODY_TOO_LARGE, QUERY_INVALID, INPUTS_INVALID, CALLDATA_TOO_SHORT, TOO_BUSY,
 *  RUN_TIMEOUT; as inferOnChain */
export async function infer(
  parts: ReadParts,
  slots: Slots,
  id: Hex,
  request: Request,
  response: Response,
): Promise<Inference> {
  const { input } = await readInput(parts, id, request, inferBody);
  const { chain, nowMs } = parts;
  return slots.hold(async () => {
    const sinceMs = nowMs();
    const limit = { timeoutMs: TIMEOUT_MS, late: tooSlow };
    const [output, block] = await withinTime(response, limit, () =>
      Promise.all([inferOnChain(chain, id as ModelId, input), chain.client.getBlockNumber()]),
    );
    return {
      modelId: id,
      input,
      output: outputView(parts, id, output),
      block: Number(block),
      seconds: (nowMs() - sinceMs) / 1_000,
      finality: "unverified",
      interpreter: contractOf(chain, "interpreter"),
    };
  });
}

/** A body with an input for a model, as calldata of its function.
 *  @throws BaseError MODEL_UNKNOWN, BODY_TOO_LARGE, INPUTS_INVALID, SELECTOR_MISMATCH, as encodeCall */
export async function readInput<Form extends z.ZodType<InferBody>>(
  parts: ReadParts,
  id: Hex,
  request: Request,
  form: Form,
): Promise<{ readonly body: z.output<Form>; readonly input: Hex }> {
  const word = decodeModelWord(parts.index.tables.model(id)?.word ?? 0n);
  if (word === undefined) throw modelUnknown(id);
  requireType(request, "application/json");
  // Numbers in JSON may take some more digits than words of calldata.
  const bytes = await readBody(request, ROOM + 4 * word.maxCalldata);
  const parsed = form.safeParse(parseJson(bytes, "the body"));
  if (!parsed.success) throw bodyInvalid(parsed.error);
  return { body: parsed.data, input: inputOf(parts, id, word, parsed.data) };
}

const bodyInvalid = (cause: z.ZodError): BaseError =>
  new BaseError({
    code: "INPUTS_INVALID",
    shortMessage: "The body has neither {input} with calldata as hexadecimal text nor {arguments} by name.",
    nextStep: "Send one of the two; GET /openapi.json says what else this route takes.",
    cause,
  });

function inputOf(parts: ReadParts, id: Hex, word: ModelWord, body: InferBody): Hex {
  const called = functionOf(parts, id);
  if (called === undefined) throw modelUnknown(id);
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

const tooSlow = (): BaseError =>
  new BaseError({
    code: "RUN_TIMEOUT",
    shortMessage: `The chain's node did not run the model within ${TIMEOUT_MS / 1_000} s.`,
    nextStep: "Ask again later, or ask a prover.",
    retryable: true,
  });
