/** The audit of promises on histories that real contracts wrote, and on forged ones. */
import { beforeAll, describe, expect, test } from "vitest";
import { loadArtifact, loadArtifacts } from "../../../cli/artifacts.ts";
import type { KeptPromises } from "../../../protocol/chain/audit/kept-promises.ts";
import type { Breach } from "../../../protocol/chain/audit/rules.ts";
import { isPromiseEvent } from "../../../protocol/chain/audit/source.ts";
import type { ChainEvent } from "../../../protocol/chain/events.ts";
import { PROMISE_RULES } from "../../../protocol/rules/promises/rules.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import { altered, pathsOf } from "../../support/altered-event.ts";
import { EvmWorld } from "../../support/evm-world.ts";
import { longTest } from "../../support/long-test.ts";
import { playPromises } from "../../support/promises/promise-game.ts";
import { type PlacedEvent, PromiseHistory, summaryOf } from "../../support/promises/promise-history.ts";
import { MODELS } from "../../support/promises/promise-models.ts";
import { replayPromises } from "../../support/promises/promise-replay.ts";
import { SCENARIOS } from "../../support/promises/promise-scenarios.ts";
import { gameConstants, PromiseTable } from "../../support/promises/promise-table.ts";
import { T } from "../../support/promises/scenario-parts.ts";
import { createRng } from "../../support/rng.ts";
import { compileTruthParts } from "../../support/truth-parts.ts";

/** Games in which every event of Promises occurs. */
const DIRECTED = ["a leaf waits in a batch that falls", "another leaf is filed for the first that waits"];
const SEEDS = [0, 1_410];

interface Played {
  readonly history: PromiseHistory;
  /** what the contracts hold at the end, seen to be so by the replay */
  readonly held: string;
}
const games: Played[] = [];

beforeAll(async () => {
  const artifacts = { ...loadArtifacts(), ProofLane: compileTruthParts().Liar };
  const world = await EvmWorld.open(artifacts, gameConstants(T));
  const registered: ChainEvent[] = [];
  const ids: ModelId[] = [];
  for (const { program, identity } of MODELS) {
    const { modelId, events } = await world.register(program, identity);
    ids.push(modelId);
    registered.push(...events);
  }
  const { assay } = world.contracts;
  const promises = await world.create(loadArtifact("Promises"), [assay]);
  const at = { assay, promises };
  const tables: PromiseTable[] = [];
  for (const name of DIRECTED) SCENARIOS[name]?.({ ...PROMISE_RULES, arena: { at, ids, tables } });
  for (const seed of SEEDS) {
    const rng = createRng(seed);
    const table = new PromiseTable(rng, PROMISE_RULES, T, at, ids);
    playPromises(rng, PROMISE_RULES, table);
    tables.push(table);
  }
  for (const table of tables) {
    const history = new PromiseHistory(world, promises, registered);
    await world.undone(() => replayPromises(world, promises, table, true, history.record));
    games.push({ history, held: summaryOf(table.state, table.state.burned) });
  }
});

const isOfPromises = ({ history }: Played, one: PlacedEvent | undefined): boolean =>
  one !== undefined && isPromiseEvent(one.event, history.promises);

/** By what a forgery is found: the rule that an event breaks, or what the contract holds. */
function foundBy({ history, held }: Played, events: readonly PlacedEvent[]): string | undefined {
  const { breach, audit } = history.audit(events);
  if (breach !== undefined) return breach.rule;
  const kept = audit.promises?.kept as KeptPromises;
  return summaryOf(kept, kept.money().burned) === held ? undefined : "held";
}

interface Forgery {
  readonly name: string;
  readonly events: readonly PlacedEvent[];
}

/** Forges each event of Promises, of each game. @returns how each was found, and the names of those that were not */
function forgeAll(forge: (events: readonly PlacedEvent[], index: number) => readonly Forgery[]) {
  const found: Record<string, number> = {};
  const unfound = new Set<string>();
  let count = 0;
  for (const game of games) {
    const { events } = game.history;
    for (const [index, one] of events.entries()) {
      if (!isOfPromises(game, one)) continue;
      for (const { name, events: forged } of forge(events, index)) {
        count += 1;
        const by = foundBy(game, forged);
        if (by === undefined) unfound.add(name);
        else found[by] = (found[by] ?? 0) + 1;
      }
    }
  }
  const all = Object.values(found).reduce((sum, n) => sum + n, 0);
  return { found, unfound: [...unfound].sort(), all, count };
}

const report = (what: string, { found, all, count }: ReturnType<typeof forgeAll>): void => {
  process.stdout.write(`events of Promises, ${what}: ${all} of ${count} found, ${JSON.stringify(found)}\n`);
};

const nameOf = (one: PlacedEvent | undefined): string => one?.event.name ?? "";

