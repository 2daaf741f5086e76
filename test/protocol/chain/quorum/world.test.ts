/** A follower that decides about claims, over nodes of which a minority is broken or lies: what it disputes is wrong, and
 *  nothing wrong is missed. */
import { createPublicClient, type Hex, hexToNumber } from "viem";
import { describe, expect, test } from "vitest";
import { isBaseError } from "../../../../base/errors.ts";
import { withContext } from "../../../../protocol/chain/errors.ts";
import { type Batch, EventFollower, type Located } from "../../../../protocol/chain/follower.ts";
import { Quorum } from "../../../../protocol/chain/quorum/transport.ts";
import { BlockRanges } from "../../../../protocol/chain/ranges.ts";
import {
  CONTRACT,
  extend,
  FAULTS,
  type Fault,
  honestOutput,
  isWrong,
  type NodeView,
  type WorldChain,
  type WorldClaim,
  word,
  worldNode,
} from "../../../support/quorum-world.ts";
import { createRng, type Rng } from "../../../support/rng.ts";
import { scaled } from "../../../support/scale.ts";

interface Claimed extends Located {
  readonly claim: WorldClaim;
}

const SOURCE = {
  addresses: [CONTRACT],
  decode: (
    logs: readonly { topics: readonly Hex[]; data: Hex; blockNumber: bigint; blockHash: Hex }[],
  ): Claimed[] =>
    logs.map(({ topics, data, blockNumber, blockHash }) => ({
      block: { number: blockNumber, hash: blockHash },
      claim: { id: hexToNumber(topics[1] as Hex), output: hexToNumber(data) },
    })),
};

/** Files a ticket on each wrong claim that the state confirms. */
class Watcher {
  /** claims on which a ticket is filed, in the blocks that were followed */
  tickets: Claimed[] = [];
  /** looks that ended without a decision */
  undecided = 0;
  readonly quorum: Quorum;
  readonly #follower: EventFollower<Claimed>;
  readonly #client;
  #nowMs = 0;

