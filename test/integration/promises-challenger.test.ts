/** One challenger process against promises: wrong ones among right ones, by batch and by hand, through kill -9. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import { EventFollower, pause } from "../../protocol/chain/follower.ts";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import {
  type PromiseEvent,
  type PromiseEventName,
  type PromiseEventOf,
  promiseSource,
} from "../../protocol/chain/promises/events.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import { type BatchId, batchIdOf } from "../../protocol/rules/promises/batch.ts";
import { type Presented, renderPresented } from "../../protocol/rules/promises/presented.ts";
import { digestOf, type PromisesAddress } from "../../protocol/rules/promises/signed-claim.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { sentimentPromises } from "../support/promises/sentiment-promises.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** No deadline is at stake: the test lets the time pass. */
const ANSWER_SECONDS = 120;
const W0 = 4 * ANSWER_SECONDS;
const ETHER = 10n ** 18n;
const HONEST = systemAccount(ROLES.prover);
const CHEAT = systemAccount(ROLES.cheat);
const CHALLENGER = systemAccount(ROLES.challenger);
const WRONG_LEAVES = [0, 17, 39];
const NEVER = "1000000000000000000000";

let system: System;
let at: PromisesAddress;
let made: ReturnType<typeof sentimentPromises>;
let reader: PromiseStateReader;
let events: PromiseEvent[] = [];
const stopping = new AbortController();
let following: Promise<void>;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  const { deployment } = system.chain;
  at = promisesOf(deployment);
  made = sentimentPromises(system.model("sentiment"), at);
  reader = new PromiseStateReader(system.chain);
  following = new EventFollower(system.chain, { pollIntervalMs: 100 }, promiseSource(deployment)).run(
    (blocks) => {
      events =
        blocks.kind === "blocks"
          ? [...events, ...blocks.events]
          : events.filter(({ block }) => block.number <= blocks.ancestor);
    },
    stopping.signal,
  );
});
afterAll(async () => {
  stopping.abort();
  await following;
  await system.stop();
});

const all = <Name extends PromiseEventName>(name: Name): PromiseEventOf<Name>["args"][] =>
  events.filter((event) => event.name === name).map(({ args }) => args as PromiseEventOf<Name>["args"]);

/** Waits until there are so many events of a name, and gives them. */
async function until<Name extends PromiseEventName>(name: Name, count: number) {
  for (;;) {
    const found = all(name);
    if (found.length >= count) return found;
    await pause(50, stopping.signal);
  }
}

const start = (withdrawAbove = NEVER): Daemon =>
  system.daemon("challenger", ROLES.challenger, [
    ...["challenger", "defend", "--port", "0", "--intake-port", "0", "--attention-seconds", "0"],
    ...["--withdraw-above", withdrawAbove],
  ]);

async function up(daemon: Daemon): Promise<{ readonly url: string; readonly intakeUrl: string }> {
  return (await daemon.logged("challenger is up")) as { url: string; intakeUrl: string };
}

