/** Who calls: a name by bearer token, or the address where no tokens are configured. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Request, RequestHandler } from "express";
import { BaseError } from "../../../base/errors.ts";

export type Callers = Readonly<Record<string, string>> | undefined;

/** @param callers SHA-256 of each caller's token as hex
 *  @returns undefined without a valid token */
export function nameOf(request: Request, callers: Callers): string | undefined {
  const token = /^Bearer ([\x21-\x7e]{1,200})$/.exec(request.get("Authorization") ?? "")?.[1] ?? "";
  const given = createHash("sha256").update(token).digest();
  const found = Object.entries(callers ?? {}).find(([, hash]) =>
    timingSafeEqual(Buffer.from(hash, "hex"), given),
  );
  return token === "" ? undefined : found?.[0];
}

/** @throws BaseError CALLER_UNKNOWN where callers are known and this one is not */
export function callerOf(request: Request, callers: Callers): string {
  if (callers === undefined) return `address:${request.ip ?? "unknown"}`;
  const name = nameOf(request, callers);
  if (name !== undefined) return name;
  throw new BaseError({
    code: "CALLER_UNKNOWN",
    shortMessage: "This gateway takes known callers only, and the request has no valid bearer token.",
    nextStep: "Send Authorization: Bearer with the token that the operator gave you.",
  });
}

/** Refuses requests under a foreign name: a page whose name was pointed at this machine could else use the gateway.
 *  @param hosts names without ports besides addresses of this machine */
export function requireHost(hosts: readonly string[]): RequestHandler {
  const known = new Set([...hosts.map((host) => host.toLowerCase()), "localhost"]);
  return (request, _response, next) => {
    const host = (request.get("Host") ?? "").replace(/:\d+$/, "").toLowerCase();
    const isAddress = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:]+\])$/.test(host);
    if (isAddress || known.has(host)) {
      next();
      return;
    }
    throw new BaseError({
      code: "HOST_REFUSED",
      shortMessage: `This gateway is not ${JSON.stringify(host.slice(0, 80))}.`,
      nextStep: "The operator lists the names by which it is reached under `hosts`.",
    });
  };
}
