/** What commands print: a result for people, or JSON with --json; errors with the next step and an exit code. */
import { type Command, CommanderError } from "commander";
import { BaseError as ViemError } from "viem";
import { BaseError } from "../base/errors.ts";
import { chainError } from "../protocol/chain/errors.ts";
import { terminalJson, terminalText } from "./terminal-text.ts";

export const EXIT = {
  ok: 0,
  /** could not be done or was refused */
  failed: 1,
  /** wrong arguments or configuration */
  usage: 2,
  /** the same command can succeed later: network, node, load */
  retryable: 3,
  /** the question was answered, and the answer is a finding: a claim is wrong, something is not in order */
  finding: 4,
  /** a fault of this program */
  unexpected: 70,
} as const;

const USAGE_CODES = /^(CONFIG|KEY|KEYSTORE|ARGUMENT|DEPLOYMENT)_/;

/** Adds --json. Every command that prints a result has it. */
export const withJson = (command: Command): Command => command.option("--json", "print the result as JSON");

/** Prints a result: JSON with --json, else the lines. */
export function printResult(command: Command, result: object, lines: readonly string[]): void {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  console.log(json === true ? toJson(result) : terminalText(lines.join("\n")));
}

/** Progress, for people, beside the result. */
export const printProgress = (line: string): void => console.error(terminalText(line));

/** JSON text without characters that command a terminal; integers above 53 bits become decimal strings.
 *  @param indent 0: one line */
export function toJson(value: unknown, indent = 2): string {
  const plain = (_key: string, held: unknown): unknown => {
    if (typeof held === "bigint") return held.toString();
    if (held instanceof Map) return Object.fromEntries([...held].map(([key, item]) => [String(key), item]));
    return held;
  };
  return terminalJson(JSON.stringify(value, plain, indent));
}

/** Runs the program and sets the exit code; never throws.
 *  @param argv as process.argv */
export async function runProgram(program: Command, argv: readonly string[]): Promise<void> {
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = reportError(error, {
      json: argv.includes("--json"),
      debug: argv.includes("--debug"),
    });
  }
}

/** @returns exit code */
export function reportError(thrown: unknown, { json = false, debug = false } = {}): number {
  if (thrown instanceof CommanderError) {
    // Commander has printed its message; help and version are no errors.
    return thrown.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  // A node that fails is no fault of this program, wherever it was asked.
  const error = thrown instanceof ViemError ? chainError(thrown, "ask the node") : thrown;
  const known = error instanceof BaseError;
  const code = known ? error.code : "UNEXPECTED";
  const message = known ? error.shortMessage : `Unexpected error: ${describe(error)}`;
  const nextStep = known
    ? error.nextStep
    : "Run again with --debug and report what it prints; it is a fault of this program.";
  if (json) {
    const details = known ? error.details : {};
    console.error(
      toJson({ error: { code, message, nextStep, details, retryable: known && error.retryable } }),
    );
  } else {
    console.error(terminalText(`error: ${message}`));
    if (nextStep !== undefined) console.error(terminalText(`next: ${nextStep}`));
  }
  if (debug) console.error(error);
  if (!known) return EXIT.unexpected;
  if (error.retryable) return EXIT.retryable;
  return USAGE_CODES.test(code) ? EXIT.usage : EXIT.failed;
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** For arguments that are no settings.
 *  @throws BaseError ARGUMENT_INVALID always */
export function refuseArgument(name: string, value: unknown, limit: string): never {
  throw new BaseError({
    code: "ARGUMENT_INVALID",
    shortMessage:
      value === undefined || value === null
        ? `${name} is missing: it must be ${limit}.`
        : `${name} is ${JSON.stringify(value)}: it must be ${limit}.`,
    nextStep: "See --help of the command.",
    details: { argument: name },
  });
}
