/** An agent as an HTTP server: calldata to return data at POST /, dispatched by selector.
 *
 *  specs/003 leaves paths, statuses and limits open; these are the ones that agents of its series are run with:
 *  200, 400 for calls that no repetition mends, 500 for faults of ours, 503 for those that may pass. */
import type { Express } from "express";
import { BaseError } from "../../base/errors.ts";
import { jsonOf } from "../../base/json.ts";
import type { Logger } from "../../base/log.ts";
import type { AgentMetadata } from "../../inference/manifest/assay.ts";
import { readBody, refuseText } from "../../protocol/service/http/body.ts";
import { type CallerLimits, createService } from "../../protocol/service/http/service.ts";
import { Slots } from "../../protocol/service/http/slots.ts";
import { withinTime } from "../../protocol/service/http/time-limit.ts";
import { type AgentCodec, agentCodec } from "../metadata/codec.ts";

export interface CallContext {
  /** as it came: the same bytes are the same question */
  readonly calldata: Uint8Array;
  /** aborts when the caller is not waited for any longer */
  readonly signal: AbortSignal;
}

/** Computes a method's outputs, in the metadata's order. */
export type MethodHandler = (
  args: readonly unknown[],
  context: CallContext,
) => readonly unknown[] | Promise<readonly unknown[]>;
export type MethodHandlers = Readonly<Record<string, MethodHandler>>;

export interface AgentParts {
  readonly metadata: AgentMetadata;
  readonly handlers: MethodHandlers;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly limits: CallerLimits;
  /** hosts wait 30 s */
  readonly timeoutMs?: number;
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 25_000;
/** calls under way at once */
const MAX_RUNNING = 64;

/** @throws BaseError AGENT_INCOMPLETE when a method of the metadata has no handler */
export function createAgentApp(parts: AgentParts): Express {
  const { metadata, handlers, log, nowMs, limits, timeoutMs = DEFAULT_TIMEOUT_MS } = parts;
  const codec = agentCodec(metadata.abi);
  requireHandlers(codec, handlers);
  const calls = new Slots({ what: "calls", limit: MAX_RUNNING, nowMs });
  const mount = (app: Express) => {
    app.post("/", async (request, response) => {
      await calls.hold(async () => {
        const calldata = await readBody(request, MAX_BODY_BYTES);
        refuseText(calldata);
        const { method, args } = codec.decodeCall(calldata);
        const handler = handlers[method.name] as MethodHandler;
        const limit = { timeoutMs, late: () => tooLate(timeoutMs) };
        const results = await withinTime(response, limit, async (signal) =>
          handler(args, { calldata, signal }),
        );
        const reply = codec.encodeReply(method.name, results);
        response.type("application/octet-stream").send(Buffer.from(reply));
      });
    });
    app.get("/health", (_request, response) => {
      const { name, version } = metadata;
      response.type("application/json").send(jsonOf({ status: "ok", name, version }));
    });
    app.get("/metadata.json", (_request, response) => {
      response.type("application/json").send(jsonOf(metadata));
    });
  };
  return createService({ log, nowMs, limits, routes: ROUTES, mount });
}

const ROUTES = ["POST /", "GET /health", "GET /metadata.json"];

function requireHandlers(codec: AgentCodec, handlers: MethodHandlers): void {
  const missing = codec.methods.filter(({ name }) => !Object.hasOwn(handlers, name));
  if (missing.length === 0) return;
  throw new BaseError({
    code: "AGENT_INCOMPLETE",
    shortMessage: `The metadata names methods that nothing computes: ${missing.map((m) => m.name).join(", ")}.`,
    nextStep: "Export a handler for each method of the metadata.",
  });
}

const tooLate = (timeoutMs: number) =>
  new BaseError({
    code: "AGENT_TIMEOUT",
    shortMessage: `The method was not done within ${timeoutMs / 1_000} seconds.`,
    nextStep: "Ask again later, or ask for less.",
    retryable: true,
  });
