/** `npm run mutate -- TARGET`: mutation testing. Runs a sample of the target's mutants, or `--all`, and lists those
 *  that no test notices and that tools/mutation/explained.json does not explain. Results are kept in build/mutation/
 *  and taken up where a run was stopped, as long as the sources are the same. `--open` runs what never ran or survived
 *  and is not explained, and reports on all that ever ran: it is for tests that were added since. `--quick` leaves out
 *  slow tests and the long run of the record fuzzer: what survives it is run again by the next command without it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectRoot } from "../foundry.ts";
import { ContractMutants, type Killer, type OpenPrograms, type Outcome } from "./contracts.ts";
import { hashOf, keyOf, type Mutant } from "./mutants.ts";
import { TARGETS } from "./targets.ts";
import { TypeScriptMutants } from "./typescript.ts";

const FOLDER = join(projectRoot, "build", "mutation");
const EXPLAINED = join(projectRoot, "tools", "mutation", "explained.json");
const SAMPLE = 60;

interface Explanation {
  readonly file: string;
  readonly mutant: string;
  readonly reason: string;
}

type Result = Outcome & {
  /** of the tests that it rests on: the one that caught it, else all */
  readonly tests: string;
};
type Results = Record<string, Result>;

const explanations = JSON.parse(readFileSync(EXPLAINED, "utf8")) as Explanation[];
const isExplained = ({ file, name }: Mutant): boolean =>
  explanations.some((one) => one.file === file && one.mutant === name);

/** The first so many of an order that the seed gives. */
function sample(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const placeOf = (mutant: Mutant): string => hashOf([`${seed} ${keyOf(mutant)}`]);
  const order = mutants.map((mutant) => ({ mutant, at: placeOf(mutant) }));
  return order
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant);
}

/** @param openPrograms whole programs as tests, which stand above the tools
 *  @returns the exit code */
export async function mutate(openPrograms: OpenPrograms): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      all: { type: "boolean", default: false },
      sample: { type: "string", default: String(SAMPLE) },
      seed: { type: "string", default: "1" },
      open: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
    },
  });
  const name = positionals[0] ?? "";
  const target = TARGETS[name];
  if (target === undefined)
    throw new Error(`There is no target ${name}: name one of ${Object.keys(TARGETS).join(", ")}.`);
  mkdirSync(FOLDER, { recursive: true });
  const runner =
    "specs" in target
      ? new TypeScriptMutants(name, target)
      : new ContractMutants(join(FOLDER, name), target, openPrograms);
  const all = runner.tests;
  const path = join(FOLDER, `${name}.json`);
  const results: Results = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  const { mutants } = runner;
  const kindOf = (mutant: Mutant): Outcome["kind"] | undefined => results[keyOf(mutant)]?.kind;
  const chosen = values.open
    ? mutants.filter((mutant) => (kindOf(mutant) ?? "survived") === "survived" && !isExplained(mutant))
    : values.all
      ? mutants
      : sample(mutants, Number(values.sample), Number(values.seed));
  console.log(`${mutants.length} mutants, ${chosen.length} to run`);
  // Last those that run all tests to the end, as far as is known, and those that are compiled by themselves.
  const placeInLine = (mutant: Mutant): number => Number(isExplained(mutant)) + 2 * Number(mutant.id === 0);
  const inLine = [...chosen].sort((a, b) => placeInLine(a) - placeInLine(b));
  /** The latest of each file: what caught one mutant often catches the next. */
  const killers = new Map<string, Killer>();
  for (const mutant of inLine) {
    const key = keyOf(mutant);
    const before = results[key];
    const killer = before?.kind === "caught" ? before.by : undefined;
    if (before?.tests === runner.fingerprint(restsOn(killer, all))) continue;
    const outcome = await runner.run(mutant, killer ?? killers.get(mutant.file), values.quick);
    const by = outcome.kind === "caught" ? outcome.by : undefined;
    if (by !== undefined) killers.set(mutant.file, by);
    const rests = runner.fingerprint(restsOn(by, all));
    const isQuick = values.quick && outcome.kind === "survived";
    results[key] = { ...outcome, tests: isQuick ? `quick ${rests}` : rests };
    writeFileSync(path, JSON.stringify(results, null, 1));
    if (outcome.kind !== "caught") console.log(`${outcome.kind}: ${key}`);
  }
  await runner.close();
  const known = mutants.filter((mutant) => kindOf(mutant) !== undefined);
  return report(values.open ? known : chosen, mutants.length, results);
}

/** A caught mutant stays caught as long as its test is the same, another one as long as all are. */
const restsOn = (killer: Killer | undefined, all: readonly string[]): readonly string[] =>
  killer === undefined ? all : [killer.file];

function report(chosen: readonly Mutant[], total: number, results: Results): number {
  const of = (kind: Outcome["kind"]): Mutant[] =>
    chosen.filter((mutant) => results[keyOf(mutant)]?.kind === kind);
  const survivors = of("survived");
  const open = survivors.filter((mutant) => !isExplained(mutant));
  for (const mutant of of("timeout")) console.log(`without an end: ${keyOf(mutant)}`);
  for (const mutant of open) console.log(`SURVIVED: ${keyOf(mutant)}`);
  const counts = [
    `${of("caught").length} caught`,
    `${of("timeout").length} without an end`,
    `${survivors.length - open.length} explained`,
    `${open.length} survived`,
    `${of("uncompilable").length} do not compile`,
  ];
  console.log(`\n${chosen.length} of ${total} mutants: ${counts.join(", ")}`);
  return open.length === 0 ? 0 : 1;
}
