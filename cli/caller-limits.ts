/** What one caller of an HTTP service may ask, and by which proxies callers come. */
import { isIP } from "node:net";
import { z } from "zod";
import { type Config, integer, type Settings } from "../protocol/service/config.ts";
import { DEFAULT_PER_ADDRESS } from "../protocol/service/http/connections.ts";
import { type CallerLimits, DEFAULT_CALLER_LIMITS } from "../protocol/service/http/service.ts";

/** Express's names for ranges of addresses. */
const RANGES = ["loopback", "linklocal", "uniquelocal"];
const isSource = (part: string): boolean => {
  const [address = "", bits = "0", ...more] = part.split("/");
  if (RANGES.includes(part)) return true;
  return isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && more.length === 0;
};

/** The form `true` of Express believes anybody, so it is refused here. */
const proxies = z
  .union([z.string(), z.number()])
  .refine(
    (value) => /^[1-9]$/.test(String(value)) || String(value).split(/, */).every(isSource),
    `must be the number of proxies from 1 to 9, or their addresses, subnets or ${RANGES.join(", ")}`,
  )
  .transform((value) => (/^[1-9]$/.test(String(value)) ? Number(value) : String(value)));

export const CALLER_SETTINGS = {
  ratePerMinute: {
    schema: integer(0, 1_000_000),
    default: DEFAULT_CALLER_LIMITS.requestsPerMinute,
    description: "HTTP requests of one caller in a minute, 0 for any number",
  },
  connectionsPerCaller: {
    schema: integer(0, 8_192),
    default: DEFAULT_PER_ADDRESS,
    description:
      "HTTP connections of one address at once, 0 for no limit; behind a trusted proxy there is none",
  },
  trustProxy: {
    schema: proxies,
    description: "proxies before HTTP whose X-Forwarded-For names the caller: how many, or their addresses",
  },
} as const satisfies Settings;

export const callerLimits = ({
  ratePerMinute,
  trustProxy,
  connectionsPerCaller,
}: Config<typeof CALLER_SETTINGS>): CallerLimits => ({
  requestsPerMinute: ratePerMinute,
  trustProxy,
  connectionsPerCaller,
});
