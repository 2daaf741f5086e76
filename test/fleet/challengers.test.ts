/** Challengers on PostgreSQL. Two of one key with real processes and a real PostgreSQL: whoever dies, hangs or is cut off, and whatever
 *  becomes of PostgreSQL in the middle of a dispute, wrong claims fall, and nothing is sent twice. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { firstOf } from "../../challenger/shards/assign.ts";
import type { Daemon } from "../../cli/demo/processes.ts";
import { schemaNameOf } from "../../protocol/service/postgres/schema.ts";
import { runAssay } from "../support/assay.ts";
import { fileCase, of } from "../support/cases.ts";
import {
  expectSentOnce,
  expectTakeover,
  GONE,
  kill,
  metricsOf,
  postgresFaults,
  STANDS_BY,
  signal,
  standbyOf,
} from "../support/fleet.ts";
import { longTest } from "../support/long-test.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { scaled } from "../support/scale.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

/** A cut, and faults of PostgreSQL, look to the journal as they do to provers'. */
const IS_DEEP = scaled(false, true);
const ANSWER_SECONDS = 120;
/** That of a case. */
const WINDOW = 4 * ANSWER_SECONDS;
const SOON = { timeout: 240_000, interval: 100 };
const IS_UP = "challenger is up";
const STOPPED =
  "no more tickets are filed: look with `assay challenger investigate`, then `assay challenger reset-breaker`";

let system: System;
let postgres: Postgres;
let cheat: Daemon;
/** Accounts from here on are used once each. */
let nextAccount = ROLES.cheat + 1;

beforeAll(async () => {
  postgres = await startPostgres();
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS, blocks: "on-demand" });
  cheat = system.cheat("cheat", ROLES.cheat, "output");
  await cheat.logged("prover is up");
});
afterAll(async () => {
  await system?.stop();
  await postgres?.stop();
});

const startChallenger = (name: string, index: number, url: string, args: readonly string[]): Daemon =>
  system.daemon(name, index, ["challenger", "defend", "--port", "0", ...args], {
    env: { ASSAY_DATABASE: url },
  });

/** A challenger that signs and one that stands by, with a key of their own.
 *  @param url of the database, for the one that signs @param args of both */
async function startPair({ url = postgres.url, args = [] as readonly string[] } = {}) {
  const index = nextAccount++;
  const signer = startChallenger(`signer-${index}`, index, url, args);
  const begin = (name: string) => startChallenger(`${name}-${index}`, index, postgres.url, args);
  const standby = await standbyOf(signer, begin, IS_UP);
  const stop = async () => {
    await Promise.all([signer.stop(), standby.stop()]);
    for (const { log } of [signer, standby]) expect(readFileSync(log, "utf8")).not.toContain(PASSWORD);
  };
  return { index, signer, standby, stop };
}

const wrongClaim = async () => (await fileCase(system, ROLES.cheat)).claimed();
type Claimed = Awaited<ReturnType<typeof wrongClaim>>;
const ticketOn = (made: Claimed) => system.events.until("Challenged", of(made));
const falls = (made: Claimed) => system.events.until("Fell", of(made));
const collected = (made: Claimed) => system.events.until("Collected", of(made));
const tickets = (made: Claimed) => system.events.all("Challenged", of(made)).length;

/** A wrong claim whose prover answers nothing until it is told to go on. */
async function heldClaim(): Promise<{ readonly made: Claimed; readonly goOn: () => void }> {
  const made = await wrongClaim();
  signal(cheat, "SIGSTOP");
  return { made, goOn: () => signal(cheat, "SIGCONT") };
}

/** Holds a dispute in its middle: the ticket is there, and the answer is not. */
async function heldDispute() {
  const held = await heldClaim();
  await ticketOn(held.made);
  return held;
}

