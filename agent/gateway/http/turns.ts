/** Starting a turn, and reading its events. */
import { randomBytes } from "node:crypto";
import { type Request, type Response, Router } from "express";
import { BaseError } from "../../../base/errors.ts";
import { jsonOf, parseObject } from "../../../base/json.ts";
import { readBody, requireType } from "../../../protocol/service/http/body.ts";
import { openEventStream } from "../../../protocol/service/http/event-stream.ts";
import { callerOf } from "./callers.ts";
import type { AppParts } from "./parts.ts";

const CONVERSATION = /^[0-9a-f]{32}$/;

export function turnRoutes(parts: AppParts): Router {
  const router = Router();
  const { agents, runner, turns, limits, callers } = parts;
  router.post("/v1/agents/:id/turns", async (request, response) => {
    const caller = callerOf(request, callers);
    // A form of another site can send no JSON, and no script of one may without leave, which is never given.
    if (request.get("Content-Type") === undefined) throw messageInvalid("the content type is missing");
    requireType(request, "application/json");
    const agent = agents.getAgent(request.params.id);
    const body = parseObject(await readBody(request, 6 * limits.maxMessageChars + 1_000));
    const { message, conversationId: given } = readTurn(body, limits.maxMessageChars);
    const conversationId = given ?? randomBytes(16).toString("hex");
    const history = given === undefined ? [] : turns.history(given, agent.id, caller, limits.maxHistory);
    const turnId = runner.start({ conversationId, agent, caller, message, history });
    response.status(202).type("application/json");
    response.send(jsonOf({ turnId, conversationId, events: `/v1/turns/${turnId}/events` }));
  });
  router.get("/v1/turns/:id/events", (request, response) => {
    stream(parts, request, response, request.params.id);
  });
  router.delete("/v1/turns/:id", (request, response) => {
    runner.stream(request.params.id).cancel();
    response.status(204).end();
  });
  return router;
}

function stream({ runner }: AppParts, request: Request, response: Response, turnId: string): void {
  const turn = runner.stream(turnId);
  const after = lastEventId(request, turn.lastId);
  const events = openEventStream(response);
  const detach = turn.attach(after, { event: events.send, end: events.end });
  events.signal.addEventListener("abort", detach);
}

/** @throws BaseError LAST_EVENT_ID_INVALID */
function lastEventId(request: Request, last: number): number {
  const given = request.get("Last-Event-ID") ?? "0";
  const id = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (id <= last) return id;
  throw new BaseError({
    code: "LAST_EVENT_ID_INVALID",
    shortMessage: `Last-Event-ID is ${JSON.stringify(given.slice(0, 40))}, the turn's events go from 1 to ${last}.`,
    nextStep: "Send the id of the last event that you saw, or none.",
  });
}

/** @throws BaseError MESSAGE_INVALID */
function readTurn(body: Record<string, unknown>, maxChars: number) {
  const { message, conversationId, ...more } = body;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw messageInvalid(`${JSON.stringify(unknown.slice(0, 40))} is unknown`);
  if (typeof message !== "string" || message.trim() === "") throw messageInvalid("message is no text");
  if (message.length > maxChars)
    throw messageInvalid(`message has ${message.length} characters, at most ${maxChars}`);
  if (conversationId === undefined) return { message };
  if (typeof conversationId !== "string" || !CONVERSATION.test(conversationId)) {
    throw messageInvalid("the gateway gave no such conversationId");
  }
  return { message, conversationId };
}

const messageInvalid = (why: string) =>
  new BaseError({
    code: "MESSAGE_INVALID",
    shortMessage: `The message cannot be taken: ${why}.`,
    nextStep: 'Send {"message": "…"} as application/json, and conversationId to go on with a conversation.',
  });
