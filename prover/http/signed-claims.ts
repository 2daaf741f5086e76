/** POST /v1/tools/:name/signed-claims: many inputs of one model in one request, each answered with a signed claim. Most of
 *  what a short answer costs is its request. Inputs come by name, or as calldata, and are answered likewise. */
import { type Request, type Response, Router } from "express";
import { type Hex, isHex } from "viem";
import { fromHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { jsonOf, parseJson, requireObject } from "../../base/json.ts";
import { readBody, requireType } from "../../protocol/service/http/body.ts";
import { countAs } from "../../protocol/service/http/service.ts";
import { findModel, hasProgram, type ServedModel, type ServedProgram } from "../models.ts";
import type { Run } from "../promises/node.ts";
import { calldataOf, jsonLimit, requireInput, resultOf } from "./inputs.ts";
import type { Line } from "./line.ts";
import type { HttpParts, Signing } from "./parts.ts";
import { isBatchIn, requesterIn } from "./query.ts";
import { requireSigning, SIGNED_RUN, signedBody, signingOff } from "./signed.ts";

/** Inputs of one request. */
export const MAX_INPUTS = 64;
/** Of a body, unless one input alone may have more. */
const MAX_BODY_BYTES = 2 ** 18;

export function signedClaimRoutes(parts: HttpParts, line: Line): Router {
  const router = Router();
  router.post("/v1/tools/:name/signed-claims", async (request, response) => {
    requireType(request, "application/json");
    const model = findModel(parts.models, request.params.name);
    const isBatched = isBatchIn(request);
    const requester = requesterIn(request);
    const signing = requireSigning(parts, isBatched);
    if (!hasProgram(model)) throw signingOff();
    if (signing.sales !== undefined) throw soldSingly(model);
    const { maxRuns, requestsPerMinute } = parts.limits;
    const most = Math.min(MAX_INPUTS, maxRuns, requestsPerMinute || MAX_INPUTS);
    const { inputs, isNamed } = await readInputs(request, model, most);
    const runs = await runAll(signing, line, model, inputs, response);
    const signed = await signing.node.sign(model.id, runs, { requester, isBatched });
    const answers = runs.map(({ input, output }, index) => ({
      ...signedBody({ output, signed: signed[index] as (typeof signed)[number] }, parts),
      ...(isNamed ? resultOf(model, input, output) : {}),
    }));
    response.setHeader("Assay-Status", "signed");
    response.setHeader("Assay-Model", model.id);
    const body = { modelId: model.id, status: "signed", answers };
    response.type("application/json").send(jsonOf(body));
  });
  return router;
}

interface Inputs {
  /** calldata of each */
  readonly inputs: readonly Uint8Array[];
  /** they came by name */
  readonly isNamed: boolean;
}

/** All of them are read before any is run. @throws BaseError as `inputOf` with the input's place; INPUTS_INVALID,
 *  INPUTS_TOO_MANY, JSON_INVALID, RATE_LIMITED; as readBody */
async function readInputs(request: Request, model: ServedModel, most: number): Promise<Inputs> {
  const one = jsonLimit(model);
  const bytes = await readBody(request, Math.max(one, Math.min(most * one, MAX_BODY_BYTES)));
  // What it costs to read counts, whatever is in it.
  const asRead = Math.max(1, Math.ceil(bytes.length / one));
  await countAs(request, asRead);
  const body = (parseJson(bytes, "the body") ?? {}) as { inputs?: unknown; calldata?: unknown };
  const isNamed = body.calldata === undefined;
  const list = isNamed ? body.inputs : body.calldata;
  if (!Array.isArray(list) || list.length === 0 || Object.keys(body).length !== 1) throw inputsInvalid();
  if (list.length > most) throw tooMany(list.length, most);
  if (list.length > asRead) await countAs(request, list.length - asRead + 1);
  const inputs = list.map((value: unknown, index) => {
    try {
      return inputOf(model, value, isNamed);
    } catch (error) {
      throw error instanceof BaseError
        ? placed(error, `${isNamed ? "inputs" : "calldata"}[${index}]`)
        : error;
    }
  });
  return { inputs, isNamed };
}

/** Whole bytes as hexadecimal text. */
const isBytes = (value: unknown): value is Hex => isHex(value) && value.length % 2 === 0;

/** @param value by name, or hex of calldata @throws BaseError as requireObject, calldataOf and requireInput */
function inputOf(model: ServedModel, value: unknown, isNamed: boolean): Uint8Array {
  if (!isNamed && !isBytes(value)) throw noCalldata(value);
  const calldata = isNamed ? calldataOf(model, requireObject(value, "the input")) : fromHex(value as Hex);
  requireInput(model, calldata);
  return calldata;
}

/** @throws BaseError SIGNING_PAUSED (retryable); as Line.work and the runs */
async function runAll(
  { node, runs }: Signing,
  line: Line,
  model: ServedProgram,
  inputs: readonly Uint8Array[],
  response: Response,
): Promise<readonly Run[]> {
  node.requireReady(model.id);
  return line.work(
    model,
    response,
    (signal) =>
      Promise.all(
        inputs.map(async (input) => ({
          input,
          output: await runs.output(model, input, signal, SIGNED_RUN),
        })),
      ),
    inputs.length,
  );
}

function placed({ code, shortMessage, nextStep, details, retryable, cause }: BaseError, place: string) {
  return new BaseError({
    ...{ code, retryable, cause, details: { ...details, place } },
    shortMessage: `Of ${place}: ${shortMessage}`,
    ...(nextStep === undefined ? {} : { nextStep }),
  });
}

const inputsInvalid = (): BaseError =>
  new BaseError({
    code: "INPUTS_INVALID",
    shortMessage: "The body has no inputs, or more than inputs.",
    nextStep:
      'Send {"inputs": [{…}, {…}]}, each an object with what the model\'s function takes, or {"calldata": ["0x…", "0x…"]}.',
  });

const noCalldata = (value: unknown): BaseError =>
  new BaseError({
    code: "INPUTS_INVALID",
    shortMessage: `It is ${JSON.stringify(value)?.slice(0, 40)} and no hexadecimal text.`,
    nextStep: 'Send "0x" and the digits of selector and ABI-encoded parameters.',
  });

const tooMany = (count: number, limit: number): BaseError =>
  new BaseError({
    code: "INPUTS_TOO_MANY",
    shortMessage: `The body has ${count} inputs, this node takes ${limit} in one request.`,
    nextStep: "Send them in several requests.",
    details: { count, limit },
  });

const soldSingly = ({ name }: ServedModel): BaseError =>
  new BaseError({
    code: "SOLD_SINGLY",
    shortMessage: "Signed answers cost here, and a payment buys one of them.",
    nextStep: `Send each input with its payment to POST /v1/tools/${name}?finality=signed.`,
  });
