/** `assay init`: a configuration file with every setting, what it means and its default. */
import { writeFileSync } from "node:fs";
import { dirname, isAbsolute, relative } from "node:path";
import type { Command } from "commander";
import { BaseError } from "../base/errors.ts";
import {
  CHAIN_SETTINGS,
  LOG_SETTINGS,
  loadConfig,
  type Setting,
  type Settings,
  variableName,
} from "../protocol/service/config.ts";
import { MODEL_SETTINGS } from "./agent/models.ts";
import { withSettings } from "./chain.ts";
import { CHALLENGER_SETTINGS } from "./challenger/machine.ts";
import { EXPLORER_SETTINGS } from "./explorer.ts";
import { printResult, withJson } from "./output.ts";
import { PROVER_SETTINGS } from "./prover.ts";

/** Sections with settings of one form; the gateway's is a document of its own (docs/GATEWAY.md). */
const SECTION_SETTINGS = {
  prover: PROVER_SETTINGS,
  challenger: CHALLENGER_SETTINGS,
  executor: MODEL_SETTINGS,
  explorer: EXPLORER_SETTINGS,
} as const satisfies Record<string, Settings>;

export function addInitCommand(program: Command): void {
  const command = program
    .command("init")
    .description("write a configuration file that explains itself; flags become its settings")
    .option("--out <file>", "the file to write", "assay.json");
  withJson(withSettings(command, CHAIN_SETTINGS)).action(({ out }: { out: string }, self: Command) => {
    const flags = self.opts<Record<string, unknown>>();
    // What the file will hold must be what the commands take.
    loadConfig(CHAIN_SETTINGS, { flags: { ...flags, config: undefined }, env: {} });
    write(out, renderConfig(fromFolderOf(out, flags)));
    printResult(self, { path: out }, [`${out} is written; edit it, then run \`assay doctor\`.`]);
  });
}

/** Flags name files from the current folder, the file names them from its own. */
function fromFolderOf(file: string, flags: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const settings: Settings = CHAIN_SETTINGS;
  const moved = Object.entries(flags).map(([name, value]) => {
    const isRelative = settings[name]?.isPath === true && typeof value === "string" && !isAbsolute(value);
    return [name, isRelative ? relative(dirname(file), value) : value];
  });
  return Object.fromEntries(moved);
}

/** @param chosen settings of the common part by name; all others are there as comments */
export function renderConfig(chosen: Readonly<Record<string, unknown>> = {}): string {
  const lines = [
    "// Settings of assay. Flags win over variables, variables over this file.",
    "// A key does not belong here: ASSAY_KEY, or keystore with keystorePasswordFile.",
    "{",
    ...render(CHAIN_SETTINGS, chosen, "  "),
    ...render(LOG_SETTINGS, {}, "  "),
  ];
  for (const [section, settings] of Object.entries(SECTION_SETTINGS)) {
    const variable = variableName("port", section as keyof typeof SECTION_SETTINGS);
    lines.push(
      "",
      `  // assay ${section}; a variable is named as ${variable} would be`,
      `  "${section}": {`,
      ...render(settings, {}, "    "),
      "  },",
    );
  }
  return `${[...lines, "}"].join("\n")}\n`;
}

function render(settings: Settings, chosen: Readonly<Record<string, unknown>>, indent: string): string[] {
  return Object.entries(settings).flatMap(([name, setting]) => {
    const value = chosen[name];
    const line = `"${name}": ${JSON.stringify(value ?? setting.default ?? "")},`;
    return [
      `${indent}// ${setting.description}${isOptional(setting) ? "; absent by default" : ""}`,
      `${indent}${value === undefined ? "// " : ""}${line}`,
    ];
  });
}

const isOptional = (setting: Setting): boolean => setting.default === undefined;

/** Never overwrites.
 *  @throws BaseError CONFIG_EXISTS, CONFIG_UNWRITABLE */
function write(path: string, content: string): void {
  try {
    writeFileSync(path, content, { flag: "wx" });
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === "EEXIST";
    throw new BaseError({
      code: exists ? "CONFIG_EXISTS" : "CONFIG_UNWRITABLE",
      shortMessage: exists ? `${path} exists already.` : `Cannot write ${path}: ${String(cause)}.`,
      nextStep: "Name another file with --out, or move that one away.",
      cause,
    });
  }
}
