/** JSON Selector: fetches JSON from a listed origin and selects one value (specs/003, lines 379-403). */
import { BaseError } from "../../../base/errors.ts";
import { decodeUtf8 } from "../../../base/json.ts";
import { type EgressPolicy, guardedFetch } from "../../egress/guarded-fetch.ts";
import type { MethodHandlers } from "../../http/app.ts";
import type { Environment } from "../../http/environment.ts";
import { selectJson } from "../../http/json-select.ts";

const MAX_RESPONSE_BYTES = 1 << 20;
const TIMEOUT_MS = 10_000;

export function jsonSelector(
  policy: Pick<EgressPolicy, "origins" | "allowPrivate" | "resolve">,
): MethodHandlers {
  const fetchGuarded = guardedFetch({
    maxResponseBytes: MAX_RESPONSE_BYTES,
    timeoutMs: TIMEOUT_MS,
    ...policy,
  });
  return {
    fetch: async ([url, selector], { signal }) => {
      const response = await fetchGuarded(url as string, { headers: { accept: "application/json" }, signal });
      if (response.status !== 200) {
        await response.body?.cancel();
        throw statusUnfit(new URL(url as string), response.status);
      }
      const body = new Uint8Array(await response.arrayBuffer());
      return [selectJson(decodeUtf8(body, "the server's answer"), selector as string)];
    },
  };
}

/** ASSAY_AGENT_ORIGINS: comma-separated; ASSAY_AGENT_ALLOW_PRIVATE=true lets it reach private addresses. */
export const createHandlers = (environment: Environment): MethodHandlers =>
  jsonSelector({
    origins: (environment.ASSAY_AGENT_ORIGINS ?? "").split(",").filter((origin) => origin.trim() !== ""),
    allowPrivate: environment.ASSAY_AGENT_ALLOW_PRIVATE === "true",
  });

const statusUnfit = (url: URL, status: number) =>
  new BaseError({
    code: status >= 500 || status === 429 ? "SOURCE_UNAVAILABLE" : "SOURCE_REFUSED",
    shortMessage: `${url.origin} answered with HTTP ${status}.`,
    nextStep: status >= 500 || status === 429 ? "Ask again later." : "Correct the URL.",
    details: { status },
  });
