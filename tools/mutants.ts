/** `npm run test:mutants`: breaks the game's rules one at a time, in a copy of the contracts, and shows that the games
 *  of test/contracts/invariant/Games.t.sol notice each. A rule whose loss nobody notices is not tested.
 *
 *  The games must pass on the contracts as they are; each mutant must fail the named test, and compile. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withCompileLock } from "./compile.ts";
import { foundryBinary, projectRoot } from "./foundry.ts";

const GAMES = "test/contracts/invariant/Games.t.sol";
const GAME = "verifier-contracts/assay/AssayGame.sol";
const CLAIM_WORD = "verifier-contracts/libraries/ClaimWord.sol";

export interface Mutant {
  readonly name: string;
  /** the game that must fail */
  readonly caughtBy: string;
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}

/** The four rules that docs/PROTOCOL.md, section 4 rests on. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: "quota per claim instead of per ticket",
    caughtBy: "testFuzz_game_wrongClaim_succeeds",
    edits: [
      { file: GAME, from: "uint8(ticket >> 8) >=", to: "uint8(_tickets[id][address(0)] >> 8) >=" },
      {
        file: GAME,
        from: "_tickets[id][msg.sender] = ticket + ONE_DEMAND;",
        to: "_tickets[id][address(0)] += ONE_DEMAND;",
      },
    ],
  },
  {
    name: "no hardEnd",
    caughtBy: "testFuzz_game_honestClaim_succeeds",
    edits: [
      { file: CLAIM_WORD, from: "if (time > uint40(word >> 80)) time = uint40(word >> 80);", to: "" },
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
        from: "_demands[id][position] = demanded | ANSWERED;\n        _claims[id] = word.answered(block.timestamp);",
        to: "_demands[id][position] = demanded | ANSWERED;\n        _claims[id] = word.answered(word.lastEvent());",
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

/** Without the optimizer, which takes most of the time: what the games test does not depend on it. */
const CONFIG = `[profile.default]
src = "verifier-contracts"
test = "test/contracts"
libs = []
auto_detect_remappings = false
solc = ${JSON.stringify(join(projectRoot, "tools", "solc"))}
offline = true
evm_version = "prague"
optimizer = false
code_size_limit = 200000
[profile.default.fuzz]
seed = "0xa55a"
[profile.change]
[profile.nightly]
`;

/** Runs games on these sources; returns forge's output. */
function playGames(folder: string, sources: ReadonlyMap<string, string>, game: string): string {
  for (const [file, text] of [...sources, ["foundry.toml", CONFIG] as const]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { stdout, stderr, error } = spawnSync(
    foundryBinary("forge"),
    ["test", "--match-path", GAMES, "--match-test", game],
    {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
      env: { ...process.env, FOUNDRY_PROFILE: "default" },
    },
  );
  if (error !== undefined) throw error;
  if (!/\d+ tests? passed, \d+ failed/.test(stdout))
    throw new Error(`forge ran no games:\n${stdout}${stderr}`);
  return stdout;
}

const failed = (output: string, test: string): boolean =>
  new RegExp(`^\\[FAIL.*\\b${test}\\(`, "m").test(output);

function main(): number {
  const folder = mkdtempSync(join(tmpdir(), "assay-mutants-"));
  const sources = collectSources(GAMES, (file) => readFileSync(join(projectRoot, file), "utf8"));
  let survivors = 0;
  try {
    const output = playGames(folder, sources, "testFuzz_game");
    if (output.includes("[FAIL")) throw new Error(`the games fail without a mutant:\n${output}`);
    console.log("ok: the games pass on the contracts as they are");
    for (const mutant of MUTANTS) {
      const caught = failed(playGames(folder, mutate(sources, mutant), mutant.caughtBy), mutant.caughtBy);
      if (!caught) survivors++;
      console.log(`${caught ? "ok: caught" : "SURVIVED"}: ${mutant.name} (${mutant.caughtBy})`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`\n${MUTANTS.length + 1 - survivors} passed, ${survivors} failed`);
  return survivors === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = withCompileLock(main);
