/** How a file of deploy/ starts a daemon, held against the program's real options and configuration. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type { Command } from "commander";
import { parse } from "yaml";
import { BaseError } from "../../base/errors.ts";
import { CHALLENGER_SETTINGS } from "../../cli/challenger/machine.ts";
import { EXPLORER_SETTINGS } from "../../cli/explorer.ts";
import { createProgram, loadCommands } from "../../cli/program.ts";
import { PROVER_SETTINGS } from "../../cli/prover.ts";
import { WORKER_SETTINGS } from "../../cli/worker.ts";
import { routeNames } from "../../explorer/http/openapi.ts";
import {
  CHAIN_SETTINGS,
  DATABASE_SETTINGS,
  flagName,
  LOG_SETTINGS,
  loadConfig,
  type Section,
  type Settings,
  variableName,
} from "../../protocol/service/config.ts";
import { holdsPassword } from "../../protocol/service/postgres/terms.ts";
import { routesOf } from "../../prover/http/openapi.ts";
import { HTTP_LIMITS } from "./http-prover.ts";

export type Env = Readonly<Record<string, string>>;
export interface Start {
  /** after the program's name */
  readonly argv: readonly string[];
  readonly env: Env;
}
export interface Checked {
  readonly faults: readonly string[];
  /** what the daemon makes of it, by setting's name */
  readonly values: Readonly<Record<string, unknown>>;
}

const PARTS: readonly (readonly [settings: Settings, section: Section | undefined])[] = [
  [CHAIN_SETTINGS, undefined],
  [LOG_SETTINGS, undefined],
  [DATABASE_SETTINGS, undefined],
  [PROVER_SETTINGS, "prover"],
  [CHALLENGER_SETTINGS, "challenger"],
  [EXPLORER_SETTINGS, "explorer"],
  [WORKER_SETTINGS, "worker"],
];
/** Every variable that a file may name. */
export const VARIABLES: ReadonlySet<string> = new Set([
  ...["ASSAY_CONFIG", "ASSAY_KEY", "ASSAY_SIGN_KEY"],
  ...PARTS.flatMap(([settings, section]) => Object.keys(settings).map((name) => variableName(name, section))),
]);
/** What ends in a process's environment only where an operator wants it there. */
const KEYS = ["ASSAY_KEY", "ASSAY_SIGN_KEY"];

/** @param file relative to deploy/ */
export const deployFile = (file: string): string => readFileSync(join("deploy", file), "utf8");

/** What the image of deploy/Dockerfile sets. */
export const OF_IMAGE: Env = Object.fromEntries(
  [...deployFile("Dockerfile").matchAll(/ (ASSAY_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
);

/** What the operator's file of this name holds at first. @param file as private/assay.env */
export const exampleEnv = (file: string): Env =>
  parseEnv(deployFile(join("example", file.split("/").at(-1) ?? ""))) as Env;

/** One document, whichever version of YAML its reader has: compose reads 1.2, kubectl 1.1.
 *  @throws Error where they differ, or the text is no YAML */
export function readYaml(text: string): unknown {
  const [newer, older] = (["1.2", "1.1"] as const).map((version) => parse(text, { version, merge: true }));
  if (JSON.stringify(newer) !== JSON.stringify(older))
    throw new Error("YAML 1.1 and 1.2 read it differently");
  return newer;
}

const COMMANDS = await loadCommands();

/** Finds the command and whatever it would not take. */
export function checkStart({ argv, env }: Start): Checked {
  const program = createProgram(COMMANDS);
  const { operands, unknown } = program.parseOptions([...argv]);
  let command: Command = program;
  let depth = 0;
  for (const word of operands) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
    depth++;
  }
  const faults: string[] = [];
  // Where a command has others below it and no options, it does nothing by itself.
  if (command === program || (command.commands.length > 0 && command.options.length === 0))
    faults.push(`"${argv.join(" ")}" is no command`);
  const left = command.parseOptions([...operands, ...unknown].slice(depth));
  for (const word of [...left.operands, ...left.unknown])
    faults.push(`${operands.slice(0, depth).join(" ")} does not take ${word}`);

  const flags = { ...program.opts(), ...command.opts() };
  const options = new Set([...program.options, ...command.options].map(({ long }) => long));
  const values: Record<string, unknown> = {};
  const known = new Set<string>();
  for (const [settings, section] of PARTS) {
    const isOwn = section === undefined || section === argv[0];
    if (!isOwn || !Object.keys(settings).every((name) => options.has(flagName(name)))) continue;
    for (const name of Object.keys(settings)) known.add(variableName(name, section));
    try {
      Object.assign(values, loadConfig(settings, { flags, env }, section));
    } catch (error) {
      faults.push(error instanceof BaseError ? error.shortMessage : String(error));
    }
  }
  for (const [name, value] of Object.entries(env)) {
    if (KEYS.includes(name)) faults.push(`${name} is in a file of the repository`);
    else if (name.startsWith("ASSAY_") && !known.has(name) && OF_IMAGE[name] !== value)
      faults.push(`${argv[0]} does not read ${name}`);
    if (holdsPassword(value)) faults.push(`${name} holds a password`);
  }
  return { faults, values };
}

/** Absolute paths that a daemon is told to use. */
export const pathsOf = ({ env }: Start): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    name.startsWith("ASSAY_") && value.startsWith("/") ? [value] : [],
  );

const ROUTES: Readonly<Record<string, readonly string[]>> = {
  prover: routesOf(HTTP_LIMITS),
  challenger: ["GET /metrics", "GET /livez", "GET /healthz"],
  explorer: routeNames(),
  worker: ["GET /metrics", "GET /healthz", "GET /livez"],
};
/** Why a question about health gets no answer: another port, or a route that the daemon does not have. */
export function probeFaults(
  { argv }: Start,
  values: Checked["values"],
  port: number,
  path: string,
): string[] {
  const faults: string[] = [];
  if (port !== values.port)
    faults.push(`a probe asks port ${port}, ${argv[0]} listens on ${String(values.port)}`);
  if (!ROUTES[argv[0] ?? ""]?.includes(`GET ${path}`)) faults.push(`${argv[0]} has no route ${path}`);
  return faults;
}