describe("Audit", () => {
  test("default: histories of every event of promises are in order, and add up to what the contracts hold", () => {
    const names = games.flatMap((game) =>
      game.history.events.flatMap((one) => (isOfPromises(game, one) ? [nameOf(one)] : [])),
    );
    expect([...new Set(names)].sort().join(" ")).toMatchInlineSnapshot(
      `"Burned Closed Credited Deposited ExitAnnounced Exited HeadTooDear LeafDropped LeafOpened LeafQueued Opened Passed Posted Queued Released SignerSet TakenBack Withdrawn"`,
    );
    for (const game of games) expect(foundBy(game, game.history.events)).toBeUndefined();
  });

  test("behavior: the totals say what became of promises", () => {
    const { audit } = (games.at(-1) as Played).history.audit();
    expect(audit.totals().promises).toMatchInlineSnapshot(`
      {
        "batches": {
          "fallen": 0,
          "posted": 6,
        },
        "events": 77,
        "leaves": {
          "CLOSED": 11,
        },
        "money": {
          "away": 0n,
          "balance": 6453333n,
          "burned": 0n,
          "credits": 0n,
          "deposits": 0n,
          "lost": 201066666n,
          "paid": 2742159999n,
          "received": 2949679998n,
          "stakes": 6453333n,
        },
        "signedClaims": {
          "CLOSED": 3,
          "NONE": 1,
        },
      }
    `);
  });
});

describe("forged events of promises", () => {
  test("behavior: each dropped event is found, but those without consequence", () => {
    const forged = forgeAll((events, i) => [{ name: nameOf(events[i]), events: events.toSpliced(i, 1) }]);
    report("dropped", forged);
    expect(forged.unfound).toMatchInlineSnapshot(`
      [
        "Exited",
        "Released",
        "SignerSet",
      ]
    `);
  });

  longTest("behavior: each doubled event is found", () => {
    const forged = forgeAll((events, i) => [
      { name: nameOf(events[i]), events: events.toSpliced(i, 0, events[i] as PlacedEvent) },
    ]);
    report("doubled", forged);
    expect(forged.unfound).toMatchInlineSnapshot(`
      [
        "Exited",
        "Released",
        "SignerSet",
      ]
    `);
  });

  longTest(
    "behavior: an event that changes places with the next is found, but between moves that are independent",
    () => {
      const forged = forgeAll((events, i) => {
        const [first, second] = [events[i], events[i + 1]];
        if (first === undefined || second === undefined) return [];
        return [
          { name: `${nameOf(first)} ${nameOf(second)}`, events: events.with(i, second).with(i + 1, first) },
        ];
      });
      report("swapped", forged);
      expect(forged.unfound).toMatchInlineSnapshot(`
      [
        "Deposited Deposited",
        "Deposited Finalized",
        "Deposited Posted",
        "Deposited SignerSet",
        "ExitAnnounced ExitAnnounced",
        "ExitAnnounced Finalized",
        "ExitAnnounced Posted",
        "Exited Withdrawn",
        "LeafQueued Challenged",
        "LeafQueued Finalized",
        "Posted ExitAnnounced",
        "Posted Posted",
        "Posted SignerSet",
        "Queued Challenged",
        "Queued Finalized",
        "Released ExitAnnounced",
        "Released Finalized",
        "Released Posted",
        "Released Queued",
        "Released Released",
        "Released SignerSet",
        "SignerSet Challenged",
        "SignerSet Deposited",
        "SignerSet Exited",
        "SignerSet Posted",
        "SignerSet Queued",
        "SignerSet Released",
        "SignerSet SignerSet",
        "Withdrawn Burned",
        "Withdrawn Withdrawn",
      ]
    `);
    },
  );

  test("behavior: each altered value is found, but those that no rule reads", () => {
    const forged = forgeAll((events, i) => {
      const { event, block } = events[i] as PlacedEvent;
      // Two of each kind in each game.
      const isOften = events.slice(0, i).filter((one) => nameOf(one) === event.name).length > 1;
      if (isOften) return [];
      return pathsOf(event.args).map((path) => ({
        name: `${event.name} ${path.join(".")}`,
        events: events.with(i, { event: altered(event, path), block }),
      }));
    });
    report("altered", forged);
    expect(forged.unfound).toMatchInlineSnapshot(`
      [
        "Deposited from",
        "Exited prover",
        "Exited to",
        "SignerSet until",
      ]
    `);
  });

  test("behavior: events of Assay that belong to promises are not left out", () => {
    const found: (Breach | undefined)[] = [];
    for (const { history } of games) {
      for (const [i, { event }] of history.events.entries()) {
        const isOurs =
          (event.name === "Claimed" &&
            "claim" in event.args &&
            event.args.claim.prover === history.promises) ||
          (event.name === "Requested" && event.args.request.requester === history.promises) ||
          (event.name === "Finalized" && history.events[i + 2]?.event.name === "Closed");
        if (isOurs) found.push(history.audit(history.events.toSpliced(i, 1)).breach);
      }
    }
    process.stdout.write(
      `events of Assay for promises, dropped: ${found.filter(Boolean).length} of ${found.length}\n`,
    );
    expect(found.length).toBeGreaterThan(10);
    expect(found).not.toContain(undefined);
  });
});
