/** The gateway's configuration file: servers with their tools, the model's endpoint, callers and limits. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { AMOUNT_FORM, parseAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import { PROMISE_LIMITS } from "../../protocol/rules/promises/limits.ts";
import { address } from "../../protocol/rules/receipt/form.ts";
import { isSlug } from "./tool-names.ts";
import { DEFAULT_LEAST_SECONDS } from "./tools/signed-answers.ts";

const slug = z.string().refine(isSlug, "must be a slug of a-z, 0-9 and -");
const wei = z
  .string()
  .refine((value) => parseAmount(value) !== undefined, AMOUNT_FORM)
  .transform((value) => parseAmount(value) as bigint);
const httpUrl = z.url({ protocol: /^https?$/ });
const price = z.int().min(0).max(1e12).default(0);
const description = z.string().trim().min(1).max(1_000);
/** A value, or `{"env": "NAME"}` for one that only the environment holds. */
const secret = z.union([z.string(), z.strictObject({ env: z.string().min(1) })]);
const headers = z.record(z.string(), secret).default({});

const modelApi = z.strictObject({
  kind: z.literal("model"),
  /** name, folder or id */
  model: z.string().min(1),
  price,
  lanes: z
    .array(z.enum(["EXECUTION", "PROOF", "BOND"]))
    .min(1)
    .default(["EXECUTION", "PROOF", "BOND"]),
  minBond: wei.default(0n),
  minWindow: z.int().positive().optional(),
  ask: z.strictObject({ fee: wei, expirySeconds: z.int().min(60).max(31_536_000).default(3_600) }).optional(),
  waitMs: z.int().min(0).max(600_000).default(0),
  /** absent: only final outputs are handed on */
  acceptSigned: z
    .strictObject({
      url: httpUrl,
      prover: address.optional(),
      leastSeconds: z.int().min(0).max(PROMISE_LIMITS.maxLife).default(DEFAULT_LEAST_SECONDS),
      batch: z.boolean().default(false),
      reportTo: z.array(httpUrl).max(16).default([]),
    })
    .optional(),
});
const httpApi = z.strictObject({
  kind: z.literal("http"),
  description,
  url: z.string().min(1),
  method: z.enum(["GET", "POST"]).default("GET"),
  parameters: z
    .record(z.string(), z.unknown())
    .default({ type: "object", properties: {}, additionalProperties: false }),
  headers,
  price,
  /** this tool's host may be at a private address */
  allowPrivate: z.boolean().default(false),
});
const apiServer = z.strictObject({
  description,
  apis: z.record(slug, z.discriminatedUnion("kind", [modelApi, httpApi])),
});
const mcpServer = z.strictObject({
  description,
  price,
  mcp: z.union([
    z.strictObject({ command: z.string().min(1), args: z.array(z.string()).default([]), env: headers }),
    z.strictObject({ url: z.string().min(1), headers, allowPrivate: z.boolean().default(false) }),
  ]),
});

const count = (fallback: number, max: number) => z.int().min(1).max(max).default(fallback);

const limits = z.strictObject({
  maxMessageChars: count(8_000, 100_000),
  maxHistory: z.int().min(0).max(100).default(10),
  maxToolRounds: count(6, 50),
  maxRewrites: z.int().min(0).max(10).default(1),
  maxAttempts: count(16, 200),
  maxCallsPerTurn: count(12, 200),
  maxCallsPerAnswer: count(8, 64),
  maxArgumentChars: count(16_000, 1_000_000),
  maxResultChars: count(32_000, 1_000_000),
  maxResponseBytes: count(1_000_000, 64_000_000),
  maxAnswerChars: count(64_000, 1_000_000),
  maxTokens: count(2_000, 100_000),
  modelTimeoutMs: count(60_000, 600_000),
  toolTimeoutMs: count(30_000, 600_000),
  turnTimeoutMs: count(180_000, 3_600_000),
  /** how long a turn goes on after its client left */
  graceMs: z.int().min(0).max(600_000).default(5_000),
  maxTurns: count(64, 10_000),
  maxTurnsPerCaller: count(4, 10_000),
  maxPricePerTurn: z.int().min(0).default(1_000_000),
  maxPricePerCallerPerDay: z.int().min(0).default(100_000_000),
  maxCallsPerCallerPerDay: count(10_000, 1e9),
  maxFeesPerDay: wei.default(10n ** 17n),
});

const schema = z.strictObject({
  servers: z.record(slug, z.union([apiServer, mcpServer])),
  llm: z
    .strictObject({
      baseUrl: z.url({ protocol: /^https?$/ }),
      model: z.string().min(1),
      apiKey: secret.default("none"),
    })
    .optional(),
  /** Names of callers and the SHA-256 of their bearer tokens. Absent: anybody may chat, known by address. */
  callers: z.record(z.string().regex(/^[\w-]{1,40}$/), z.string().regex(/^[0-9a-f]{64}$/)).optional(),
  /** Names by which browsers may reach it besides the address that it listens on. */
  hosts: z.array(z.string()).default([]),
  limits: limits.prefault({}),
});

export type GatewayConfig = z.infer<typeof schema>;
export type ServerConfig = GatewayConfig["servers"][string];
type Secret = z.infer<typeof secret>;

/** @throws BaseError CONFIG_UNREADABLE, CONFIG_INVALID */
export function readGatewayConfig(path: string): GatewayConfig {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new BaseError({
      code: "CONFIG_UNREADABLE",
      shortMessage: `The gateway's configuration ${path} cannot be read.`,
      nextStep: "Name it with --servers (ASSAY_GATEWAY_SERVERS); docs/GATEWAY.md shows one.",
      cause,
    });
  }
  return parseGatewayConfig(text, path);
}

/** @param name of the text, for errors @throws BaseError CONFIG_INVALID */
export function parseGatewayConfig(text: string, name: string): GatewayConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw invalid(name, "it is not JSON", cause);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(name, `${issue?.path.join(".") || "the file"}: ${issue?.message}`, parsed.error);
}

/** @throws BaseError CONFIG_INVALID for a variable that is not set */
export function secretOf(value: Secret, env: Readonly<Record<string, string | undefined>>): string {
  if (typeof value === "string") return value;
  const held = env[value.env];
  if (held !== undefined && held !== "") return held;
  throw invalid("the environment", `${value.env} is not set`, undefined);
}

export const secretsOf = (
  values: Readonly<Record<string, Secret>>,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, secretOf(value, env)]));

const invalid = (name: string, why: string, cause: unknown) =>
  new BaseError({
    code: "CONFIG_INVALID",
    shortMessage: `The gateway's configuration cannot be used: in ${name}, ${why}.`,
    nextStep: "docs/GATEWAY.md shows every setting.",
    cause,
  });
