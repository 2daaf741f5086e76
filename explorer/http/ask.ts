/** POST /v1/models/{id}/ask: what a prover that the operator named answers to an input. */
import type { Request, Response } from "express";
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import type { Slots } from "../../protocol/service/http/slots.ts";
import { withinTime } from "../../protocol/service/http/time-limit.ts";
import { askBody } from "../api/schemas/models.ts";
import type { Asked } from "../api/types.ts";
import { outputView } from "../read/data.ts";
import { readInput } from "../read/infer.ts";
import { type AnswerParts, atOneBlock } from "../read/parts.ts";
import { bodyOf } from "./infer.ts";

/** Longest that the prover may take, ms. */
const TIMEOUT_MS = 20_000;

/** @throws BaseError as readInput, bodyOf and Provers.ask do; TOO_BUSY, RUN_TIMEOUT */
export async function ask(
  parts: AnswerParts,
  slots: Slots,
  id: Hex,
  request: Request,
  response: Response,
): Promise<Asked> {
  const { body, input } = await readInput(parts, id, askBody, bodyOf(request));
  const { provers, nowMs } = parts;
  const { prover, finality = "any" } = body;
  return slots.hold(async () => {
    const sinceMs = nowMs();
    const limit = { timeoutMs: TIMEOUT_MS, late: () => tooSlow(prover) };
    const answer = await withinTime(response, limit, (signal) =>
      provers.ask(prover, id, input, finality === "final", signal),
    );
    const shared = { modelId: id, prover, input, seconds: (nowMs() - sinceMs) / 1_000 };
    if ("price" in answer) return { ...shared, status: "priced", price: answer };
    const { output, ...answered } = answer;
    const shown = await atOneBlock(parts, (own) => outputView(own, id, output));
    return { ...shared, ...answered, output: shown };
  });
}

const tooSlow = (prover: string): BaseError =>
  new BaseError({
    code: "RUN_TIMEOUT",
    shortMessage: `The prover ${prover} gave no answer within ${TIMEOUT_MS / 1_000} s.`,
    nextStep: "A final output may take longer: ask for an unverified one, or by a request on the chain.",
    retryable: true,
  });
