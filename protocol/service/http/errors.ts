/** Answers of what Express's routes threw. */
import type { ErrorRequestHandler } from "express";
import { BaseError } from "../../../base/errors.ts";
import { jsonOf } from "../../../base/json.ts";
import type { Logger } from "../../../base/log.ts";
import { describeError, fileChanged, pathInvalid, rangeOutside, statusOf } from "./error-answer.ts";
import { requestIdFrom } from "./request-id.ts";

/** Answers what a route threw. Causes stay in the log. */
export function errorHandler(log: Logger): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    const error = fromExpress(thrown);
    const status = statusOf(error);
    const requestId = requestIdFrom(response);
    if (status === 500)
      log.error({ requestId, path: request.path, error }, "a request failed by a fault of ours");
    if (response.headersSent) {
      next(thrown);
      return;
    }
    // Those of the file that was asked for: a cache must not keep an error as long.
    for (const name of ["ETag", "Last-Modified"]) response.removeHeader(name);
    response.setHeader("Cache-Control", "no-store");
    const after = retryAfter(error, status);
    if (after !== undefined) response.setHeader("Retry-After", `${after}`);
    // The rest of a body that was refused would be read as the next request.
    if (!request.complete) response.setHeader("Connection", "close");
    response
      .status(status)
      .type("application/json")
      .send(jsonOf({ error: describeError(error, status), requestId }));
  };
}

/** @returns seconds; undefined where a limit has said it already, or repeating does not help */
function retryAfter(error: unknown, status: number): number | undefined {
  const retryAfter = error instanceof BaseError ? error.details.retryAfterSeconds : undefined;
  if (typeof retryAfter === "number") return retryAfter;
  return status === 503 ? 1 : undefined;
}

/** Express throws for a path that is no valid percent-encoding, and for a file whose state, or part, is not as the caller
 *  wants it. */
function fromExpress(thrown: unknown): unknown {
  if (thrown instanceof BaseError) return thrown;
  if (thrown instanceof URIError) return pathInvalid(thrown);
  const { status } = (thrown ?? {}) as { status?: unknown };
  if (status === 412) return fileChanged(thrown);
  return status === 416 ? rangeOutside(thrown) : thrown;
}
