/** `assay conformance`: tries any implementation of docs/EXACT.md and docs/PROTOCOL.md. */
import type { Command } from "commander";
import { BaseError } from "../base/errors.ts";
import { AREAS } from "../conformance/areas/index.ts";
import { CommandFault } from "../conformance/command.ts";
import { renderAnswer } from "../conformance/lines.ts";
import { type AreaResult, areasNamed, casesOf, runConformance } from "../conformance/run.ts";
import { serve } from "../conformance/serve/serve.ts";
import { printProgress, printResult, refuseArgument, withJson } from "./output.ts";

interface CaseFlags {
  readonly area?: readonly string[];
  readonly seed: string;
  readonly elements: string;
}

interface RunFlags extends CaseFlags {
  readonly timeout: string;
}

const DEFAULT_SEED = 1_000_000;
const DEFAULT_ELEMENTS = 1_000_000;

export function addConformanceCommands(program: Command): void {
  const parent = program
    .command("conformance")
    .description("try an implementation of the exact semantics and the commitments");
  const run = parent
    .command("run")
    .description("ask COMMAND the lines of docs/CONFORMANCE.md and compare its answers")
    .argument("<command...>", "program and arguments, behind --")
    .option("--timeout <seconds>", "for one answer", "60")
    .addHelpText(
      "after",
      `\nAreas:\n${AREAS.map(({ name, about }) => `  ${name.padEnd(11)}${about}`).join("\n")}`,
    );
  withJson(withCases(run)).action(runCommand);
  withCases(parent.command("cases").description("print cases as JSON lines: area, seed, line, answer"))
    .option("--longest <characters>", "leave out what is longer")
    .action(printCases);
  parent
    .command("serve")
    .description("answer the lines, by the TypeScript implementation")
    .action(() => serve(process.stdin, process.stdout));
}

const withCases = (command: Command): Command =>
  command
    .option("--area <name...>", "only these areas")
    .option("--seed <n>", "the first seed of each area", `${DEFAULT_SEED}`)
    .option("--elements <n>", "compared elements at least, all areas together", `${DEFAULT_ELEMENTS}`);

function numberOf(name: string, text: string, least: number): number {
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= least
    ? value
    : refuseArgument(name, text, `a whole number from ${least}`);
}

function casesAsked({ area = [], seed, elements }: CaseFlags) {
  const areas = (() => {
    try {
      return areasNamed(area);
    } catch (error) {
      return refuseArgument("--area", area, `of ${(error as Error).message}`);
    }
  })();
  return { areas, seed: numberOf("--seed", seed, 0), elements: numberOf("--elements", elements, 1) };
}

async function runCommand(command: readonly string[], flags: RunFlags, self: Command): Promise<void> {
  const timeoutMs = 1000 * Number(flags.timeout);
  if (!(timeoutMs > 0)) refuseArgument("--timeout", flags.timeout, "a number of seconds above 0");
  const asked = casesAsked(flags);
  const results = await runConformance(command, { ...asked, timeoutMs }, ({ area, cases }) =>
    printProgress(`${area}: ${cases} cases`),
  ).catch((error: unknown) => {
    if (!(error instanceof CommandFault)) throw error;
    throw commandFailed(`${command.join(" ")} ${error.message}`);
  });
  const again = ({ area }: AreaResult, seed: number): string =>
    `assay conformance run --area ${area} --seed ${seed} --elements 1 -- ${command.map(quoted).join(" ")}`;
  printResult(self, { command, results }, tableOf(results, again));
  const different = results.filter(({ differences }) => differences > 0);
  if (different.length > 0) {
    throw new BaseError({
      code: "CONFORMANCE_DIFFERS",
      shortMessage: `${command.join(" ")} differs in ${different.map(({ area }) => area).join(", ")}.`,
      nextStep:
        "Ask the first difference again by the command that stands beside it; --json has the whole line.",
    });
  }
  const failed = results.filter(({ fault }) => fault !== undefined);
  if (failed.length > 0) {
    throw commandFailed(
      `${command.join(" ")} does not answer all of ${failed.map(({ area }) => area).join(", ")}`,
    );
  }
  const missing = results.filter((result) => result.missing !== undefined);
  if (missing.length === results.length)
    throw commandFailed(
      `${command.join(" ")} answers no line of ${missing.map(({ area }) => area).join(", ")}`,
    );
}

const commandFailed = (what: string): BaseError =>
  new BaseError({
    code: "CONFORMANCE_COMMAND_FAILED",
    shortMessage: `${what}. No answer of it is wrong.`,
    nextStep: "Let it answer each line by one line at once: docs/CONFORMANCE.md.",
  });

/** A word as a shell reads it. */
const quoted = (word: string): string =>
  /^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

const count = (value: number): string => value.toLocaleString("en-US");

/** A row for each area, what is to be said of some of them, and a last line that sums up. */
function tableOf(
  results: readonly AreaResult[],
  again: (result: AreaResult, seed: number) => string,
): string[] {
  const titles = ["AREA", "CASES", "ELEMENTS", "DIFFERENCES"];
  const rows = results.map(({ area, cases, elements, differences }) => [
    area,
    ...[cases, elements, differences].map(count),
  ]);
  const widths = titles.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const lineOf = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ");
  const remarks = results.flatMap((result) => {
    const { area, first, fault, missing } = result;
    const all: string[] = [];
    if (first !== undefined) all.push(`${area}: ${first.what}`, `  ${again(result, first.seed)}`);
    if (fault !== undefined)
      all.push(`${area}: the command ${fault.kind}: ${fault.why}`, `  ${again(result, fault.seed)}`);
    if (missing !== undefined)
      all.push(`${area} is not tried: the command does not answer ${missing.join(", ")}`);
    return all;
  });
  const sum = (of: (result: AreaResult) => number): number => results.reduce((all, one) => all + of(one), 0);
  const notTried = sum(({ missing }) => (missing === undefined ? 0 : 1));
  const broken = sum(({ fault }) => (fault === undefined ? 0 : 1));
  return [
    lineOf(titles),
    ...rows.map(lineOf),
    ...remarks,
    [
      `${count(sum(({ elements }) => elements))} elements of ${count(sum(({ cases }) => cases))} cases compared`,
      `${count(sum(({ differences }) => differences))} differences`,
      ...(broken > 0 ? [`${broken} areas not answered to the end`] : []),
      ...(notTried > 0 ? [`${notTried} areas not tried`] : []),
    ].join(", "),
  ];
}

function printCases(flags: CaseFlags & { readonly longest?: string }): void {
  const { areas, seed, elements } = casesAsked(flags);
  const longest = flags.longest === undefined ? Infinity : numberOf("--longest", flags.longest, 1);
  for (const area of areas) {
    for (const { seed: made, line, expected } of casesOf(area, seed, elements)) {
      const entry = { area: area.name, seed: made, line: line.join(" "), answer: renderAnswer(expected) };
      const text = JSON.stringify(entry);
      if (text.length <= longest) process.stdout.write(`${text}\n`);
    }
  }
}
