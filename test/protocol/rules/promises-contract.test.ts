/** The games of promises, every move made on the compiled contracts too: the same answers by name, the same state. */
import type { Address } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { loadArtifact, loadArtifacts } from "../../../cli/artifacts.ts";
import { PROMISE_RULES } from "../../../protocol/rules/promises/rules.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import { EvmWorld } from "../../support/evm-world.ts";
import { playPromises } from "../../support/promises/promise-game.ts";
import { MODELS } from "../../support/promises/promise-models.ts";
import { type PromiseReplay, replayPromises } from "../../support/promises/promise-replay.ts";
import { SCENARIOS } from "../../support/promises/promise-scenarios.ts";
import { gameConstants, PromiseTable } from "../../support/promises/promise-table.ts";
import { T } from "../../support/promises/scenario-parts.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";
import { compileTruthParts } from "../../support/truth-parts.ts";

const GAMES = scaled(40, 300, 1_000);

interface Place {
  readonly world: EvmWorld;
  readonly promises: Address;
}
/** for T = 1, 2, 3, 4 */
const places: Place[] = [];
const ids: ModelId[] = [];

beforeAll(async () => {
  const artifacts = { ...loadArtifacts(), ProofLane: compileTruthParts().Liar };
  const promises = loadArtifact("Promises");
  const first = await EvmWorld.open(artifacts, gameConstants(1));
  for (const { program, identity } of MODELS) ids.push((await first.register(program, identity)).modelId);
  for (const t of [1, 2, 3, 4]) {
    const world = t === 1 ? first : await first.another(artifacts.Assay, gameConstants(t));
    places.push({ world, promises: await world.create(promises, [world.contracts.assay]) });
  }
});

describe("the contracts", () => {
  it("behavior: they answer each move of random games as the machine does, and hold what it holds", async () => {
    const replays: PromiseReplay[] = [];
    for (let seed = 0; seed < GAMES; seed += 1) {
      const rng = createRng(10_000 + seed);
      const t = rng.int(1, 4);
      const { world, promises } = places[t - 1] as Place;
      const table = new PromiseTable(rng, PROMISE_RULES, t, { assay: world.contracts.assay, promises }, ids);
      playPromises(rng, PROMISE_RULES, table);
      try {
        replays.push(await world.undone(() => replayPromises(world, promises, table, true)));
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
    const { world, promises } = places[T - 1] as Place;
    const tables: PromiseTable[] = [];
    play({ ...PROMISE_RULES, arena: { at: { assay: world.contracts.assay, promises }, ids, tables } });
    for (const table of tables) await world.undone(() => replayPromises(world, promises, table));
    expect(tables).not.toHaveLength(0);
  });
});
