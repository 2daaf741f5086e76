/** The MCP server over HTTP, at `/mcp`. Each request is served by itself, of whichever revision of the protocol: nothing
 *  is kept of a client between two of them, so nobody can push another out, and there is nothing to expire. */
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, type McpServerFactory, ProtocolErrorCode } from "@modelcontextprotocol/server";
import express, { type Request, type RequestHandler, type Response } from "express";
import { isBaseError } from "../../base/errors.ts";
import { requireShallow } from "../../base/json.ts";
import type { Logger } from "../../base/log.ts";
import { readBody } from "../../protocol/service/http/body.ts";
import { Slots } from "../../protocol/service/http/slots.ts";

const MAX_BODY_BYTES = 1_048_576;
/** Requests at once: a call that waits asks the node again and again. */
const MAX_REQUESTS = 256;
/** What JSON-RPC leaves to servers. */
const REFUSED = -32_000;

export interface McpApp {
  readonly app: express.Express;
  /** Ends what is under way. */
  close(): Promise<void>;
}

export interface McpAppOptions {
  readonly version: string;
  readonly log: Logger;
  readonly nowMs: () => number;
  /** `host:port` by which it is reached: no page of another site reaches it, whatever name that gave to its address */
  readonly authorities: () => readonly string[];
}

export function mcpApp(create: McpServerFactory, options: McpAppOptions): McpApp {
  const { version, log, nowMs } = options;
  const onerror = (error: Error) => log.info({ reason: error.message }, "an MCP message was refused");
  const handler = createMcpHandler(create, { maxRequestBodySize: MAX_BODY_BYTES, onerror });
  const serve = toNodeHandler(handler, { maxRequestBodySize: MAX_BODY_BYTES, onerror });
  const slots = new Slots({ what: "requests", limit: MAX_REQUESTS, nowMs });
  const app = express();
  app.disable("x-powered-by");
  app.use(ownPagesOnly(options.authorities));
  app.get("/health", (_request, response) => {
    response.json({ status: "ok", version, requests: slots.used });
  });
  app.post("/mcp", async (request, response) => {
    await slots.hold(async () => {
      const body = isJson(request) ? await messageOf(request) : undefined;
      // The SDK's types say nothing of a response that Express has extended.
      await serve(request, response as never, body);
    });
  });
  app.all("/mcp", (_request, response) => {
    response.setHeader("Allow", "POST");
    refuse(
      response,
      405,
      REFUSED,
      "Only POST is served: there are no sessions, and no stream without a request.",
    );
  });
  app.use((request, response) => {
    refuse(
      response,
      404,
      REFUSED,
      `There is no ${request.method} ${request.path.slice(0, 120)}: POST to /mcp.`,
    );
  });
  app.use(((error, request, response, next) => {
    if (response.headersSent) return next(error);
    // The rest of a body that was refused would be read as the next request.
    if (!request.complete) response.setHeader("Connection", "close");
    answerFault(error, response, log);
  }) satisfies express.ErrorRequestHandler);
  return { app, close: () => handler.close() };
}

/** Refuses hosts and origins other than the server's own. A client that is no page names no origin. */
function ownPagesOnly(authorities: () => readonly string[]): RequestHandler {
  return ({ headers: { host = "", origin } }, response, next) => {
    const own = authorities();
    if (!own.includes(host.toLowerCase())) {
      refuse(response, 403, REFUSED, `The host ${shown(host)} is not served: ask ${own.join(" or ")}.`);
    } else if (origin !== undefined && !own.some((authority) => origin === `http://${authority}`)) {
      refuse(
        response,
        403,
        REFUSED,
        `A page of ${shown(origin)} may not ask: only pages of ${own.join(" or ")}.`,
      );
    } else next();
  };
}

const isJson = (request: Request): boolean => request.is("application/json") !== false;

/** @throws BaseError JSON_INVALID, BODY_TOO_LARGE, BODY_INCOMPLETE, CONTENT_TYPE_UNSUPPORTED; SyntaxError, TypeError */
async function messageOf(request: Request): Promise<unknown> {
  const bytes = await readBody(request, MAX_BODY_BYTES);
  const message: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  requireShallow(message, "the body");
  return message;
}

function answerFault(error: unknown, response: Response, log: Logger): void {
  const { ParseError, InternalError } = ProtocolErrorCode;
  if (error instanceof SyntaxError || (error instanceof TypeError && "code" in error)) {
    refuse(response, 400, ParseError, "The body is no JSON in UTF-8: send one JSON-RPC message.");
  } else if (isBaseError(error, "JSON_INVALID")) refuse(response, 400, ParseError, error.message);
  else if (isBaseError(error, "BODY_TOO_LARGE")) refuse(response, 413, ParseError, error.message);
  else if (isBaseError(error, "BODY_INCOMPLETE")) refuse(response, 400, ParseError, error.message);
  else if (isBaseError(error, "CONTENT_TYPE_UNSUPPORTED")) refuse(response, 415, REFUSED, error.message);
  else if (isBaseError(error, "TOO_BUSY")) {
    response.setHeader("Retry-After", `${error.details.retryAfterSeconds}`);
    refuse(response, 503, REFUSED, error.message);
  } else if (error instanceof URIError)
    refuse(response, 400, REFUSED, "The path is no percent-encoding of UTF-8.");
  else {
    log.error({ error }, "an MCP request failed by a fault of ours");
    refuse(response, 500, InternalError, "A fault of this server; its log says which.");
  }
}

function refuse(response: Response, status: number, code: number, message: string): void {
  response.status(status).json({ jsonrpc: "2.0", id: null, error: { code, message } });
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 100));
