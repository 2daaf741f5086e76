/** POST /v1/tools/:name/signed-claims: many inputs of one model in one request, each answered with a signed claim. Most of
 *  what a short answer costs is its request. */
import { type Request, type Response, Router } from "express";
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
const MAX_BODY_BYTES = 4 * 2 ** 20;

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
    const most = Math.min(MAX_INPUTS, parts.limits.maxRuns);
    const inputs = await readInputs(request, model, most);
    await countAs(request, inputs.length);
    const runs = await runAll(signing, line, model, inputs, response);
    const signed = await signing.node.sign(model.id, runs, { requester, isBatched });
    const answers = runs.map(({ input, output }, index) => ({
      ...signedBody({ output, signed: signed[index] as (typeof signed)[number] }, parts),
      ...resultOf(model, input, output),
    }));
    response.setHeader("Assay-Status", "signed");
    response.setHeader("Assay-Model", model.id);
    const body = { modelId: model.id, status: "signed", answers };
    response.type("application/json").send(jsonOf(body));
  });
  return router;
}

/** All of them are read before any is run. @throws BaseError as `inputOf` with the input's place; INPUTS_INVALID,
 *  INPUTS_TOO_MANY, JSON_INVALID; as readBody */
async function readInputs(
  request: Request,
  model: ServedModel,
  most: number,
): Promise<readonly Uint8Array[]> {
  const one = jsonLimit(model);
  const body = parseJson(
    await readBody(request, Math.max(one, Math.min(most * one, MAX_BODY_BYTES))),
    "the body",
  );
  const inputs = (body as { inputs?: unknown } | null)?.inputs;
  if (!Array.isArray(inputs) || inputs.length === 0 || Object.keys(body as object).length !== 1)
    throw inputsInvalid();
  if (inputs.length > most) throw tooMany(inputs.length, most);
  return inputs.map((values: unknown, index) => {
    try {
      return inputOf(model, values);
    } catch (error) {
      throw error instanceof BaseError ? placed(error, index) : error;
    }
  });
}

/** @throws BaseError as requireObject, calldataOf and requireInput */
function inputOf(model: ServedModel, values: unknown): Uint8Array {
  const calldata = calldataOf(model, requireObject(values, "the input"));
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

function placed({ code, shortMessage, nextStep, details, retryable, cause }: BaseError, index: number) {
  return new BaseError({
    ...{ code, retryable, cause, details: { ...details, input: index } },
    shortMessage: `Of inputs[${index}]: ${shortMessage}`,
    ...(nextStep === undefined ? {} : { nextStep }),
  });
}

const inputsInvalid = (): BaseError =>
  new BaseError({
    code: "INPUTS_INVALID",
    shortMessage: "The body has no inputs, or more than inputs.",
    nextStep: 'Send {"inputs": [{…}, {…}]}: each an object with what the model\'s function takes.',
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
