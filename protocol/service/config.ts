/** One configuration from flags, environment and file, in this order of precedence.
 *
 *  A setting `rpcUrl` is the flag --rpc-url, the variable ASSAY_RPC_URL and the key `rpcUrl` of assay.json. A
 *  section's setting `port` of `prover` is --port of that command, ASSAY_PROVER_PORT, and `prover.port`. The file may
 *  hold comments. */
import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { getAddress, isAddress } from "viem";
import { z } from "zod";
import { AMOUNT_FORM, parseAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import { DATA_FEE_KINDS } from "../chain/data-fee.ts";
import { rpcUrlsOf } from "../chain/quorum/urls.ts";
import { parseJsonWithComments } from "./json-comments.ts";

export interface Setting<Value = unknown> {
  /** Takes what flag, variable or file holds; numbers may come as text. Its messages name the limit. */
  readonly schema: z.ZodType<Value>;
  /** as text or as the file would hold it; absent: the setting may be absent */
  readonly default?: string | number;
  readonly description: string;
  /** a file or folder: a relative one in the configuration file is meant from that file's folder, and so is the default
   *  where there is a file; one of a flag or variable from the current folder */
  readonly isPath?: true;
  /** may hold a password: errors do not show it */
  readonly isSecret?: true;
}
export type Settings = Readonly<Record<string, Setting>>;

type ValueOf<S> = S extends { schema: z.ZodType<infer Value>; default: string | number }
  ? Value
  : S extends { schema: z.ZodType<infer Value> }
    ? Value | undefined
    : never;
export type Config<S extends Settings> = { readonly [Name in keyof S]: ValueOf<S[Name]> };

export interface ConfigSources {
  /** by setting's name; undefined ones count as absent */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Sections that commands own in the file. */
const SECTIONS = ["prover", "challenger", "worker", "gateway", "executor", "explorer"] as const;
export type Section = (typeof SECTIONS)[number];

export const integer = (min: number, max: number) =>
  z.coerce.number(`must be an integer from ${min} to ${max}`).int().min(min).max(max);
export const text = z.string().min(1, "must not be empty");

/** What stands between commas; empty parts count as none. */
export const list = z.string().transform((value) =>
  value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);
/** An amount: wei, or a number with its unit. */
export const wei = z
  .union([z.string(), z.number()])
  .refine((value) => parseAmount(String(value)) !== undefined, AMOUNT_FORM)
  .transform((value) => parseAmount(String(value)) as bigint);

export const address = z
  .string()
  .refine((value) => isAddress(value), "must be an address")
  .transform((value) => getAddress(value));

/** Nodes that one process asks. */
const MAX_NODES = 16;
const areHttpUrls = (value: string): boolean => {
  const urls = rpcUrlsOf(value);
  return (
    urls.length <= MAX_NODES && urls.every((url) => z.url({ protocol: /^https?$/ }).safeParse(url).success)
  );
};

/** What every command that talks to a chain takes. The key is no setting: see account.ts. */
export const CHAIN_SETTINGS = {
  rpcUrl: {
    schema: z.string().refine(areHttpUrls, "must be an http or https URL, or several separated by commas"),
    default: "http://127.0.0.1:8545",
    description: "JSON-RPC URL of a node, or of several that have to agree, separated by commas",
  },
  quorum: {
    schema: integer(1, MAX_NODES),
    description: "how many of several nodes have to agree; absent: all of two, a majority of more",
  },
  deployment: {
    schema: text,
    default: "deployments",
    isPath: true,
    description: "deployment file, or folder of files <chain id>.json",
  },
  keystore: { schema: text, isPath: true, description: "encrypted key file (Web3 Secret Storage v3)" },
  keystorePasswordFile: {
    schema: text,
    isPath: true,
    description: "file that holds the keystore's password",
  },
  signer: {
    schema: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
    description: "URL of a JSON-RPC signer (eth_signTransaction) that holds the key",
  },
  signerAddress: { schema: address, description: "whose key the signer uses" },
  data: { schema: text, default: "data", isPath: true, description: "folder for database and journal" },
  pollIntervalMs: {
    schema: integer(10, 600_000),
    default: 1_000,
    description: "pause between looks at the chain, ms",
  },
  confirmations: {
    schema: integer(0, 1_000),
    description:
      "blocks that must lie above a block before its events count; absent: by the chain, 0 for a local one",
  },
  dataFee: {
    schema: z.enum(["auto", ...DATA_FEE_KINDS], `must be auto, ${DATA_FEE_KINDS.join(", ")}`),
    default: "auto",
    description: "how the chain charges for data beside gas: auto, none, op-stack or arbitrum",
  },
  maxFee: {
    schema: wei,
    default: "500 gwei",
    description: "most that a transaction pays for a unit of gas",
  },
} as const satisfies Settings;

/** What every long-running command takes. */
export const LOG_SETTINGS = {
  logFormat: {
    schema: z.enum(["pretty", "json"], "must be pretty or json"),
    description: "form of the log: pretty or json; absent: pretty on a terminal, else json",
  },
  logLevel: {
    schema: z.enum(["debug", "info", "warn", "error"], "must be debug, info, warn or error"),
    default: "info",
    description: "least level that is logged: debug, info, warn or error",
  },
} as const satisfies Settings;

/** What daemons take that share their journal. */
export const DATABASE_SETTINGS = {
  database: {
    schema: text,
    isSecret: true,
    description:
      "postgres://USER@HOST:PORT/DATABASE that has the journal for all daemons of the key; absent: the data folder has it",
  },
  databasePasswordFile: {
    schema: text,
    isPath: true,
    description: "file that holds the database's password",
  },
} as const satisfies Settings;

export const flagName = (setting: string): string => `--${kebab(setting)}`;
export const variableName = (setting: string, section?: Section): string =>
  ["assay", ...(section === undefined ? [] : [section]), kebab(setting)]
    .join("_")
    .replaceAll("-", "_")
    .toUpperCase();

/** Reads settings; `--config` or ASSAY_CONFIG names the file, else assay.json is read if it is there.
 *  @param section of the file and of the variables' names; absent: the common part
 *  @throws BaseError CONFIG_INVALID, CONFIG_UNREADABLE */
export function loadConfig<S extends Settings>(
  settings: S,
  sources: ConfigSources,
  section?: Section,
): Config<S> {
  const { file, path, isThere } = readConfigFile(sources);
  checkNames(file, path);
  const held = section === undefined ? file : sectionOf(file, section, path);
  if (section !== undefined) checkKnown(held, Object.keys(settings), `${path}, section ${section}`);
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const variable = variableName(name, section);
    const key = section === undefined ? name : `${section}.${name}`;
    const found = [
      { value: sources.flags[name], source: flagName(name), isOfFile: false },
      { value: emptyAsAbsent(sources.env[variable]), source: variable, isOfFile: false },
      { value: held[name], source: `${key} in ${path}`, isOfFile: true },
      { value: setting.default, source: "the default", isOfFile: isThere },
    ].find(({ value }) => value !== undefined);
    if (found === undefined) continue;
    const parsed = setting.schema.safeParse(found.value);
    if (!parsed.success) {
      throw new BaseError({
        code: "CONFIG_INVALID",
        shortMessage: `${name} is ${setting.isSecret ? "set" : JSON.stringify(found.value)} (from ${found.source}): ${parsed.error.issues[0]?.message}.`,
        nextStep: `Set ${flagName(name)}, ${variable} or ${key} in ${path}: ${setting.description}.`,
        details: { setting: name, source: found.source },
      });
    }
    const isFrom = setting.isPath === true && found.isOfFile;
    values[name] = isFrom ? pathFrom(dirname(path), String(parsed.data)) : parsed.data;
  }
  // Each value was parsed by the schema that its type comes from.
  return values as Config<S>;
}

const pathFrom = (folder: string, path: string): string => (isAbsolute(path) ? path : join(folder, path));

interface ConfigFile {
  readonly file: Record<string, unknown>;
  readonly path: string;
  readonly isThere: boolean;
}

function readConfigFile({ flags, env }: ConfigSources): ConfigFile {
  const named = flags.config ?? emptyAsAbsent(env.ASSAY_CONFIG);
  const path = String(named ?? "assay.json");
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (cause) {
    const isAbsent = (cause as NodeJS.ErrnoException).code === "ENOENT";
    if (named === undefined && isAbsent) return { file: {}, path, isThere: false };
    throw unreadable(path, isAbsent ? "it does not exist" : String(cause), cause);
  }
  try {
    const file = parseJsonWithComments(content);
    if (isRecord(file)) return { file, path, isThere: true };
  } catch (cause) {
    throw unreadable(path, `it is not JSON: ${(cause as SyntaxError).message}`, cause);
  }
  throw unreadable(path, "it is not a JSON object", undefined);
}

function checkNames(file: Record<string, unknown>, path: string): void {
  for (const secret of ["key", "privateKey", "password", "keystorePassword"]) {
    if (!(secret in file)) continue;
    throw new BaseError({
      code: "CONFIG_INVALID",
      shortMessage: `${path} holds ${secret}: secrets do not belong in a configuration file.`,
      nextStep: "Use ASSAY_KEY, or keystore with keystorePasswordFile.",
    });
  }
  checkKnown(
    file,
    [CHAIN_SETTINGS, LOG_SETTINGS, DATABASE_SETTINGS].flatMap(Object.keys).concat(SECTIONS),
    path,
  );
}

function checkKnown(held: Record<string, unknown>, known: readonly string[], where: string): void {
  for (const name of Object.keys(held)) {
    if (known.includes(name)) continue;
    throw new BaseError({
      code: "CONFIG_INVALID",
      shortMessage: `${where}: there is no setting ${JSON.stringify(name)}.`,
      nextStep: `Remove it; known are ${known.join(", ")}.`,
    });
  }
}

function sectionOf(file: Record<string, unknown>, section: Section, path: string): Record<string, unknown> {
  const held = file[section] ?? {};
  if (isRecord(held)) return held;
  throw unreadable(path, `its ${section} is not a JSON object`, undefined);
}

function unreadable(path: string, why: string, cause: unknown): BaseError {
  return new BaseError({
    code: "CONFIG_UNREADABLE",
    shortMessage: `The configuration file ${path} cannot be read: ${why}.`,
    nextStep: "Correct it, or name another with --config (ASSAY_CONFIG).",
    cause,
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const emptyAsAbsent = (value: string | undefined) => (value === "" ? undefined : value);
const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
