/** The log of long-running commands: JSON lines for machines, the same for people on a terminal. */
import { createRequire } from "node:module";
import type { Command } from "commander";
import { type DestinationStream, destination, pino, stdTimeFunctions } from "pino";
import type { PinoPretty } from "pino-pretty";
import type { Logger } from "../base/log.ts";
import { LOG_SETTINGS, loadConfig } from "../protocol/service/config.ts";

/** Who reads the log, if nobody says it. */
export interface LogTarget {
  /** descriptor; default: standard output */
  readonly fd?: 1 | 2;
  readonly isTerminal?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The log as --log-format and --log-level want it.
 *  @throws BaseError CONFIG_INVALID */
export function createLogger(name: string, self: Command, target: LogTarget = {}): Logger {
  const { fd = 1, env = process.env } = target;
  const isTerminal = target.isTerminal ?? (fd === 1 ? process.stdout : process.stderr).isTTY === true;
  const { logFormat, logLevel: level } = loadConfig(LOG_SETTINGS, { flags: self.optsWithGlobals(), env });
  const isPretty = (logFormat ?? (isTerminal ? "pretty" : "json")) === "pretty";
  const useColours = isTerminal && (env.NO_COLOR ?? "") === "";
  const options = {
    name,
    level,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: plain },
    serializers: { error: pino.stdSerializers.err },
  };
  return pino(options, isPretty ? prettyStream(useColours, fd) : destination({ fd, sync: true }));
}

/** Amounts of wei as text. */
const plain = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, typeof value === "bigint" ? `${value}` : value]),
  );

function prettyStream(colorize: boolean, fd: 1 | 2): DestinationStream {
  // Loaded by those who show it.
  const { build } = createRequire(import.meta.url)("pino-pretty") as {
    build: typeof PinoPretty;
  };
  return build({
    colorize,
    singleLine: true,
    ignore: "pid,name",
    translateTime: "UTC:yyyy-mm-dd'T'HH:MM:ss.l'Z'",
    errorLikeObjectKeys: ["error"],
    destination: fd,
    sync: true,
  });
}
