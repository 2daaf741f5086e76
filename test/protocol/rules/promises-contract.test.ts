/** The games of promises, every move made on the compiled contracts too: the same answers by name, the same state, and
 *  events that the audit finds in order, from which it has that state too. */
import type { Address } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { loadArtifact, loadArtifacts } from "../../../cli/artifacts.ts";
import type { KeptPromises } from "../../../protocol/chain/audit/kept-promises.ts";
import type { ChainEvent } from "../../../protocol/chain/events.ts";
import { PROMISE_RULES } from "../../../protocol/rules/promises/rules.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import { EvmWorld } from "../../support/evm-world.ts";
import { playPromises } from "../../support/promises/promise-game.ts";
import { PromiseHistory, summaryOf } from "../../support/promises/promise-history.ts";
import { MODELS } from "../../support/promises/promise-models.ts";
import { type PromiseReplay, replayPromises } from "../../support/promises/promise-replay.ts";
import { SCENARIOS } from "../../support/promises/promise-scenarios.ts";
import { gameConstants, PromiseTable } from "../../support/promises/promise-table.ts";
import { T } from "../../support/promises/scenario-parts.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";
import { compileTruthParts } from "../../support/truth-parts.ts";

const GAMES = scaled(15, 300, 1_000);

interface Place {
  readonly world: EvmWorld;
  readonly promises: Address;
}
/** for T = 1, 2, 3, 4 */
const places: Place[] = [];
const ids: ModelId[] = [];
const registered: ChainEvent[] = [];

beforeAll(async () => {
  const artifacts = { ...loadArtifacts(), ProofLane: compileTruthParts().Liar };
  const promises = loadArtifact("Promises");
  const first = await EvmWorld.open(artifacts, gameConstants(1));
  for (const { program, identity } of MODELS) {
    const { modelId, events } = await first.register(program, identity);
    ids.push(modelId);
    registered.push(...events);
  }
  for (const t of [1, 2, 3, 4]) {
    const world = t === 1 ? first : await first.another(artifacts.Assay, gameConstants(t));
    places.push({ world, promises: await world.create(promises, [world.contracts.assay]) });
  }
});

/** Plays a game on the contracts, and audits it. */
async function replayAndAudit(
  { world, promises }: Place,
  table: PromiseTable,
  skipsRepeated = false,
): Promise<PromiseReplay> {
  const history = new PromiseHistory(world, promises, registered);
  const replay = await world.undone(() =>
    replayPromises(world, promises, table, skipsRepeated, history.record),
  );
  const { breach, audit } = history.audit();
  expect(breach).toBeUndefined();
  const kept = audit.promises?.kept as KeptPromises;
  expect(summaryOf(kept, kept.money().burned)).toBe(summaryOf(table.state, table.state.burned));
  const { received, burned, paid, lost, balance } = table.state;
  expect(kept.money()).toMatchObject({ received, burned, paid, lost, balance });
  return replay;
}

describe("the contracts", () => {
  it("behavior: they answer each move of random games as the machine does, and hold what it holds", async () => {
    const replays: PromiseReplay[] = [];
    for (let seed = 0; seed < GAMES; seed += 1) {
      const rng = createRng(10_000 + seed);
      const t = rng.int(1, 4);
      const place = places[t - 1] as Place;
      const { assay } = place.world.contracts;
      const at = { assay, promises: place.promises };
      const table = new PromiseTable(rng, PROMISE_RULES, t, at, ids);
      playPromises(rng, PROMISE_RULES, table);
      try {
        replays.push(await replayAndAudit(place, table, true));
      } catch (error) {
        throw new Error(`game ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
    const made = new Set(replays.flatMap(({ accepted }) => accepted));
    const refused = new Set(replays.flatMap((replay) => replay.refused));
    process.stdout.write(
      `${GAMES} games of promises on the contracts: ${replays.flatMap(({ accepted }) => accepted).length} moves, ${[...made].sort().join(" ")}; ${refused.size} kinds of refusal\n`,
    );
    expect(made.size).toBeGreaterThan(13);
    expect(refused.size).toBeGreaterThan(30);
  });

  it.each(Object.entries(SCENARIOS))("behavior: they agree where %s", async (_name, play) => {
    const place = places[T - 1] as Place;
    const { world, promises } = place;
    const tables: PromiseTable[] = [];
    play({ ...PROMISE_RULES, arena: { at: { assay: world.contracts.assay, promises }, ids, tables } });
    for (const table of tables) await replayAndAudit(place, table);
    expect(tables).not.toHaveLength(0);
  });
});
