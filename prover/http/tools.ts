/** POST /tools/:name, calldata to return data; POST /v1/tools/:name, the same as JSON. */
import { type Request, type Response, Router } from "express";
import { keccak256 } from "viem";
import { BaseError } from "../../base/errors.ts";
import { jsonOf, parseObject } from "../../base/json.ts";
import { pause } from "../../protocol/chain/follower.ts";
import { readBody, refuseText, requireType } from "../../protocol/service/http/body.ts";
import { findModel, type ServedModel } from "../models.ts";
import { type Finality, finalityOf } from "./finality.ts";
import { calldataOf, jsonLimit, requireInput, resultOf } from "./inputs.ts";
import type { Line } from "./line.ts";
import { admit, type PaidCall } from "./paid.ts";
import type { HttpParts } from "./parts.ts";
import { isBatchIn, queryInvalid } from "./query.ts";
import { answerSigned, signedBody } from "./signed.ts";

const DEFAULT_WAIT_SECONDS = 60;

export function toolRoutes(parts: HttpParts, line: Line): Router {
  const router = Router();
  router.post("/tools/:name", async (request, response) => {
    const model = findModel(parts.models, request.params.name);
    const want = wantOf(request, parts);
    const calldata = await readBody(request, model.maxCalldata);
    refuseText(calldata);
    const { output } = await answer(parts, line, want, { model, calldata, request, response });
    response.type("application/octet-stream").send(Buffer.from(output));
  });
  router.post("/v1/tools/:name", async (request, response) => {
    requireType(request, "application/json");
    const model = findModel(parts.models, request.params.name);
    const want = wantOf(request, parts);
    const values = parseObject(await readBody(request, jsonLimit(model)));
    const calldata = calldataOf(model, values);
    const { output, terms } = await answer(parts, line, want, { model, calldata, request, response });
    const body = { modelId: model.id, ...terms(), ...resultOf(model, calldata, output) };
    response.type("application/json").send(jsonOf(body));
  });
  return router;
}

interface Answer {
  readonly output: Uint8Array;
  /** what an answer in JSON says beside the output: its finality, or what was signed */
  readonly terms: () => Readonly<Record<string, unknown>>;
}

interface Call {
  readonly model: ServedModel;
  readonly calldata: Uint8Array;
  readonly request: Request;
  readonly response: Response;
}

/** What a caller wants to have. `waitMs`: how long he waits for it */
type Want =
  | { readonly finality: "any" }
  | { readonly finality: "signed"; readonly isBatched: boolean }
  | { readonly finality: "final" | "batched"; readonly waitMs: number };

/** @throws BaseError as `requireInput`, `answerSigned`, `admit`, `Line.run` and `untilFinal` do */
async function answer(parts: HttpParts, line: Line, want: Want, call: Call): Promise<Answer> {
  const { model, calldata, response } = call;
  requireInput(model, calldata);
  if (want.finality === "signed" || want.finality === "batched") {
    const waitMs = "waitMs" in want ? want.waitMs : undefined;
    const isBatched = !("isBatched" in want) || want.isBatched;
    const signed = await answerSigned(parts, line, { ...call, isBatched, waitMs });
    announce(response, model, { status: want.finality });
    const terms = () => ({ status: want.finality, ...signedBody(signed, parts) });
    return { output: signed.output, terms };
  }
  const { output, finality } = await answerOnChain(
    parts,
    line,
    call,
    "waitMs" in want ? want.waitMs : undefined,
  );
  announce(response, model, finality);
  return { output, terms: () => ({ ...finality }) };
}

/** @param wait ms to wait for finality; undefined: not at all
 *  @throws BaseError as `admit`, `Line.run` and `untilFinal` do */