describe("challengers of one key", () => {
  test("behavior: kill -9 of the signer in the middle of a dispute: the standby ends it, and does not count its tickets from zero", async () => {
    const { made, goOn } = await heldClaim();
    // One ticket within an hour, and not two.
    const args = ["--max-exposure", `${(made.claim.ticketBond * 3n) / 2n}`];
    const { index, signer, standby, stop } = await startPair({ args });
    await ticketOn(made);
    const since = Date.now();
    await kill(signer);
    await expectTakeover(standby, since);
    goOn();
    await falls(made);
    const second = await wrongClaim();
    await standby.logged(STOPPED);
    const again = startChallenger(signer.name, index, postgres.url, args);
    await again.logged(STANDS_BY);
    const breaker = await metricsOf(again, IS_UP);
    await expect.poll(() => breaker("assay_challenger_circuit_breaker"), SOON).toBe(1);
    expect(tickets(second)).toBe(0);
    // A person may look at any of their machines.
    const reset = await runAssay(["challenger", "reset-breaker"], {
      ASSAY_RPC_URL: system.rpcUrl,
      ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
      ASSAY_DATA: join(system.folder, signer.name),
      ASSAY_KEY: keyOf(index),
    });
    expect(reset).toMatchObject({ code: 0 });
    await Promise.all([collected(made), collected(second)]);
    await expectSentOnce(system, index);
    await again.stop();
    await stop();
  });

  // Those of provers play it on every change.
  longTest(
    "behavior: SIGSTOP of the signer: the standby files the ticket, and the old signer does no harm when it goes on",
    async () => {
      const { index, signer, standby, stop } = await startPair();
      signal(signer, "SIGSTOP");
      try {
        const since = Date.now();
        const made = await wrongClaim();
        await expectTakeover(standby, since);
        await ticketOn(made);
        signal(signer, "SIGCONT");
        await signer.logged(STANDS_BY);
        const other = await wrongClaim();
        await Promise.all([collected(made), collected(other)]);
        expect([tickets(made), tickets(other)]).toEqual([1, 1]);
        await expectSentOnce(system, index);
      } finally {
        signal(signer, "SIGCONT");
      }
      await stop();
    },
  );

  test.runIf(IS_DEEP)(
    "behavior: the signer is cut off from PostgreSQL in the middle of a dispute: both go on with it, one files tickets",
    async () => {
      const proxy = await startTcpProxy(Number(new URL(postgres.url).port));
      const { signer, standby, stop } = await startPair({
        url: postgres.url.replace(new URL(postgres.url).host, `127.0.0.1:${proxy.port}`),
      });
      const metric = await metricsOf(signer, IS_UP);
      const { made, goOn } = await heldDispute();
      const since = Date.now();
      proxy.cut();
      await expectTakeover(standby, since);
      await signer.logged(GONE);
      goOn();
      const other = await wrongClaim();
      await Promise.all([collected(made), collected(other)]);
      expect([tickets(made), tickets(other)]).toEqual([1, 1]);
      proxy.mend();
      await expect.poll(() => metric("assay_database_up"), SOON).toBe(1);
      await expect.poll(() => metric("assay_journal_unshared"), SOON).toBe(0);
      await stop();
      proxy.stop();
    },
  );
});

describe.runIf(IS_DEEP)("PostgreSQL fails in the middle of a dispute", () => {
  const { hangs, isStopped, takesNoWrites } = postgresFaults(() => postgres);
  test.each([hangs, isStopped, takesNoWrites])(
    "behavior: it %s: the dispute goes on, no ticket is filed until it is back",
    async (_, fail, mend) => {
      const { index, signer, stop } = await startPair();
      const metric = await metricsOf(signer, IS_UP);
      const { made, goOn } = await heldDispute();
      await fail();
      try {
        await signer.logged(GONE);
        goOn();
        await falls(made);
        const other = await wrongClaim();
        await expect
          .poll(() => readFileSync(signer.log, "utf8"), SOON)
          .toContain(`challenge:${other.claimId} is not begun`);
        expect(await metric("assay_database_up")).toBe(0);
        expect(await metric("assay_journal_unshared")).toBeGreaterThan(0);
        expect(tickets(other)).toBe(0);
        await mend();
        await Promise.all([collected(made), collected(other)]);
      } finally {
        await mend().catch(() => undefined);
      }
      await expect.poll(() => metric("assay_journal_unshared"), SOON).toBe(0);
      await expectSentOnce(system, index);
      await stop();
    },
  );
});

