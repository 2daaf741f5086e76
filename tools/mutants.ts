/** `npm run test:mutants [-- games | batches | records]`: breaks the game's rules one at a time, in a copy of the contracts, and
 *  shows that the games of test/contracts/invariant/Games.t.sol notice each; then plants faults in kernels, plans and
 *  element functions, and into the reading of batches, and shows that the fuzzers of test/contracts/fuzz find each. A rule whose loss nobody
 *  notices is not tested.
 *
 *  The tests must pass on the contracts as they are; each mutant must fail the named test, and compile. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BATCH_FAULTS, BATCHES } from "./batch-faults.ts";
import { withCompileLock } from "./compile.ts";
import { foundryBinary, projectRoot } from "./foundry.ts";
import type { Mutant } from "./mutant.ts";
import { inSets, RECORD_FAULTS, RECORDS } from "./record-faults.ts";

const GAMES = "test/contracts/invariant/Games.t.sol";
const GAME = "verifier-contracts/assay/AssayGame.sol";
const CLAIM_WORD = "verifier-contracts/libraries/ClaimWord.sol";

/** The four rules that docs/PROTOCOL.md, section 4 rests on. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: "quota per claim instead of per ticket",
    caughtBy: "testFuzz_game_wrongClaim_succeeds",
    edits: [
      { file: GAME, from: "ticket.demands() >=", to: "_tickets[id][address(0)].demands() >=" },
      {
        file: GAME,
        from: "_tickets[id][msg.sender] = ticket.withDemand();",
        to: "_tickets[id][address(0)] = _tickets[id][address(0)].withDemand();",
      },
    ],
  },
  {
    name: "no hardEnd",
    caughtBy: "testFuzz_game_honestClaim_succeeds",
    edits: [
      {
        file: CLAIM_WORD,
        from: "if (time > uint40(word >> CLAIM_HARD_END)) time = uint40(word >> CLAIM_HARD_END);",
        to: "",
      },
      {
        file: GAME,
        from: "if (block.timestamp > latest) revert DemandTooLate(block.timestamp, latest);",
        to: "latest;",
      },
    ],
  },
  {
    name: "L one second short",
    caughtBy: "testFuzz_game_wrongClaim_succeeds",
    edits: [
      {
        file: GAME,
        from: "(2 * word.depth() + 2) * answerSeconds + 1;",
        to: "(2 * word.depth() + 2) * answerSeconds;",
      },
    ],
  },
  {
    name: "lastEvent not moved by reveal",
    caughtBy: "testFuzz_game_wrongClaim_succeeds",
    edits: [
      {
        file: GAME,
        from: "_demands[id][position] = demanded.answered();\n        _claims[id] = word.answered(block.timestamp);",
        to: "_demands[id][position] = demanded.answered();\n        _claims[id] = word.answered(word.lastEvent());",
      },
    ],
  },
];

/** A Solidity file and all that it imports, by path from the root. */
export function collectSources(
  file: string,
  read: (file: string) => string,
  found: Map<string, string> = new Map(),
): Map<string, string> {
  if (found.has(file)) return found;
  const text = read(file);
  found.set(file, text);
  for (const [, path = ""] of text.matchAll(/(?:from|import)\s+"(\.[^"]+)"/g)) {
    collectSources(join(dirname(file), path).replaceAll("\\", "/"), read, found);
  }
  return found;
}

/** The sources with a mutant's edits.
 *  @throws Error when an edit's text is not there exactly once: the contracts have moved on from the mutant */
export function mutate(sources: ReadonlyMap<string, string>, mutant: Mutant): Map<string, string> {
  const mutated = new Map(sources);
  for (const { file, from, to } of mutant.edits) {
    const text = mutated.get(file);
    const count = text === undefined ? 0 : text.split(from).length - 1;
    if (text === undefined || count !== 1) {
      throw new Error(`mutant "${mutant.name}": ${file} has ${count} places like "${from}", expected 1`);
    }
    mutated.set(
      file,
      text.replace(from, () => to),
    );
  }
  return mutated;
}

/** Games run without the optimizer, which takes most of the time: what they test does not depend on it. Kernels do not
 *  compile without it. */
const config = (optimizer: boolean): string => `[profile.default]
src = "verifier-contracts"
test = "test/contracts"
libs = []
auto_detect_remappings = false
remappings = ["@openzeppelin/=node_modules/@openzeppelin/"]
allow_paths = ["node_modules"]
solc = ${JSON.stringify(join(projectRoot, "tools", "solc"))}
offline = true
evm_version = "prague"
optimizer = ${optimizer}
code_size_limit = 200000
gas_limit = "18446744073709551615"
[profile.default.fuzz]
seed = "0xa55a"
[profile.change]
[profile.nightly]
`;

