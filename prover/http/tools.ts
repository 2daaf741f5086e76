/** POST /tools/:name, calldata to return data; POST /v1/tools/:name, the same as JSON. */
import { type Request, type RequestHandler, type Response, Router } from "express";
import { keccak256 } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { decodeUtf8, jsonOf, parseObject } from "../../base/json.ts";
import { type CodecInput, decodeInput } from "../../inference/codecs/input.ts";
import { pause } from "../../protocol/chain/follower.ts";
import { decodeReturn, encodeCall, type ModelFunction } from "../../protocol/rules/abi.ts";
import { readBody, refuseText, requireType } from "../../protocol/service/http/body.ts";
import { findModel, hasProgram, type ServedModel } from "../models.ts";
import { type Finality, finalityOf } from "./finality.ts";
import type { Line } from "./line.ts";
import type { HttpParts } from "./parts.ts";
import { takePayment } from "./take-payment.ts";

const DEFAULT_WAIT_SECONDS = 60;

export function toolRoutes(parts: HttpParts, line: Line): Router {
  const router = Router();
  const pay: RequestHandler = (request, response, next) => {
    const isPaid = parts.payment !== undefined && request.query.finality === "final";
    return isPaid ? parts.payment.gate(request, response, next) : next();
  };
  router.post("/tools/:name", pay);
  router.post("/v1/tools/:name", pay);
  router.post("/tools/:name", async (request, response) => {
    const model = findModel(parts.models, request.params.name);
    const wait = waitOf(request, parts);
    const calldata = await readBody(request, model.maxCalldata);
    refuseText(calldata);
    const { output, finality } = await answer(parts, line, model, calldata, wait, response);
    announce(response, model, finality);
    response.type("application/octet-stream").send(Buffer.from(output));
  });
  router.post("/v1/tools/:name", async (request, response) => {
    requireType(request, "application/json");
    const model = findModel(parts.models, request.params.name);
    const wait = waitOf(request, parts);
    const values = parseObject(await readBody(request, jsonLimit(model)));
    const called = functionOf(model);
    const calldata = fromHex(encodeCall(called, values));
    const { output, finality } = await answer(parts, line, model, calldata, wait, response);
    announce(response, model, finality);
    const result = decodeReturn(called, toHex(output));
    const body = {
      modelId: model.id,
      ...finality,
      result,
      output: toHex(output),
      inputHash: keccak256(calldata),
    };
    response.type("application/json").send(jsonOf(body));
  });
  return router;
}

/** An escaped character of JSON takes six bytes, a word as a decimal string at most 81. */
const jsonLimit = ({ maxCalldata }: ServedModel): number => 4_096 + 6 * maxCalldata;

const functionOf = (model: ServedModel): ModelFunction => ({
  ...model.function,
  selector: toHex(model.selector),
});

function decode(model: ServedModel, calldata: Uint8Array): CodecInput {
  const { inputCodec, inputSize } = hasProgram(model)
    ? model.prepared.program
    : { inputCodec: "int16s" as const, inputSize: model.proofModel.inputs };
  return decodeInput({ inputCodec, inputSize }, model.selector, calldata);
}

interface Answer {
  readonly output: Uint8Array;
  readonly finality: Finality;
}

/** @param waitMs how long to wait for finality, undefined: not at all
 *  @throws BaseError as `Line.run` and `untilFinal` do */
async function answer(
  parts: HttpParts,
  line: Line,
  model: ServedModel,
  calldata: Uint8Array,
  waitMs: number | undefined,
  response: Response,
): Promise<Answer> {
  const input = decode(model, calldata);
  if (input.codec === "text") decodeUtf8(input.text, "the text");
  const output = await line.run(model, calldata, response);
  const [inputHash, outputHash] = [keccak256(calldata), keccak256(output)];
  const readFinality = (): Finality => finalityOf(parts.node.index, model.id, inputHash, outputHash);
  if (waitMs === undefined) return { output, finality: readFinality() };
  const finality = await line.waiters.hold(() =>
    untilFinal(parts, model, calldata, waitMs, readFinality, response),
  );
  return { output, finality };
}

/** @throws BaseError NOT_FINAL_IN_TIME, STOPPING */
async function untilFinal(
  parts: HttpParts,
  model: ServedModel,
  calldata: Uint8Array,
  waitMs: number,
  readFinality: () => Finality,
  response: Response,
): Promise<Finality> {
  // Who pays here files no request on the chain.
  if (readFinality().status === "unverified") await parts.payment?.order(model, calldata);
  const deadline = parts.nowMs() + waitMs;
  for (;;) {
    const finality = readFinality();
    if (finality.status === "final") return finality;
    if (parts.signal.aborted) throw stopping();
    // Who ordered and hangs up has still ordered.
    const isAlone = response.destroyed && parts.payment === undefined;
    if (parts.nowMs() >= deadline || isAlone) {
      announce(response, model, finality);
      throw notFinal(finality, waitMs);
    }
    await pause(Math.min(parts.pollIntervalMs, Math.max(1, deadline - parts.nowMs())), parts.signal);
  }
}

function announce(response: Response, model: ServedModel, finality: Finality): void {
  response.setHeader("Assay-Status", finality.status);
  response.setHeader("Assay-Model", model.id);
  if (finality.status === "unverified") return;
  if (finality.status === "final") takePayment(response);
  response.setHeader("Assay-Request", finality.request);
  if (finality.claim !== undefined) response.setHeader("Assay-Claim", finality.claim);
}

/** @returns ms to wait for finality, or undefined
 *  @throws BaseError QUERY_INVALID */
function waitOf(request: Request, { limits: { maxWaitSeconds } }: HttpParts): number | undefined {
  const { finality, timeout } = request.query;
  if (finality === undefined || finality === "any") return undefined;
  if (finality !== "final") throw queryInvalid("finality", finality, "final or any");
  if (timeout === undefined) return 1_000 * Math.min(DEFAULT_WAIT_SECONDS, maxWaitSeconds);
  const seconds = typeof timeout === "string" && /^\d{1,6}$/.test(timeout) ? Number(timeout) : Number.NaN;
  if (seconds >= 1 && seconds <= maxWaitSeconds) return 1_000 * seconds;
  throw queryInvalid("timeout", timeout, `1 to ${maxWaitSeconds} seconds`);
}

export const queryInvalid = (name: string, value: unknown, limit: string): BaseError =>
  new BaseError({
    code: "QUERY_INVALID",
    shortMessage: `${name} is ${JSON.stringify(value)?.slice(0, 80)}, must be ${limit}.`,
    nextStep: "Correct the query.",
    details: { name },
  });

function notFinal(finality: Finality, waitMs: number): BaseError {
  const asked = finality.status !== "unverified";
  return new BaseError({
    code: "NOT_FINAL_IN_TIME",
    shortMessage: `The output is ${finality.status} after ${waitMs / 1_000} seconds.`,
    nextStep: asked
      ? "Ask again: the claim goes on without you."
      : "Nobody has claimed this output on the chain: ask there with `assay request`.",
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
