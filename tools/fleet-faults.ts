/** `npm run test:fleet-faults [-- PART OF A NAME]`: plants a fault at a time in a copy of the tree, where a fleet of daemons
 *  would lose work, money or its word, and shows that the named test of test/fleet finds it. Without a fault these tests
 *  must pass. Needs PostgreSQL, as test:fleet does. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureCompiled } from "./compile.ts";
import { projectRoot } from "./foundry.ts";
import type { Mutant } from "./mutant.ts";
import { mutate } from "./mutants.ts";
import { postgresPrograms } from "./postgres.ts";
import { listFiles } from "./tracked-files.ts";

/** A fault, and the file of test/fleet whose test, `caughtBy`, finds it. */
interface FleetFault extends Mutant {
  readonly suite: string;
}

const planted = (
  name: string,
  [suite, caughtBy]: readonly [string, string],
  [file, from, to]: readonly [string, string, string],
): FleetFault => ({ name, suite, caughtBy, edits: [{ file, from, to }] });

const SHARED = "protocol/service/journal/shared-journal.ts";
const WORKERS = "protocol/service/workers/runs.ts";

export const FLEET_FAULTS: readonly FleetFault[] = [
  planted(
    "what a folder alone has is never brought to the server",
    ["database", "a server that lost its newest changes gets them again"],
    [SHARED, "if (this.unshared === 0) return;", "if (this.unshared >= 0) return;"],
  ),
  planted(
    "a copy of an older signer's time is taken for the server's",
    ["database", "it gets them also where another daemon has signed since"],
    [SHARED, "isNewSigner ? await lock.inCommon(copy) : held", "isNewSigner ? copy.revision : held"],
  ),
  planted(
    "the database takes rows of an older signer",
    ["database", "a row with an older number is refused by the database"],
    [
      "protocol/service/postgres/migrations/001_signer.sql",
      "WHERE signer.fence = NEW.fence)",
      "WHERE signer.fence >= NEW.fence)",
    ],
  ),
  planted(
    "a challenger leaves the claims of others for good",
    ["database", "each claim is one's; what one found right the other leaves for good"],
    [
      "challenger/shards/shards.ts",
      "if (this.#right.has(id)) return true;",
      "if (this.#beats >= 0) return true;",
    ],
  ),
  planted(
    "a migration compares nothing",
    ["migrate", "somebody took a row out of the server, or changed one"],
    [
      "protocol/service/journal/migrate.ts",
      "if (digest !== digestThere || journal.unshared > 0) throw",
      "if (journal.unshared > 0) throw",
    ],
  ),
  planted(
    "an answer to another order counts",
    ["workers", "one that changes the order on its way gets honest workers to answer another question"],
    [WORKERS, 'outcome === "made" && digest === asked.digest', 'outcome === "made"'],
  ),
  planted(
    "a worker that lied is heard again",
    ["workers", "one that answers wrongly is outvoted by this machine, and barred"],
    [WORKERS, "this.#barred.add(worker);", ""],
  ),
  planted(
    "a worker's proof is used as it comes",
    ["worker-proofs", "proofs for somebody else, of no curve and with coordinates that no contract takes"],
    ["prover/lanes/proofs-by-workers.ts", "(await isValid(content))", "content.length > 0"],
  ),
];

/** A copy of the tree that shares what is installed and compiled. */
function copyTree(folder: string): void {
  for (const file of listFiles()) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(projectRoot, file), join(folder, file));
  }
  mkdirSync(join(folder, "build"));
  for (const path of ["node_modules", "build/out", "build/cache", "build/keys"])
    symlinkSync(join(projectRoot, path), join(folder, path));
  for (const scope of ["contracts", "all"])
    cpSync(
      join(projectRoot, `build/compiled-${scope}.sha256`),
      join(folder, `build/compiled-${scope}.sha256`),
    );
}

/** @returns whether the test passes; what it printed where it does not */
function run(
  folder: string,
  { suite, caughtBy }: FleetFault,
): { readonly passes: boolean; readonly output: string } {
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  const name = caughtBy.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const args = ["--config", "vitest.named.config.ts", "--project", "fleet", `test/fleet/${suite}.test.ts`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, "run", ...args, "-t", name], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
    maxBuffer: 2 ** 26,
  });
  return { passes: status === 0 && /Tests {2}1 passed/.test(stdout), output: stdout + stderr };
}

function main(part = ""): number {
  if (postgresPrograms() === undefined) {
    console.log("There is no PostgreSQL here: install postgresql.\n\n0 passed, 0 failed, 1 skipped");
    return 0;
  }
  ensureCompiled("all");
  mkdirSync(join(projectRoot, "build/keys"), { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), "assay-fleet-"));
  let [passed, failed] = [0, 0];
  try {
    copyTree(folder);
    for (const fault of FLEET_FAULTS.filter(({ name }) => name.includes(part))) {
      const [{ file }] = fault.edits as readonly [FleetFault["edits"][number]];
      const right = readFileSync(join(folder, file), "utf8");
      const wrong = mutate(new Map([[file, right]]), fault).get(file) as string;
      const before = run(folder, fault);
      writeFileSync(join(folder, file), wrong);
      const after = run(folder, fault);
      writeFileSync(join(folder, file), right);
      const isFound =
        before.passes && !after.passes && after.output.includes(`FAIL  |fleet| test/fleet/${fault.suite}`);
      console.log(`${isFound ? "found" : "NOT FOUND"}: ${fault.name} (${fault.suite}: ${fault.caughtBy})`);
      if (!isFound) console.log(before.passes ? after.output : before.output);
      if (isFound) passed += 1;
      else failed += 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv[2]);
