/** Two provers of one key with real processes and a real PostgreSQL: whoever dies, hangs or is cut off, and whatever
 *  becomes of PostgreSQL in the middle of a dispute, what is owed is answered once and nothing is bonded twice. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import { demandPath, encodePosition, type Position } from "../../inference/commit/positions.ts";
import { traceShapes } from "../../inference/commit/reveal.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { schemaNameOf } from "../../protocol/service/postgres/schema.ts";
import { fileCase, of } from "../support/cases.ts";
import {
  expectSentOnce,
  expectTakeover,
  GONE,
  kill,
  metricsOf,
  postgresFaults,
  SIGNS,
  STANDS_BY,
  signal,
  standbyOf,
} from "../support/fleet.ts";
import { longTest } from "../support/long-test.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { scaled } from "../support/scale.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

const ANSWER_SECONDS = 120;
const SOON = { timeout: 240_000, interval: 100 };

let system: System;
let postgres: Postgres;
let rival: Awaited<ReturnType<System["open"]>>;
/** Accounts from here on are used once each. */
let nextAccount = 5;

beforeAll(async () => {
  postgres = await startPostgres();
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  rival = await system.open("rival", ROLES.cheat);
});
afterAll(async () => {
  await system?.stop();
  await postgres?.stop();
});

function startProver(name: string, index: number, url = postgres.url): Daemon {
  return system.daemon(name, index, ["prover", "--port", "0"], {
    env: { ASSAY_DATABASE: url },
  });
}

/** A prover that signs and one that stands by, with a key of their own.
 *  @param url of the database, for the one that signs */
async function startPair(url = postgres.url) {
  const index = nextAccount++;
  const signer = startProver(`signer-${index}`, index, url);
  const standby = await standbyOf(signer, (name) => startProver(`${name}-${index}`, index), "prover is up");
  return { index, signer, standby, made: await (await fileCase(system, index)).claimed() };
}
type Claimed = Awaited<ReturnType<typeof startPair>>["made"];

const actions = () => new Actions(system.chain.game);
const challenge = async ({ claim }: Claimed) =>
  expect((await rival.sender.send(actions().challenge(claim))).status).toBe("sent");
const answered = (made: Claimed) => system.events.until("TraceCommitted", of(made));

async function demandAnswer(made: Claimed, traceRoot: `0x${string}`): Promise<void> {
  const [first] = demandPath(traceShapes(system.model("sentiment").model.program), 0, 0);
  const position = encodePosition(first as Position);
  const sent = await rival.sender.send(actions().demand(made.claim, traceRoot, position));
  expect(sent.status).toBe("sent");
  await system.events.until("Revealed", of(made));
}

/** Reads one of the daemon's metrics. */
const metricOf = (daemon: Daemon) => metricsOf(daemon, "prover is up");

describe("provers of one key", () => {
  // Those of challengers play it on every change.
  longTest(
    "behavior: kill -9 of the signer in the middle of a dispute: the standby takes over and answers",
    async () => {
      const { index, signer, standby, made } = await startPair();
      await challenge(made);
      const since = Date.now();
      await kill(signer);
      await expectTakeover(standby, since);
      const { traceRoot } = await answered(made);
      await demandAnswer(made, traceRoot);
      await expectSentOnce(system, index);
      await standby.stop();
      // Nobody signs with a copy alone.
      const alone = system.daemon(standby.name, index, ["prover", "--port", "0"]);
      await alone.ended;
      // Its last lines reach the file after its end.
      await expect.poll(() => readFileSync(alone.log, "utf8"), SOON).toContain("no database is named");
    },
  );

  test("behavior: SIGSTOP of the signer: the standby takes over, and the old signer does no harm when it goes on", async () => {
    const { index, signer, standby, made } = await startPair();
    const since = Date.now();
    signal(signer, "SIGSTOP");
    try {
      await expectTakeover(standby, since);
      await challenge(made);
      const { traceRoot } = await answered(made);
      signal(signer, "SIGCONT");
      await signer.logged(STANDS_BY);
      await demandAnswer(made, traceRoot);
      // The new signer alone goes on claiming.
      await (await fileCase(system, index)).claimed();
      await expectSentOnce(system, index);
    } finally {
      signal(signer, "SIGCONT");
    }
    await Promise.all([signer.stop(), standby.stop()]);
  });

  // Provers, challengers and workers of a fleet are cut off on every change, in fleet.test.ts.
  longTest(
    "behavior: the signer is cut off from PostgreSQL, which lives: another takes over and claims; both may answer; what the first one did is in PostgreSQL later",
    async () => {
      const proxy = await startTcpProxy(Number(new URL(postgres.url).port));
      const { index, signer, standby, made } = await startPair(
        postgres.url.replace(new URL(postgres.url).host, `127.0.0.1:${proxy.port}`),
      );
      const metric = await metricOf(signer);
      const since = Date.now();
      proxy.cut();
      await expectTakeover(standby, since);
      await signer.logged(GONE);
      await challenge(made);
      const { traceRoot } = await answered(made);
      await demandAnswer(made, traceRoot);
      const other = await (await fileCase(system, index)).claimed();
      proxy.mend();
      await expect.poll(() => metric("assay_database_up"), SOON).toBe(1);
      await expect.poll(() => metric("assay_journal_unshared"), SOON).toBe(0);
      const claims = system.events.all("Claimed", ({ claim }) => claim.prover === made.claim.prover);
      expect(claims.map(({ claimId }) => claimId)).toEqual([made.claimId, other.claimId]);
      await Promise.all([signer.stop(), standby.stop()]);
      proxy.stop();
    },
  );
});