const post = async (intakeUrl: string, body: unknown) => {
  const response = await fetch(`${intakeUrl}/v1/signed-claims`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const hand = (intakeUrl: string, presented: Presented, where = at) =>
  post(intakeUrl, renderPresented(where, presented));

describe("assay challenger defend", () => {
  it("default: every wrong promise is opened and falls, no right one, and kill -9 changes nothing", async () => {
    const now = async () => Number((await system.chain.client.getBlock()).timestamp);
    const posted: BatchId[] = [];
    for (const [name, index, from, count, wrong, window] of [
      ["honest", ROLES.prover, 0, 64, [], W0],
      ["cheat", ROLES.cheat, 1_000, 40, WRONG_LEAVES, 7 * 86_400],
    ] as const) {
      const { chain, sender } = await system.open(name, index);
      const actions = new PromiseActions(at, chain.game);
      const account = chain.account;
      await sender.send(actions.deposit(account.address, 20n * ETHER, "stake"));
      await sender.send(actions.setSigner(account.address, (await now()) + 30 * 86_400));
      const { batch, posting } = made.batch(account, from, count, wrong, window);
      expect(await sender.send(actions.post(batch, posting))).toMatchObject({ status: "sent" });
      posted.push(batchIdOf(at, batch));
    }
    const [honestBatch, wrongBatch] = posted as [BatchId, BatchId];
    const issued = await now();
    const right = [
      ...(await Promise.all([1, 2, 3].map((i) => made.sign(HONEST, i, issued)))),
      await made.sign(CHEAT, 4, issued),
    ];
    const wrong = await Promise.all([5, 6, 7].map((i) => made.sign(CHEAT, i, issued, { isWrong: true })));

    const first = start();
    const { intakeUrl } = await up(first);
    // Until it has read a block it says so.
    for (const presented of right) {
      const taken = await handUntilRead(intakeUrl, presented);
      expect(taken).toMatchObject({ status: 200, body: { verdict: "right", kept: false } });
    }
    for (const presented of wrong) {
      const taken = await hand(intakeUrl, presented);
      expect(taken).toMatchObject({ status: 202, body: { verdict: "wrong", kept: true } });
    }
    await untilAny(["LeafOpened", "Opened"]);
    process.kill(first.pid as number, "SIGKILL");
    await first.ended;
    const second = start();
    const { url } = await up(second);

    const leaves = await until("LeafOpened", WRONG_LEAVES.length);
    const opened = await until("Opened", wrong.length);
    expect(leaves.map(({ index }) => Number(index)).sort((a, b) => a - b)).toEqual(WRONG_LEAVES);
    expect(new Set(leaves.map(({ batchId }) => batchId))).toEqual(new Set([wrongBatch]));
    expect(new Set(opened.map(({ digest }) => digest))).toEqual(
      new Set(wrong.map(({ claim }) => digestOf(at, claim))),
    );
    const claims = [...leaves, ...opened].map(({ claimId }) => claimId);
    for (const claimId of claims) {
      await system.events.until("Challenged", (args) => args.claimId === claimId);
    }
    // The cheat does not answer.
    await system.passTime(ANSWER_SECONDS + 1);
    for (const claimId of claims) await system.events.until("Fell", (args) => args.claimId === claimId);
    const closed = await until("Closed", claims.length);
    expect(closed.every(({ fallen }) => fallen)).toBe(true);
    for (const { opener, deposit } of [...leaves, ...opened]) {
      expect(opener).toBe(CHALLENGER.address);
      expect(deposit).toBeGreaterThan(0n);
    }
    const deposits = [...leaves, ...opened].reduce((sum, { deposit }) => sum + deposit, 0n);
    expect(await reader.credit(CHALLENGER.address)).toBeGreaterThanOrEqual(deposits);
    expect(await reader.batch(wrongBatch)).toMatchObject({ fallen: true, open: 0 });
    expect(await reader.account(CHEAT.address)).toMatchObject({ away: 0n });

    await system.passTime(W0);
    expect(await reader.isFinal(honestBatch)).toBe(true);
    expect(await reader.account(HONEST.address)).toMatchObject({ away: 0n });
    expect(system.events.all("Fell")).toHaveLength(claims.length);
    const metrics = async (name: string) => (await fetchMetrics(url)).get(name);
    for (;;) {
      if ((await metrics('assay_challenger_promises_over_total{ending="fallen"}')) === claims.length) break;
      await pause(50, stopping.signal);
    }
    expect(await metrics("assay_challenger_promises_wrong")).toBe(0);
    expect(await metrics("assay_challenger_exposure_wei")).toBe(0);
    expect(all("LeafOpened")).toHaveLength(WRONG_LEAVES.length);
    expect(all("Opened")).toHaveLength(wrong.length);
    await second.stop();
    start("1000wei");
    const [withdrawn] = await until("Withdrawn", 1);
    expect(withdrawn).toMatchObject({ account: CHALLENGER.address, to: CHALLENGER.address });
    expect(withdrawn?.amount).toBeGreaterThanOrEqual(deposits);
  });
});

async function handUntilRead(intakeUrl: string, presented: Presented) {
  for (;;) {
    const taken = await hand(intakeUrl, presented);
    const { error } = taken.body as { error?: { code: string } };
    if (error?.code !== "CHAIN_NOT_READ_YET") return taken;
    await pause(50, stopping.signal);
  }
}

async function untilAny(names: readonly PromiseEventName[]): Promise<void> {
  while (!names.some((name) => all(name).length > 0)) await pause(20, stopping.signal);
}
