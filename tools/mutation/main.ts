/** `npm run mutate -- TARGET`: mutation testing. Runs a sample of the target's mutants, or `--all`, and lists those
 *  that no test notices and that tools/mutation/explained.json does not explain. Results are kept in build/mutation/
 *  and taken up where a run was stopped, as long as the sources are the same. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectRoot } from "../foundry.ts";
import { ContractMutants, type Outcome } from "./contracts.ts";
import type { Mutant } from "./mutants.ts";
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

interface Results {
  readonly sources: string;
  readonly outcomes: Record<string, Outcome>;
}

const keyOf = ({ file, line, name }: Mutant): string => `${file}:${line} ${name}`;

function openResults(path: string, sources: string): Results {
  const known = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Results) : undefined;
  return known?.sources === sources ? known : { sources, outcomes: {} };
}

/** The first so many of an order that the seed gives. */
function sample(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const placeOf = (mutant: Mutant): string =>
    createHash("sha256")
      .update(`${seed} ${keyOf(mutant)}`)
      .digest("hex");
  const order = mutants.map((mutant) => ({ mutant, at: placeOf(mutant) }));
  return order
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant);
}

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      all: { type: "boolean", default: false },
      sample: { type: "string", default: String(SAMPLE) },
      seed: { type: "string", default: "1" },
    },
  });
  const name = positionals[0] ?? "";
  const target = TARGETS[name];
  if (target === undefined)
    throw new Error(`There is no target ${name}: name one of ${Object.keys(TARGETS).join(", ")}.`);
  mkdirSync(FOLDER, { recursive: true });
  const runner =
    "specs" in target ? new TypeScriptMutants(target) : new ContractMutants(join(FOLDER, name), target);
  const hash = createHash("sha256");
  for (const file of [...target.files, ...("specs" in target ? target.specs : target.tests)])
    hash.update(readFileSync(join(projectRoot, file)));
  const path = join(FOLDER, `${name}.json`);
  const results = openResults(path, hash.digest("hex"));
  const { mutants } = runner;
  const chosen = values.all ? mutants : sample(mutants, Number(values.sample), Number(values.seed));
  console.log(`${mutants.length} mutants, ${chosen.length} to run`);
  for (const mutant of chosen) {
    const key = keyOf(mutant);
    if (results.outcomes[key] !== undefined) continue;
    results.outcomes[key] = runner.run(mutant);
    writeFileSync(path, JSON.stringify(results, null, 1));
    if (results.outcomes[key] !== "caught") console.log(`${results.outcomes[key]}: ${key}`);
  }
  return report(chosen, results);
}

function report(chosen: readonly Mutant[], { outcomes }: Results): number {
  const explanations = JSON.parse(readFileSync(EXPLAINED, "utf8")) as Explanation[];
  const survivors = chosen.filter((mutant) => outcomes[keyOf(mutant)] === "survived");
  const isExplained = ({ file, name }: Mutant): boolean =>
    explanations.some((one) => one.file === file && one.mutant === name);
  const open = survivors.filter((mutant) => !isExplained(mutant));
  for (const mutant of open) console.log(`SURVIVED: ${keyOf(mutant)}`);
  const caught = chosen.length - survivors.length;
  console.log(`\n${caught} caught, ${survivors.length - open.length} explained, ${open.length} survived`);
  return open.length === 0 ? 0 : 1;
}

process.exitCode = main();
