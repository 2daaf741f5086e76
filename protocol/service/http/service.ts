/** What every HTTP service here does before and after its routes: a log, metrics, a limit on each caller, and one form
 *  of errors. */
import express, { type Express, type Request, type RequestHandler } from "express";
import { MemoryStore, rateLimit } from "express-rate-limit";
import { BaseError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log.ts";
import { httpMetrics } from "../metrics/http.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { addressKey } from "./address.ts";
import { type CorsOptions, cors } from "./cors.ts";
import { errorHandler } from "./errors.ts";
import { requestLog } from "./request-id.ts";

export interface CallerLimits {
  /** requests of one caller in a minute; 0: no limit */
  readonly requestsPerMinute: number;
  /** proxies whose X-Forwarded-For is believed, as Express takes them; absent: none, and the caller is the peer */
  readonly trustProxy?: string | number | undefined;
  /** connections of one caller at once, 0: no limit; behind a proxy, all are the proxy's, and there is none */
  readonly connectionsPerCaller?: number;
}

/** A hundred a second, from its peer. */
export const DEFAULT_CALLER_LIMITS: CallerLimits = { requestsPerMinute: 6_000 };

export interface ServiceOptions {
  readonly log: Logger;
  readonly nowMs: () => number;
  /** absent: nothing is counted */
  readonly metrics?: Metrics;
  readonly limits: CallerLimits;
  /** The caller's name where he has one; absent or undefined: his address. */
  readonly callerOf?: (request: Request) => string | undefined;
  /** what there is, for whoever asks for something else */
  readonly routes: readonly string[];
  readonly mount: (app: Express) => void;
  /** absent: no headers for pages in browsers */
  readonly cors?: CorsOptions;
}

const WINDOW_MS = 60_000;

export function createService(options: ServiceOptions): Express {
  const { log, nowMs, metrics, limits, routes, mount } = options;
  const app = express();
  app.disable("x-powered-by");
  app.set("query parser", "simple");
  app.set("trust proxy", limits.trustProxy ?? false);
  app.use(requestLog(log, nowMs));
  if (metrics !== undefined) app.use(httpMetrics(metrics, nowMs));
  if (limits.requestsPerMinute > 0) app.use(callerLimit(options));
  if (options.cors !== undefined) app.use(cors(options.cors));
  mount(app);
  app.use((request) => {
    throw new BaseError({
      code: "ROUTE_UNKNOWN",
      shortMessage: `There is no ${request.method} ${request.path.slice(0, 120)}.`,
      nextStep: `There are ${routes.join(", ")}.`,
    });
  });
  app.use(errorHandler(log));
  return app;
}

/** Counts further requests of the caller of one. */
const counting = new WeakMap<Request, (count: number) => Promise<void>>();

/** Counts one request as several, where a caller's requests are limited: for what could have been asked for in as many.
 *  @param count requests in all @throws BaseError RATE_LIMITED (retryable): they are more than what is left, and none of
 *  the further ones is counted */
export const countAs = async (request: Request, count: number): Promise<void> =>
  counting.get(request)?.(count - 1);

/** Counts by name, or by address: a subnet /56 of IPv6 is one. */
function callerLimit({ limits: { requestsPerMinute: limit }, callerOf, nowMs }: ServiceOptions) {
  const store = new MemoryStore();
  const keyOf = (request: Request) => {
    const name = callerOf?.(request);
    return name === undefined ? addressOf(request) : `name:${name}`;
  };
  const counted = rateLimit({
    windowMs: WINDOW_MS,
    limit,
    store,
    standardHeaders: "draft-8",
    legacyHeaders: false,
    keyGenerator: keyOf,
    // Headers that nobody asked for say nothing about the configuration.
    validate: { xForwardedForHeader: false, forwardedHeader: false },
    handler: () => {
      throw rateLimited(limit);
    },
  });
  const countFurther = async (request: Request, count: number) => {
    const key = keyOf(request);
    const each = Array.from({ length: count }, () => key);
    // Counted before it is looked at: several at once do not all find the same room.
    const counted = await Promise.all(each.map((one) => store.increment(one)));
    const { totalHits = 0, resetTime } = counted.at(-1) ?? {};
    if (totalHits <= limit) return;
    await Promise.all(each.map((one) => store.decrement(one)));
    const leftMs = (resetTime?.getTime() ?? nowMs()) - nowMs();
    throw rateLimited(limit, Math.max(1, Math.ceil(leftMs / 1_000)));
  };
  const limiting: RequestHandler = (request, response, next) => {
    counting.set(request, (count) => countFurther(request, count));
    return counted(request, response, next);
  };
  return limiting;
}

const rateLimited = (limit: number, retryAfterSeconds?: number): BaseError =>
  new BaseError({
    code: "RATE_LIMITED",
    shortMessage: `More than ${limit} requests of one caller came within a minute.`,
    nextStep: "Ask again after the seconds that Retry-After names.",
    details: { limit, windowSeconds: WINDOW_MS / 1_000, retryAfterSeconds },
    retryable: true,
  });

/** The caller's address, as proxies that are trusted tell it. */
export const addressOf = ({ ip }: Request): string => addressKey(ip);
