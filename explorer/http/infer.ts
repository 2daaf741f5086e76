/** POST /v1/models/{id}/infer: the chain's node runs a model on an input. */
import type { Request, Response } from "express";
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import { readBody, requireType } from "../../protocol/service/http/body.ts";
import type { Slots } from "../../protocol/service/http/slots.ts";
import { withinTime } from "../../protocol/service/http/time-limit.ts";
import { inferBody } from "../api/schemas/models.ts";
import type { Inference } from "../api/types.ts";
import { inferenceOf, readInput } from "../read/infer.ts";
import type { AnswerParts } from "../read/parts.ts";

/** Longest that the node may take, ms. */
const TIMEOUT_MS = 20_000;
/** JSON around the input, and hexadecimal digits for bytes. */
const ROOM = 4_096;

/** @throws BaseError as readInput, bodyOf and inferenceOf do; TOO_BUSY, RUN_TIMEOUT */
export async function infer(
  parts: AnswerParts,
  slots: Slots,
  id: Hex,
  request: Request,
  response: Response,
): Promise<Inference> {
  const { input } = await readInput(parts, id, inferBody, bodyOf(request));
  const limit = { timeoutMs: TIMEOUT_MS, late: tooSlow };
  return slots.hold(() => withinTime(response, limit, () => inferenceOf(parts, id, input)));
}

/** Reads the body of a request that brings an input. Numbers in JSON may take some more digits than words of calldata.
 *  @throws BaseError CONTENT_TYPE_UNSUPPORTED, BODY_TOO_LARGE, BODY_INCOMPLETE */
export const bodyOf =
  (request: Request) =>
  (maxCalldata: number): Promise<Uint8Array> => {
    requireType(request, "application/json");
    return readBody(request, ROOM + 4 * maxCalldata);
  };

const tooSlow = (): BaseError =>
  new BaseError({
    code: "RUN_TIMEOUT",
    shortMessage: `The chain's node did not run the model within ${TIMEOUT_MS / 1_000} s.`,
    nextStep: "Ask again later, or ask a prover.",
    retryable: true,
  });