  constructor(views: readonly NodeView[], rng: Rng) {
    const nodes = views.map((view, index) => worldNode(`node ${index + 1}`, view, rng));
    this.quorum = new Quorum(nodes, { timeoutMs: 30, graceMs: 1, nowMs: () => this.#nowMs });
    this.#client = createPublicClient({ transport: this.quorum.transport, cacheTime: 0 });
    const chain = {
      client: this.#client,
      deployment: { block: { number: 0n }, contracts: { assay: CONTRACT, registry: CONTRACT } },
      ranges: new BlockRanges(),
      quorum: this.quorum,
    };
    this.#follower = new EventFollower<Claimed>(chain as never, { maxBlocks: 7 }, SOURCE as never);
  }

  /** Looks until there is nothing new. */
  async poll(): Promise<void> {
    // Nobody is left out for longer than a poll.
    this.#nowMs += 60_000;
    try {
      for (
        let batch = await this.#follower.next();
        batch !== undefined;
        batch = await this.#follower.next()
      ) {
        await this.#take(batch);
        this.#follower.advance(batch);
      }
    } catch (error) {
      if (!isBaseError(error) || !error.retryable) throw error;
      this.undecided += 1;
    }
  }

  async #take(batch: Batch<Claimed>): Promise<void> {
    if (batch.kind === "rollback") {
      this.tickets = this.tickets.filter(({ block }) => block.number <= batch.ancestor);
      return;
    }
    const filed: Claimed[] = [];
    for (const event of batch.events) {
      if (!isWrong(event.claim)) continue;
      const call = { to: CONTRACT, data: word(event.claim.id), blockHash: batch.to.hash };
      const { data } = await withContext("read a claim", () => this.#client.call(call));
      if (data !== undefined && hexToNumber(data) === 1) filed.push(event);
    }
    this.tickets.push(...filed);
  }
}

const newClaims = (rng: Rng, ids: { next: number }): WorldClaim[] =>
  Array.from({ length: rng.int(0, 2) }, () => {
    const id = ids.next++;
    return { id, output: rng.chance(0.5) ? honestOutput(id) : (honestOutput(id) + rng.int(1, 250)) % 251 };
  });

async function grown(
  chain: WorldChain,
  blocks: number,
  rng: Rng,
  ids: { next: number },
): Promise<WorldChain> {
  let longer = chain;
  for (let block = 0; block < blocks; block += 1) longer = await extend(longer, newClaims(rng, ids));
  return longer;
}

const wrongIn = (chain: WorldChain): string[] =>
  chain.flatMap(({ hash, claims }) =>
    claims.filter(isWrong).map(({ id, output }) => `${hash} ${id} ${output}`),
  );
const filed = ({ tickets }: Watcher): string[] =>
  tickets.map(({ block, claim: { id, output } }) => `${block.hash} ${id} ${output}`);

/** One run. @returns what it met */
async function run(
  seed: number,
  nodes: number,
  faults: readonly (Fault | undefined)[] = [...FAULTS, undefined],
) {
  const rng = createRng(seed);
  const ids = { next: 0 };
  let world: WorldChain = await grown([], 3, rng, ids);
  const known = new Set(wrongIn(world));
  const views: NodeView[] = Array.from({ length: nodes }, () => ({
    chain: world,
    servesReceipts: rng.chance(0.7),
  }));
  const watcher = new Watcher(views, rng);
  const liars = Math.floor((nodes - 1) / 2);
  for (let step = 0; step < 8; step += 1) {
    if (rng.chance(0.25)) world = world.slice(0, world.length - rng.int(1, Math.min(3, world.length - 2)));
    world = await grown(world, rng.int(0, 3), rng, ids);
    for (const key of wrongIn(world)) known.add(key);
    if (rng.chance(0.5)) {
      for (const view of views) view.fault = undefined;
      for (let liar = 0; liar < liars; liar += 1) rng.pick(views).fault = rng.pick(faults);
    }
    for (const view of views) {
      if (view.fault === "stale") continue;
      if (view.fault === "forked") view.chain = await grown(world.slice(0, -1), rng.int(1, 3), rng, ids);
      else view.chain = rng.chance(0.3) && world.length > 2 ? world.slice(0, -1) : world;
    }
    await watcher.poll();
    // A ticket on a right claim, or on one that no honest node ever showed.
    for (const ticket of filed(watcher))
      if (!known.has(ticket)) throw new Error(`Seed ${seed}: a ticket on ${ticket}`);
  }
  // A quorum of honest nodes, which has what the others have; liars go on lying.
  // Longer than anything before: a follower believes no shorter chain.
  world = await grown(world, 8, rng, ids);
  for (const view of views) if (view.fault !== "stale" && view.fault !== "forked") view.chain = world;
  for (let poll = 0; poll < 4; poll += 1) await watcher.poll();
  const [expected, found] = [wrongIn(world).sort(), filed(watcher).sort()];
  return { expected, found, undecided: watcher.undecided };
}

describe("a quorum of nodes", () => {
  test.each([
    [3, scaled(200, 3_000, 10_000)],
    [5, scaled(50, 600, 2_000)],
  ])("behavior: over %i nodes nothing right is disputed and nothing wrong is missed", async (nodes, runs) => {
    let wrong = 0;
    for (let seed = 1; seed <= runs; seed += 1) {
      const result = await run(seed, nodes);
      expect(result.found, `seed ${seed}`).toEqual(result.expected);
      wrong += result.expected.length;
    }
    expect(wrong).toBeGreaterThan(runs);
  });

  test.each(FAULTS)("behavior: one node of three that is %s the whole time", async (fault) => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const { expected, found } = await run(1_000 + seed, 3, [fault]);
      expect(found, `seed ${seed}`).toEqual(expected);
    }
  });
});
