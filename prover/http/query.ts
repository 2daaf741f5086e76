/** Parameters after the question mark. */
import type { Express, Request } from "express";
import { isAddress } from "viem";
import { BaseError } from "../../base/errors.ts";
import { ZERO_ADDRESS } from "../../protocol/rules/types.ts";

export const queryInvalid = (name: string, value: unknown, limit: string): BaseError =>
  new BaseError({
    code: "QUERY_INVALID",
    shortMessage: `${name} is ${JSON.stringify(value)?.slice(0, 80)}, must be ${limit}.`,
    nextStep: "Correct the query.",
    details: { name },
  });

/** Whether a signed answer is to go into a batch. @throws BaseError QUERY_INVALID */
export function isBatchIn({ query: { batch = "false" } }: Request): boolean {
  if (batch === "true" || batch === "false") return batch === "true";
  throw queryInvalid("batch", batch, "true or false");
}

/** Whom a signed claim names. @throws BaseError QUERY_INVALID */
export function requesterIn({ query: { requester } }: Request): typeof ZERO_ADDRESS {
  if (requester === undefined) return ZERO_ADDRESS;
  if (typeof requester === "string" && isAddress(requester, { strict: false })) return requester;
  throw queryInvalid("requester", requester, "an address");
}

/** Refuses parameters that a route does not have: one in another spelling would be ignored in silence.
 *  @param queries by METHOD /path, the names that it has */
export function refuseUnknown(
  app: Express,
  queries: readonly (readonly [string, readonly string[]])[],
): void {
  for (const [route, known] of queries) {
    const [method, path = ""] = route.split(" ");
    app[method === "POST" ? "post" : "get"](path, (request, _response, next) => {
      const unknown = Object.keys(request.query).find((name) => !known.includes(name));
      if (unknown !== undefined) throw parameterUnknown(unknown, known);
      next();
    });
  }
}

const parameterUnknown = (name: string, known: readonly string[]) =>
  new BaseError({
    code: "QUERY_INVALID",
    shortMessage: `There is no parameter ${JSON.stringify(name.slice(0, 80))} here.`,
    nextStep:
      known.length === 0 ? "This route takes none." : `There are ${known.join(", ")}, written like that.`,
    details: { name: name.slice(0, 80), known },
  });
