/** Which web pages may use a service from a browser: every page may read what is public, and only pages that the
 *  operator names may have work done. */
import type { RequestHandler } from "express";
import { BaseError } from "../../../base/errors.ts";

export interface CorsOptions {
  /** origins whose pages may send every method; "*": all */
  readonly origins: readonly string[];
  /** paths that only named origins may read */
  readonly restricted: readonly string[];
  /** headers that callers send, and that pages may read */
  readonly sent: readonly string[];
  readonly read: readonly string[];
}

const SAFE = ["GET", "HEAD"];
/** For which a browser remembers the answer to its question, seconds. */
const MAX_AGE = 600;

/** Answers a browser's questions, and refuses calls of other pages that are not safe.
 *  @throws BaseError ORIGIN_REFUSED */
export function cors({ origins, restricted, sent, read }: CorsOptions): RequestHandler {
  return (request, response, next) => {
    const origin = request.get("Origin");
    if (!origins.includes("*")) response.vary("Origin");
    if (origin === undefined || isOwn(origin, request.get("Host"))) return next();
    const isNamed = origins.includes("*") || origins.includes(origin);
    const isOpen = isNamed || !restricted.includes(request.path);
    if (isOpen) {
      response.setHeader("Access-Control-Allow-Origin", isNamed && !origins.includes("*") ? origin : "*");
      response.setHeader("Access-Control-Expose-Headers", read.join(", "));
    }
    if (request.method === "OPTIONS") {
      if (isOpen) {
        response.setHeader(
          "Access-Control-Allow-Methods",
          [...SAFE, ...(isNamed ? ["POST"] : [])].join(", "),
        );
        response.setHeader("Access-Control-Allow-Headers", sent.join(", "));
        response.setHeader("Access-Control-Max-Age", `${MAX_AGE}`);
      }
      response.status(204).end();
      return;
    }
    if (!isNamed && !SAFE.includes(request.method)) throw refused(origin, request.method);
    next();
  };
}

/** The page comes from this service itself. */
function isOwn(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}

const refused = (origin: string, method: string) =>
  new BaseError({
    code: "ORIGIN_REFUSED",
    shortMessage: `A page of ${JSON.stringify(origin.slice(0, 120))} may not send ${method} to this node.`,
    nextStep: "Its operator can name that origin with --cors-origin.",
  });