describe("PostgreSQL fails in the middle of a dispute", () => {
  const { hangs, isStopped, takesNoWrites } = postgresFaults(() => postgres);
  const FAULTS = [isStopped, hangs, takesNoWrites];

  // The others look to a daemon like one that is gone; daemons of a fleet meet one that hangs, in fleet.test.ts.
  test.each(FAULTS.slice(0, scaled(1, FAULTS.length)))(
    "behavior: it %s: owed answers are sent, nothing is claimed until it is back",
    async (_, fail, mend) => {
      const { index, signer, standby, made } = await startPair();
      const metric = await metricOf(signer);
      await fail();
      try {
        await signer.logged(GONE);
        await challenge(made);
        const { traceRoot } = await answered(made);
        await demandAnswer(made, traceRoot);
        const waiting = await fileCase(system, index);
        expect(await metric("assay_database_up")).toBe(0);
        expect(await metric("assay_journal_unshared")).toBeGreaterThan(0);
        const head = await system.client.getBlockNumber();
        await expect.poll(async () => (await system.client.getBlockNumber()) > head + 4n, SOON).toBe(true);
        expect(system.events.all("Claimed", ({ requestId }) => requestId === waiting.requestId)).toEqual([]);
        await mend();
        const since = Date.now();
        await waiting.claimed();
        expect(Date.now() - since).toBeLessThan(30_000);
      } finally {
        await mend().catch(() => undefined);
      }
      await expect.poll(() => metric("assay_journal_unshared"), SOON).toBe(0);
      const schema = schemaNameOf({
        chainId: system.chain.game.chainId,
        account: systemAccount(index).address,
      });
      const [row] = await postgres.query<{ state: string }>(
        `SELECT state FROM ${schema}.actions WHERE key = 'commitTrace:${made.claimId}'`,
      );
      expect(["mined", "done"]).toContain(row?.state);
      await expectSentOnce(system, index);
      await Promise.all([signer.stop(), standby.stop()]);
      for (const { log } of [signer, standby]) expect(readFileSync(log, "utf8")).not.toContain(PASSWORD);
    },
  );

  longTest(
    "behavior: it and the signer are gone together: another daemon answers in the second half of the time",
    async () => {
      const { index, signer, standby, made } = await startPair();
      await Promise.all([kill(signer), postgres.crash()]);
      try {
        await standby.logged(GONE);
        await challenge(made);
        const { reason } = await standby.logged("a job is not done yet");
        expect(reason).toContain(`commitTrace:${made.claimId} is not begun`);
        expect(system.events.all("TraceCommitted", of(made))).toEqual([]);
        await system.passTime(ANSWER_SECONDS / 2);
        await answered(made);
      } finally {
        await postgres.start();
      }
      await standby.logged(SIGNS);
      await expectSentOnce(system, index);
      await standby.stop();
    },
  );
});