describe("challengers of different keys that divide the checks", () => {
  const LIARS = 30;
  const DIVIDED = "these challengers divide the checks of claims";
  const ALONE = "the other challengers are not known: this one checks every claim";

  test("behavior: each claim is one's; one that hangs, or only says that it lives, costs no more than a quarter of the window", async () => {
    const indices = [nextAccount++, nextAccount++] as const;
    const accounts = indices.map((index) => systemAccount(index).address);
    const both = indices.map((index) =>
      startChallenger(`shard-${index}`, index, postgres.url, ["--shards", "on"]),
    );
    const [first, second] = both as [Daemon, Daemon];
    await Promise.all(both.map((one) => one.logged(DIVIDED)));
    const metrics = await Promise.all(both.map((one) => metricsOf(one, IS_UP)));
    const sizeOf = (at: number) => metrics[at]?.("assay_challenger_shards");
    const holders = (made: Claimed) =>
      system.events.all("Challenged", of(made)).map(({ challenger }) => challenger);
    /** How often one was by itself: on a machine so slow that the other was taken for dead, or the database for gone, more
     *  than one may check a claim. */
    const timesApart = () =>
      both
        .flatMap(({ log }) => readFileSync(log, "utf8").split("\n"))
        .filter((line) => line.includes(ALONE) || (line.includes(DIVIDED) && !line.includes('","'))).length;
    let before = 0;
    const areTogether = () => timesApart() === before;
    const divided = [await wrongClaim(), await wrongClaim(), await wrongClaim()];
    for (const made of divided) {
      await falls(made);
      const first = firstOf(accounts, made.claimId);
      expect(holders(made)).toContain(first);
      if (areTogether()) expect(holders(made)).toEqual([first]);
    }

    signal(first, "SIGSTOP");
    await expect.poll(() => sizeOf(1), SOON).toBe(1);
    const taken = await wrongClaim();
    await falls(taken);
    expect(holders(taken)).toEqual([accounts[1]]);
    signal(first, "SIGCONT");
    await expect.poll(() => Promise.all([sizeOf(0), sizeOf(1)]), SOON).toEqual([2, 2]);
    before = timesApart();

    const { assay, chainId } = system.chain.game;
    const liars = Array.from(
      { length: LIARS },
      (_, n) => `0x${(n + 1).toString(16).padStart(40, "0")}` as Address,
    );
    await postgres.query(
      `INSERT INTO ${schemaNameOf({ chainId, account: assay })}.challengers SELECT unnest($1::text[]), 'liar', 'infinity'`,
      [liars],
    );
    await expect.poll(() => Promise.all([sizeOf(0), sizeOf(1)]), SOON).toEqual([2 + LIARS, 2 + LIARS]);
    let theirs = await wrongClaim();
    while (accounts.includes(firstOf([...accounts, ...liars], theirs.claimId))) theirs = await wrongClaim();
    const isLeft = async () => (await metrics[0]?.("assay_challenger_claims_left")) === 1;
    await expect.poll(async () => !areTogether() || (await isLeft()), SOON).toBe(true);
    if (areTogether()) expect(holders(theirs)).toEqual([]);
    await system.passTime(WINDOW / 4);
    await falls(theirs);
    expect(holders(theirs).length).toBeGreaterThan(0);
    if (areTogether()) await second.logged("a claim was not checked by the challenger whose it was");
    await Promise.all(both.map((one) => one.stop()));
  });
});
