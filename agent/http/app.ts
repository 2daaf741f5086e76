/** An agent as an HTTP server: calldata to return data at POST /, dispatched by selector.
 *
 *  specs/003 leaves paths, statuses and limits open; these are the ones that agents of its series are run with:
 *  200, 400 for calls that no repetition mends, 500 for faults of ours, 503 for those that may pass. */
import express, { type Express } from "express";
import { BaseError } from "../../inference/errors.ts";
import type { AgentMetadata } from "../../inference/manifest/assay.ts";
import { readBody, refuseText } from "../../protocol/http/body.ts";
import { errorHandler } from "../../protocol/http/errors.ts";
import { jsonOf } from "../../protocol/http/json.ts";
import { requestLog } from "../../protocol/http/request-id.ts";
import type { Logger } from "../../protocol/log.ts";
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
  /** hosts wait 30 s */
  readonly timeoutMs?: number;
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 25_000;
/** calls under way at once */
const MAX_RUNNING = 64;

/** @throws BaseError AGENT_INCOMPLETE when a method of the metadata has no handler */
export function createAgentApp(parts: AgentParts): Express {
  const { metadata, handlers, log, nowMs, timeoutMs = DEFAULT_TIMEOUT_MS } = parts;
  const codec = agentCodec(metadata.abi);
  requireHandlers(codec, handlers);
  const app = express();
  let running = 0;
  app.disable("x-powered-by");
  app.use(requestLog(log, nowMs));
  app.post("/", async (request, response) => {
    if (running >= MAX_RUNNING) throw tooBusy();
    running += 1;
    try {
      const calldata = await readBody(request, MAX_BODY_BYTES);
      refuseText(calldata);
      const reply = await answer(codec, handlers, calldata, timeoutMs);
      response.type("application/octet-stream").send(Buffer.from(reply));
    } finally {
      running -= 1;
    }
  });
  app.get("/health", (_request, response) => {
    const { name, version } = metadata;
    response.type("application/json").send(jsonOf({ status: "ok", name, version }));
  });
  app.get("/metadata.json", (_request, response) => {
    response.type("application/json").send(jsonOf(metadata));
  });
  app.use((request) => {
    throw new BaseError({
      code: "ROUTE_UNKNOWN",
      shortMessage: `There is no ${request.method} ${request.path.slice(0, 120)}.`,
      nextStep: "There are POST /, GET /health and GET /metadata.json.",
    });
  });
  app.use(errorHandler(log));
  return app;
}

function requireHandlers(codec: AgentCodec, handlers: MethodHandlers): void {
  const missing = codec.methods.filter(({ name }) => !Object.hasOwn(handlers, name));
  if (missing.length === 0) return;
  throw new BaseError({
    code: "AGENT_INCOMPLETE",
    shortMessage: `The metadata names methods that nothing computes: ${missing.map((m) => m.name).join(", ")}.`,
    nextStep: "Export a handler for each method of the metadata.",
  });
}

/** @throws BaseError AGENT_TIMEOUT and what the codec and the handler throw */
async function answer(
  codec: AgentCodec,
  handlers: MethodHandlers,
  calldata: Uint8Array,
  timeoutMs: number,
): Promise<Uint8Array> {
  const { method, args } = codec.decodeCall(calldata);
  const handler = handlers[method.name] as MethodHandler;
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      stop.abort();
      reject(tooLate(timeoutMs));
    }, timeoutMs);
  });
  try {
    const results = await Promise.race([handler(args, { calldata, signal: stop.signal }), late]);
    return codec.encodeReply(method.name, results);
  } finally {
    clearTimeout(timer);
  }
}

const tooLate = (timeoutMs: number) =>
  new BaseError({
    code: "AGENT_TIMEOUT",
    shortMessage: `The method was not done within ${timeoutMs / 1_000} seconds.`,
    nextStep: "Ask again later, or ask for less.",
    retryable: true,
  });

const tooBusy = () =>
  new BaseError({
    code: "TOO_BUSY",
    shortMessage: `${MAX_RUNNING} calls are under way, the limit.`,
    nextStep: "Ask again in a second.",
    retryable: true,
  });
