/** HTTP requests to listed origins only: no private addresses unless allowed, no redirects, bounded in size and time.
 *
 *  A name is resolved once; the addresses that were checked are the ones that the connection uses, so that a name
 *  whose address changes between check and use (DNS rebinding) gains nothing. */
import { lookup as resolveDns } from "node:dns/promises";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Readable, Transform } from "node:stream";
import { abortAfter } from "../../base/abort.ts";
import { BaseError } from "../../base/errors.ts";
import { isPublicAddress } from "./addresses.ts";

export interface EgressPolicy {
  /** scheme, host and port that may be reached: "https://api.example.org", "http://127.0.0.1:8787" */
  readonly origins: readonly string[];
  /** default false: loopback, private and reserved addresses are refused */
  readonly allowPrivate?: boolean;
  /** most bytes of a response body */
  readonly maxResponseBytes: number;
  /** from the request to the last byte of the response, ms; absent: the caller's signal alone */
  readonly timeoutMs?: number;
  /** all addresses of a name; default: the system's resolver */
  readonly resolve?: (host: string) => Promise<readonly ResolvedAddress[]>;
}

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export interface GuardedInit {
  readonly method?: string | undefined;
  readonly headers?: ConstructorParameters<typeof Headers>[0] | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

export type GuardedFetch = (target: string | URL, init?: GuardedInit) => Promise<Response>;

/** @returns a fetch under the policy; it throws BaseError EGRESS_ORIGIN_REFUSED, EGRESS_ADDRESS_REFUSED,
 *  EGRESS_REDIRECT_REFUSED, EGRESS_BODY_REFUSED, EGRESS_TOO_LARGE (also from the body), EGRESS_TIMEOUT and
 *  EGRESS_FAILED (both retryable)
 *  @throws BaseError EGRESS_ORIGIN_REFUSED for an entry of the list that is no origin */
export function guardedFetch(policy: EgressPolicy): GuardedFetch {
  const origins = new Set(policy.origins.map(originOf));
  return async (target, init = {}) => {
    const url = checkUrl(target, origins);
    const own = init.signal ?? new AbortController().signal;
    const signal = policy.timeoutMs === undefined ? own : abortAfter(policy.timeoutMs, own);
    try {
      signal.throwIfAborted();
      const addresses = await addressesOf(url, policy);
      signal.throwIfAborted();
      const response = await send(url, init, addresses, signal);
      return toResponse(url, response, policy.maxResponseBytes, signal);
    } catch (error) {
      throw failed(url, error, signal);
    }
  };
}

/** @throws BaseError EGRESS_ORIGIN_REFUSED */
export function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") {
    return url.origin;
  }
  throw refused(
    "EGRESS_ORIGIN_REFUSED",
    `${JSON.stringify(text.slice(0, 120))} is no http or https address.`,
  );
}

function checkUrl(target: string | URL, origins: ReadonlySet<string>): URL {
  const origin = originOf(String(target));
  if (origins.has(origin)) return new URL(target);
  throw refused("EGRESS_ORIGIN_REFUSED", `${origin} is not in the list of origins.`);
}

/** INVARIANT: every address that a connection may use was checked here. */
async function addressesOf(url: URL, policy: EgressPolicy): Promise<readonly ResolvedAddress[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(host);
  const resolve = policy.resolve ?? ((name: string) => resolveDns(name, { all: true }));
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  const bad = addresses.find(({ address }) => !isPublicAddress(address));
  if (addresses.length === 0) throw refused("EGRESS_ADDRESS_REFUSED", `${host} has no address.`);
  if (bad === undefined || policy.allowPrivate === true) return addresses;
  throw refused("EGRESS_ADDRESS_REFUSED", `${host} is at ${bad.address}, which is not a public address.`);
}

function send(
  url: URL,
  { method = "GET", headers, body }: GuardedInit,
  addresses: readonly ResolvedAddress[],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const sent = new Headers(headers);
  sent.set("accept-encoding", "identity");
  if (body !== undefined && body !== null && typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw refused("EGRESS_BODY_REFUSED", "The body is neither text nor bytes.");
  }
  if (typeof body === "string" || body instanceof Uint8Array) {
    sent.set("content-length", String(Buffer.byteLength(body)));
  }
  const pinned: LookupFunction = (_host, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? "", first?.family);
  };
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method, headers: Object.fromEntries(sent), agent: false, lookup: pinned, signal },
      resolve,
    );
    outgoing.on("error", reject);
    outgoing.end(body ?? undefined);
  });
}

function toResponse(url: URL, incoming: IncomingMessage, limit: number, signal: AbortSignal): Response {
  const status = incoming.statusCode ?? 0;
  const { location, "content-encoding": encoding = "identity" } = incoming.headers;
  const fault =
    location !== undefined && status >= 300 && status < 400
      ? refused("EGRESS_REDIRECT_REFUSED", `${url.origin} answered ${status}, a redirect.`)
      : encoding !== "identity"
        ? refused("EGRESS_FAILED", `${url.origin} sent a compressed body that nobody asked for.`)
        : Number(incoming.headers["content-length"] ?? 0) > limit
          ? tooLarge(url, limit)
          : undefined;
  if (fault !== undefined) {
    incoming.destroy();
    throw fault;
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headersDistinct)) {
    for (const one of value ?? []) headers.append(name, one);
  }
  if ([204, 205, 304].includes(status)) {
    incoming.resume();
    return new Response(null, { status, headers });
  }
  let size = 0;
  const counted = new Transform({
    transform(part: Buffer, _encoding, done) {
      size += part.length;
      if (size > limit) done(tooLarge(url, limit));
      else done(null, part);
    },
  });
  const end = (error: unknown) => counted.destroy(failed(url, error, signal));
  incoming.on("error", end);
  counted.once("error", () => incoming.destroy()).once("close", () => incoming.destroy());
  incoming.pipe(counted);
  return new Response(Readable.toWeb(counted) as ReadableStream, { status, headers });
}

function failed(url: URL, cause: unknown, signal: AbortSignal): BaseError {
  if (cause instanceof BaseError) return cause;
  const isTimeout = signal.aborted && (signal.reason as Error | undefined)?.name === "TimeoutError";
  return new BaseError({
    code: isTimeout ? "EGRESS_TIMEOUT" : "EGRESS_FAILED",
    shortMessage: `${url.origin} ${isTimeout ? "did not answer in time" : "could not be asked"}.`,
    nextStep: "Try again later.",
    retryable: true,
    cause,
  });
}

const tooLarge = (url: URL, limit: number) =>
  refused("EGRESS_TOO_LARGE", `${url.origin} sent more than the ${limit} bytes that are taken.`);

const refused = (code: string, shortMessage: string) =>
  new BaseError({ code, shortMessage, nextStep: "Whoever configured the tool can change its limits." });