async function answerOnChain(
  parts: HttpParts,
  line: Line,
  call: Call,
  wait: number | undefined,
): Promise<{ readonly output: Uint8Array; readonly finality: Finality }> {
  const { model, calldata, request, response } = call;
  const inputHash = keccak256(calldata);
  const { payment } = parts;
  const before = wait === undefined ? undefined : await payment?.paidBefore(model.id, inputHash);
  const paid =
    wait === undefined || before !== undefined
      ? undefined
      : await admit(parts, request, response, model, calldata, wait);
  const output = await line.run(model, calldata, response);
  const outputHash = keccak256(output);
  if (before?.outputHash === outputHash)
    return { output, finality: { status: "final", request: before.request } };
  const readFinality = (isOwnOrder = false): Finality =>
    finalityOf(parts.node.index, model.id, inputHash, outputHash, (id) =>
      isOwnOrder ? false : payment?.isWithheld(id) === true,
    );
  if (wait === undefined) return { output, finality: readFinality() };
  const finality = await line.waiters.hold(async () => {
    await paid?.order(output);
    return untilFinal(parts, { ...call, wait }, paid, readFinality);
  });
  return { output, finality };
}

/** @param paid waits until its order is paid for; undefined: until the output is final
 *  @throws BaseError NOT_FINAL_IN_TIME, STOPPING, and as PaidCall.state does */
async function untilFinal(
  parts: HttpParts,
  { model, wait, response }: Call & { readonly wait: number },
  paid: PaidCall | undefined,
  readFinality: (isOwnOrder: boolean) => Finality,
): Promise<Finality> {
  const deadline = parts.nowMs() + wait;
  for (;;) {
    const isPaid = paid === undefined || paid.state() === "paid";
    const finality = readFinality(paid !== undefined);
    if (finality.status === "final" && isPaid) return finality;
    if (parts.signal.aborted) throw stopping();
    // An order goes on without whoever hangs up.
    if (parts.nowMs() >= deadline || response.destroyed) {
      const reached: Finality = finality.status === "final" ? { ...finality, status: "pending" } : finality;
      announce(response, model, reached);
      throw notFinal(reached, wait, paid !== undefined);
    }
    await pause(Math.min(parts.pollIntervalMs, Math.max(1, deadline - parts.nowMs())), parts.signal);
  }
}

function announce(
  response: Response,
  model: ServedModel,
  finality: Finality | { readonly status: "signed" | "batched" },
): void {
  response.setHeader("Assay-Status", finality.status);
  response.setHeader("Assay-Model", model.id);
  if (!("request" in finality)) return;
  response.setHeader("Assay-Request", finality.request);
  if (finality.claim !== undefined) response.setHeader("Assay-Claim", finality.claim);
}

/** @throws BaseError QUERY_INVALID */
function wantOf(request: Request, { limits: { maxWaitSeconds } }: HttpParts): Want {
  const { finality = "any", timeout } = request.query;
  const isBatched = isBatchIn(request);
  if (isBatched && finality !== "signed")
    throw queryInvalid("finality", finality, "signed where batch is true");
  if (finality === "any") return { finality };
  if (finality === "signed") return { finality, isBatched };
  if (finality !== "final" && finality !== "batched")
    throw queryInvalid("finality", finality, "any, signed, batched or final");
  if (timeout === undefined)
    return { finality, waitMs: 1_000 * Math.min(DEFAULT_WAIT_SECONDS, maxWaitSeconds) };
  const seconds = typeof timeout === "string" && /^\d{1,6}$/.test(timeout) ? Number(timeout) : Number.NaN;
  if (seconds >= 1 && seconds <= maxWaitSeconds) return { finality, waitMs: 1_000 * seconds };
  throw queryInvalid("timeout", timeout, `1 to ${maxWaitSeconds} seconds`);
}

function notFinal(finality: Finality, waitMs: number, isOrdered: boolean): BaseError {
  const asked = finality.status !== "unverified";
  const next = asked
    ? "Ask again: the claim goes on without you."
    : "Nobody has claimed this output on the chain: ask there with `assay request`.";
  return new BaseError({
    code: "NOT_FINAL_IN_TIME",
    shortMessage: `The output is ${finality.status} after ${waitMs / 1_000} seconds.`,
    nextStep: isOrdered
      ? "Ask again: the order goes on without you, its price is taken once, when the output is final, and then the answer is free."
      : next,
    details: asked
      ? { status: finality.status, request: finality.request, claim: finality.claim }
      : { status: finality.status },
    retryable: true,
  });
}

const stopping = () =>
  new BaseError({
    code: "STOPPING",
    shortMessage: "This node is stopping.",
    nextStep: "Ask another.",
    retryable: true,
  });
