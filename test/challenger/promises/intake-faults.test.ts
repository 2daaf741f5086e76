/** Faults in what takes promises in: the tests of intake.test.ts and leaves.test.ts that they are named by find each. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SILENT } from "../../../base/log.ts";
import type { CanonicalPool } from "../../../inference/runtime/canonical-pool.ts";
import { listen } from "../../../protocol/service/http/listen.ts";
import { projectRoot } from "../../../tools/foundry.ts";
import type { Mutant } from "../../../tools/mutant.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { bundlePlanted } from "../../support/planted-bundle.ts";
import { intakeAttacks } from "../../support/promises/intake-attacks.ts";
import { INTAKE_FAULTS, LEAF_FAULTS } from "../../support/promises/intake-faults.ts";
import { LEAF_ATTACKS, openCanonical } from "../../support/promises/leaf-attacks.ts";
import {
  ETHER,
  openPromiseChallenger,
  type PromiseChallenger,
} from "../../support/promises/promise-challenger.ts";

const PROVER = accountAt(1);
const DAY = 86_400;

type Intake = typeof import("../../../challenger/promises/intake.ts");
type Leaves = typeof import("../../../challenger/promises/leaves.ts");

let folder: string;
beforeAll(() => {
  mkdirSync(join(projectRoot, "build"), { recursive: true });
  folder = mkdtempSync(join(projectRoot, "build", "planted-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
/** A module of the challenger with a fault in it, or in what it uses. */
async function withFault<Module>(file: string, mutant: Mutant | undefined): Promise<Module> {
  const outfile = join(folder, `${++count}.mjs`);
  await bundlePlanted(`export * from "./${file}";`, mutant, outfile, false);
  return (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as Module;
}

/** @throws Error for a name that no test has */
function named<Attack extends { readonly name: string }>(attacks: readonly Attack[], name: string): Attack {
  const found = attacks.find((attack) => attack.name === name);
  if (found === undefined) throw new Error(`No attack is named "${name}".`);
  return found;
}

describe("faults at the intake", () => {
  let local: LocalChain;
  let game: PromiseChallenger;
  beforeAll(async () => {
    local = await startLocalChain();
    // What a fault lets in is kept, and nothing is opened.
    game = await openPromiseChallenger(local, { maxExposure: 0n });
    const { system, actions } = game;
    await system.sender.send(actions.deposit(PROVER.address, 10n * ETHER, "stake"));
    await system.sender.send(actions.setSigner(PROVER.address, (await local.now()) + 30 * DAY));
    await game.settle();
  });
  afterAll(async () => {
    await game?.close();
    await local?.stop();
  });
  const attacks = intakeAttacks(() => game, PROVER);

  /** What an intake answers to a body. */
  async function answerOf({ intakeApp, INTAKE_CONNECTIONS }: Intake, body: unknown) {
    const { chain, covered, running } = game;
    const app = intakeApp({
      ...{ chain, store: running.store, nowMs: Date.now, log: SILENT, limits: { requestsPerMinute: 10_000 } },
      models: new Map([[covered.id, covered]]),
      check: (digest, presented, report) => running.watch.check(digest, presented, report),
      now: () => running.watch.head?.timestamp,
    });
    const server = await listen(app, "127.0.0.1", 0, INTAKE_CONNECTIONS);
    try {
      const response = await fetch(`${server.url}/v1/signed-claims`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      const { error } = (await response.json()) as { error?: { code: string } };
      return [response.status, error?.code];
    } finally {
      await server.close();
    }
  }

  test("default: without a fault all is refused by name", async () => {
    const intake = await withFault<Intake>("challenger/promises/intake.ts", undefined);
    for (const { name, make, status, code } of attacks)
      expect([name, ...(await answerOf(intake, await make()))]).toEqual([name, status, code]);
  });

  test.each(INTAKE_FAULTS)('behavior: $name: found by "$caughtBy"', async (mutant) => {
    const { make, status, code } = named(attacks, mutant.caughtBy);
    const intake = await withFault<Intake>("challenger/promises/intake.ts", mutant);
    expect(await answerOf(intake, await make())).not.toEqual([status, code]);
  });
});

describe("faults at the leaves", () => {
  let canonical: CanonicalPool;
  beforeAll(() => {
    canonical = openCanonical();
  });
  afterAll(() => canonical.close());

  test("default: without a fault all is as it must be", async () => {
    const { checkLeaves } = await withFault<Leaves>("challenger/promises/leaves.ts", undefined);
    for (const { run } of LEAF_ATTACKS) await run(checkLeaves, canonical);
  });

  test.each(LEAF_FAULTS)('behavior: $name: found by "$caughtBy"', async (mutant) => {
    const { run } = named(LEAF_ATTACKS, mutant.caughtBy);
    const { checkLeaves } = await withFault<Leaves>("challenger/promises/leaves.ts", mutant);
    await expect(run(checkLeaves, canonical)).rejects.toThrow();
  });
});
