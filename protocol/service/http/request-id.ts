import { randomUUID } from "node:crypto";
import type { RequestHandler, Response } from "express";
import type { Logger } from "../../../base/log.ts";

const HEADER = "X-Request-Id";

/** Id of the HTTP request that this answers. */
export const requestIdFrom = (response: Response): string => String(response.getHeader(HEADER));

/** Names each request, by the caller's name for it if that is a plain one, and logs how it ended. Neither query nor
 *  body nor headers enter the log. */
export function requestLog(log: Logger, nowMs: () => number): RequestHandler {
  return (request, response, next) => {
    const given = request.get(HEADER);
    const requestId = given !== undefined && /^[\w-]{1,64}$/.test(given) ? given : randomUUID();
    const startedAt = nowMs();
    response.setHeader(HEADER, requestId);
    const { method, path } = request;
    response.once("close", () => {
      const ms = nowMs() - startedAt;
      const outcome = response.writableFinished ? { status: response.statusCode } : { aborted: true };
      log.info({ requestId, method, path: path.slice(0, 200), ms, ...outcome }, "http");
    });
    next();
  };
}