/** Elements of an opcode that may be compared until a fault is found: as many as `npm test` compares. */
const ELEMENTS = 1_000_000;

/** Each set is compiled: every so many-th is planted on every change, all are in `npm run test:nightly`. */
const SHARE = 20;

interface Suite {
  readonly file: string;
  readonly optimizer: boolean;
  /** what all of its tests are named like */
  readonly tests: string;
  readonly sets: readonly (readonly Mutant[])[];
}

const SUITES: Readonly<Record<string, Suite>> = {
  games: { file: GAMES, optimizer: false, tests: "testFuzz_game", sets: MUTANTS.map((mutant) => [mutant]) },
  batches: {
    file: BATCHES,
    optimizer: true,
    tests: "test_batches",
    sets: BATCH_FAULTS.map((mutant) => [mutant]),
  },
  records: { file: RECORDS, optimizer: true, tests: "test_records", sets: inSets(RECORD_FAULTS) },
};

/** Runs tests of a suite on these sources; returns forge's output. */
function runTests(
  folder: string,
  sources: ReadonlyMap<string, string>,
  suite: Suite,
  tests: string,
  elements = ELEMENTS,
): string {
  for (const [file, text] of [...sources, ["foundry.toml", config(suite.optimizer)] as const]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { stdout, stderr, error } = spawnSync(
    foundryBinary("forge"),
    ["test", "--match-path", suite.file, "--match-test", tests],
    {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
      env: { ...process.env, NO_COLOR: "1", FOUNDRY_PROFILE: "default", RECORD_ELEMENTS: String(elements) },
    },
  );
  if (error !== undefined) throw error;
  if (!/\d+ tests? passed, \d+ failed/.test(stdout))
    throw new Error(`forge ran no tests:\n${stdout}${stderr}`);
  return stdout;
}

/** @returns what the test says that failed, undefined if it did not fail */
export function failureOf(output: string, test: string): string | undefined {
  return new RegExp(`^\\[FAIL:?(.*)\\] ${test}\\(`, "m").exec(output)?.[1]?.trim();
}

/** What a failed test says: the number of the record that found a fault, and how. */
export function finding(failure: string): string {
  const [, seed, why = ""] = /RECORD_SEED=(\d+) record \w+ (.*)$/.exec(failure) ?? [];
  if (seed === undefined) return failure.slice(0, 90);
  return `record ${Number(BigInt(seed) & 0xffffffffn) + 1}, ${why.slice(0, 90)}`;
}

/** @returns the number of mutants that no test noticed, and of those that one did */
function breakSuite(suite: Suite): { caught: number; survived: number } {
  const folder = mkdtempSync(join(tmpdir(), "assay-mutants-"));
  symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  const sources = collectSources(suite.file, (file) => readFileSync(join(projectRoot, file), "utf8"));
  const sets =
    process.env.TEST_DEPTH === "nightly" ? suite.sets : suite.sets.filter((_, i) => i % SHARE === 0);
  let survived = 0;
  try {
    const output = runTests(folder, sources, suite, suite.tests, 20_000);
    if (output.includes("[FAIL")) throw new Error(`the tests fail without a mutant:\n${output}`);
    console.log(`ok: ${suite.file} passes on the contracts as they are`);
    for (const set of sets) {
      const tests = `^(${set.map(({ caughtBy }) => caughtBy).join("|")})`;
      const faulty = set.reduce<Map<string, string>>(mutate, new Map(sources));
      const found = runTests(folder, faulty, suite, tests);
      for (const { name, caughtBy } of set) {
        const failure = failureOf(found, caughtBy);
        if (failure === undefined) survived++;
        console.log(
          failure === undefined
            ? `SURVIVED: ${name}`
            : `ok: caught: ${name} (${caughtBy}: ${finding(failure)})`,
        );
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { caught: sets.flat().length - survived, survived };
}

function main(): number {
  const only = process.argv[2];
  const suites = Object.entries(SUITES).filter(([name]) => only === undefined || name === only);
  let [passed, failed] = [0, 0];
  for (const [, suite] of suites) {
    const { caught, survived } = breakSuite(suite);
    passed += caught + 1;
    failed += survived;
  }
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = withCompileLock(main);
