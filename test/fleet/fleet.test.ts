/** A fleet on PostgreSQL: provers of two keys, challengers of two and workers, each on a machine of its own, of which any
 *  is killed, hangs or is cut off at random, and PostgreSQL with them, while requests on the chain, signed answers and
 *  batches come in, right ones are disputed, and cheats hide wrong ones. `npm run test:fleet` plays a short form with
 *  every kind of fault once, TEST_DEPTH=deep some minutes, TEST_DEPTH=nightly a long night with 100,000 answers.
 *  FLEET_SEED plays other faults. */
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from "vitest";
import { modelFolder } from "../../cli/model-source.ts";
import { schemaNameOf } from "../../protocol/service/postgres/schema.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { expectInOrder } from "../support/audit.ts";
import { Cheats } from "../support/fleet-run/cheats.ts";
import { injectFaults, memberVictim, type Pace, postgresVictim } from "../support/fleet-run/faults.ts";
import { canIsolate } from "../support/fleet-run/hosts.ts";
import { Member, type MemberPlan } from "../support/fleet-run/member.ts";
import {
  begunActions,
  fallsOf,
  journalFaults,
  leafFaults,
  plainFaults,
  type Sent,
  sentTwice,
  transactionsOf,
  unpaidTickets,
} from "../support/fleet-run/outcome.ts";
import { Traffic } from "../support/fleet-run/traffic.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { PromiseLog } from "../support/promises/promise-log.ts";
import { promisesBy } from "../support/promises/signed-answers.ts";
import { createRng } from "../support/rng.ts";
import { scaled } from "../support/scale.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const SEED = Number(process.env.FLEET_SEED ?? 1);
// So long that its deadlines are met on a machine that is busy with other things; the window ends within `--max-window`.
const ANSWER_SECONDS = 600;
const W0 = 4 * ANSWER_SECONDS;
const DAY = 86_400;
const ETHER = 10n ** 18n;
const [SIGNING, SECOND_CHALLENGER, IDLE_CHALLENGER, HIDER, OPENER, MALICIOUS] = [5, 6, 10, 7, 8, 9];
const PROVERS = [ROLES.prover, SIGNING];
const CHALLENGERS = [ROLES.challenger, SECOND_CHALLENGER];
/** Whose daemons share a journal. */
const JOURNALLED = [ROLES.prover, ...CHALLENGERS];
/** What honest provers answer, how much of it is disputed, and what is wrong. */
const PLAY = scaled(
  {
    ...{ plain: 10, signed: 8, leaves: 32, disputed: 2, opened: 1 },
    wrong: { plain: 4, signed: 1, leaves: 6, batches: 2, batchSize: 20 },
    ...{ leastMs: 30_000, workers: 2 },
  },
  {
    ...{ plain: 600, signed: 1_400, leaves: 8_000, disputed: 20, opened: 10 },
    wrong: { plain: 20, signed: 10, leaves: 150, batches: 8, batchSize: 300 },
    ...{ leastMs: 180_000, workers: 4 },
  },
  {
    // Plain ones so seldom that a key which changes hands several times a minute keeps up with them on two cores.
    ...{ plain: 1_000, signed: 12_000, leaves: 87_000, disputed: 60, opened: 30 },
    wrong: { plain: 60, signed: 30, leaves: 300, batches: 20, batchSize: 500 },
    ...{ leastMs: 1_800_000, workers: 4 },
  },
);
/** A signer is taken for dead after 4 s, a challenger after 5 s: short faults are over before that, long ones after.
 *  With more at once, one after the other, a key would be without all its daemons for a large part of T. */
const PACE = scaled<Pace>(
  {
    lengthsMs: [
      [300, 1_500],
      [5_500, 7_000],
    ],
    betweenMs: [200, 800],
    atOnce: 3,
    rounds: 1,
  },
  {
    lengthsMs: [
      [300, 3_000],
      [6_000, 14_000],
    ],
    betweenMs: [500, 3_000],
    atOnce: 2,
    rounds: 5,
  },
  {
    lengthsMs: [
      [300, 3_000],
      [6_000, 14_000],
    ],
    betweenMs: [500, 3_000],
    atOnce: 2,
    rounds: 12,
  },
);
/** After the faults everything is there again; only a machine that is busy with other things takes long. */
const PATIENCE_MS = scaled(900_000, 900_000, 3_600_000);
/** Of the whole run. */
const LIMIT_MS = scaled(1_800_000, 5_400_000, 43_200_000);
const NOTE_AGAIN_MS = 20_000;

let system: System;
let postgres: Postgres;
let log: PromiseLog;
const members: Member[] = [];
const startedAt = Date.now();
/** Beside the logs of the daemons. */
const timelinePath = () => join(system.folder, "timeline.log");
const note = (what: string): void => {
  appendFileSync(timelinePath(), `${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${what}\n`);
};

const addressesOf = (accounts: readonly number[]) => accounts.map((index) => systemAccount(index).address);

/** Three provers of two keys, three challengers of two, and the workers that they ask. */
function plans(database: string, cache: string): MemberPlan[] {
  const asks = ["--workers", "all", "--worker-seconds", "5"];
  const many = ["--max-bonds", "1000ether", ...asks];
  const claims = { kind: "prover", account: ROLES.prover, args: many, database } as const;
  const signs = ["--sign", "on", "--batch-seconds", "2", "--rate-per-minute", "0", "--max-window", "1"];
  const shards = ["--shards", "on", "--attention-seconds", "0", "--max-exposure", "1000ether", ...asks];
  const checks = { kind: "challenger", args: shards, database } as const;
  return [
    { ...claims, name: "prover-a" },
    { ...claims, name: "prover-b" },
    // Signed answers are kept in the folder, and refused beside a database.
    { kind: "prover", name: "signing-prover", account: SIGNING, args: signs },
    { ...checks, name: "challenger-a", account: ROLES.challenger },
    { ...checks, name: "challenger-b", account: ROLES.challenger },
    { ...checks, name: "challenger-c", account: SECOND_CHALLENGER },
    ...Array.from(
      { length: PLAY.workers },
      (_, n): MemberPlan => ({ kind: "worker", name: `worker-${n + 1}`, args: [], database, cache }),
    ),
  ];
}

beforeAll(async () => {
  // One for each daemon, which ends with this process.
  process.setMaxListeners(200);
  postgres = await startPostgres();
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  log = new PromiseLog(system.chain);
});
afterAll(async () => {
  await Promise.all(members.map((member) => member.stop()));
  await log?.stop();
  await system?.stop();
  await postgres?.stop();
});

/** Waits until nothing is missing. @param missing what is, each as a sentence */
async function until(what: string, missing: () => Promise<readonly string[]> | readonly string[]) {
  note(`waiting: ${what}`);
  const end = Date.now() + PATIENCE_MS;
  let noteAt = Date.now() + NOTE_AGAIN_MS;
  for (;;) {
    const left = await missing();
    if (left.length === 0) return;
    if (Date.now() > noteAt) {
      noteAt = Date.now() + NOTE_AGAIN_MS;
      note(`still missing: ${left.length}, the first is: ${left[0]}`);
    }
    if (Date.now() > end)
      throw new Error(
        `${what}: ${left.length} are missing after ${PATIENCE_MS} ms: ${left.slice(0, 10).join("; ")}`,
      );
    await setTimeout(500);
  }
}

/** Members of a kind whose metric is not this number. */
async function unlike(kind: MemberPlan["kind"], name: string, wanted = 0): Promise<string[]> {
  const values = await Promise.all(
    members
      .filter(({ plan }) => plan.kind === kind)
      .map(async (one) => [one.plan.name, await one.metric(name)] as const),
  );
  return values
    .filter(([, value]) => value !== wanted)
    .map(([who, value]) => `${name} of ${who} is ${value}`);
}

/** One that says that it lives and checks nothing: its claims are everybody's after a quarter of their window. */
async function addIdleChallenger(): Promise<void> {
  const keys = CHALLENGERS.length;
  await until("challengers divide the checks", () => unlike("challenger", "assay_challenger_shards", keys));
  const { assay, chainId } = system.chain.game;
  const schema = schemaNameOf({ chainId, account: assay });
  await postgres.query(`INSERT INTO ${schema}.challengers VALUES ($1, 'idle', 'infinity')`, [
    systemAccount(IDLE_CHALLENGER).address,
  ]);
  await until("one more is among them", () => unlike("challenger", "assay_challenger_shards", keys + 1));
}

async function shiftTime(seconds: number): Promise<void> {
  note(`${seconds} s pass`);
  await system.passTime(seconds);
}

describe("a fleet of provers, challengers and workers", () => {
  test(
    "behavior: faults of every kind at random: nothing is sent twice, no deadline is missed, nothing wrong stands",
    async () => {
      onTestFailed(() => {
        const kept = join(projectRoot, "build", `fleet-${SEED}`);
        mkdirSync(kept, { recursive: true });
        for (const name of readdirSync(system.folder).filter((file) => file.endsWith(".log")))
          cpSync(join(system.folder, name), join(kept, name));
        process.stderr.write(
          `FLEET_SEED=${SEED}; logs are in ${kept}\n${readFileSync(timelinePath(), "utf8")}`,
        );
      });
      if (!canIsolate)
        process.stdout.write("No network namespaces here: hosts are cut off by proxies alone.\n");
      const opener = await system.open("opener", OPENER);
      const { actions, must } = promisesBy(opener);
      for (const index of [SIGNING, ROLES.cheat, HIDER])
        await must(actions.deposit(systemAccount(index).address, 1_000n * ETHER, `${index}`));
      const around = { system, note, databasePort: Number(new URL(postgres.url).port) };
      const { modelId } = system.model("sentiment");
      const cache = join(system.folder, "worker-models");
      cpSync(modelFolder("sentiment"), join(cache, modelId), { recursive: true });
      for (const plan of plans(postgres.url, cache)) members.push(await Member.start(plan, around));
      const signing = members.find(({ plan }) => plan.name === "signing-prover") as Member;
      const traffic = new Traffic(system, log, opener, await system.open("malicious", MALICIOUS));
      const accounts = { liar: ROLES.cheat, hider: HIDER };
      const [cheats] = await Promise.all([
        Cheats.start(system, log, traffic, accounts),
        ...members.map((member) => member.up()),
      ]);
      await addIdleChallenger();
      note("all are up");

      const rng = createRng(SEED);
      const { plain, signed, leaves, disputed, opened, wrong, leastMs } = PLAY;
      let isAsked = false;
      const asking = Promise.all([
        traffic.file(plain, ROLES.prover, disputed, leastMs),
        traffic.sign(signing, signed, opened, leastMs),
        traffic.batch(signing, leaves, leastMs),
        cheats.play(wrong, rng, leastMs),
      ]).finally(() => {
        isAsked = true;
        note("all is asked");
      });
      const victims = [...members.map(memberVictim), postgresVictim(postgres)];
      const [counts] = await Promise.all([
        injectFaults(createRng(SEED), victims, PACE, () => isAsked, note),
        asking,
      ]);
      await Promise.all([traffic.settled(), ...members.map((member) => member.up())]);
      const answered = await finish(traffic, cheats);
      const faults = [...counts]
        .sort()
        .map(([kind, count]) => `${kind}: ${count}`)
        .join(", ");
      process.stdout.write(`fleet, seed ${SEED}: ${answered}; ${faults}\n`);
    },
    LIMIT_MS,
  );
});

/** Lets everything end, and compares. @returns what there was */
async function finish(traffic: Traffic, cheats: Cheats): Promise<string> {
  const [claiming, signing] = addressesOf(PROVERS) as [`0x${string}`, `0x${string}`];
  await until("all answers are on the chain", () => [
    ...plainFaults(system, traffic, ROLES.prover),
    ...leafFaults(log, traffic, signing),
  ]);
  await shiftTime(ANSWER_SECONDS + 1);
  await until("everything is checked, and who answers has fallen", async () => [
    ...cheats.undoubted(),
    ...cheats.unfallen("liar"),
    ...(await unlike("challenger", "assay_challenger_claims_unchecked")),
    ...(await unlike("challenger", "assay_challenger_batches_unchecked")),
  ]);
  await cheats.stop();
  await shiftTime(ANSWER_SECONDS + 1);
  await until("what is new since is checked", async () => [
    ...(await unlike("challenger", "assay_challenger_claims_unchecked")),
  ]);
  await shiftTime(ANSWER_SECONDS + 1);
  await until("everything wrong has fallen", () => cheats.unfallen());
  await shiftTime(DAY + W0 + ANSWER_SECONDS + 1);
  const finals = () => new Set(system.events.all("Finalized").map(({ claimId }) => claimId as string));
  const claims = () => system.events.all("Claimed", ({ claim }) => claim.prover === claiming);
  const closed = () => new Map(log.all("Closed").map(({ origin, fallen }) => [origin as string, fallen]));
  const ownBatches = () =>
    log.all("Posted", ({ prover }) => prover === signing).map(({ batchId }) => batchId);
  await until("everything right is final, and tickets are paid", () => {
    const [ended, final] = [closed(), finals()];
    const released = new Set(log.all("Released").map(({ batchId }) => batchId));
    return [
      ...claims()
        .filter(({ claimId }) => !final.has(claimId))
        .map(({ claimId }) => `claim ${claimId}`),
      ...traffic.openedDigests(true).filter((digest) => ended.get(digest) !== false),
      ...ownBatches()
        .filter((id) => !released.has(id))
        .map((id) => `batch ${id}`),
      ...unpaidTickets(system, addressesOf(CHALLENGERS)),
    ];
  });
  await until("journals are shared, and nothing is on its way", async () => [
    ...(await unlike("prover", "assay_journal_unshared")),
    ...(await unlike("challenger", "assay_journal_unshared")),
    ...(await unlike("prover", "assay_transactions_unmined")),
    ...(await unlike("challenger", "assay_transactions_unmined")),
    ...(await unlike("worker", "assay_worker_running")),
  ]);
  const settled = new Map(
    await Promise.all(
      JOURNALLED.map(async (account) => [account, await begunActions(system, postgres, account)] as const),
    ),
  );
  const journalFaultsOf = (account: number, transactions: readonly Sent[]) =>
    journalFaults(system, postgres, account, transactions, settled.get(account) ?? new Set());
  await until("journals are as the chain is", async () => {
    const sent = await transactionsOf(system, JOURNALLED);
    const faults = [...sent].map(([account, transactions]) => journalFaultsOf(account, transactions));
    return (await Promise.all(faults)).flat();
  });
  expect(await unlike("challenger", "assay_challenger_circuit_breaker")).toEqual([]);
  expect(await unlike("challenger", "assay_challenger_batches_uncovered_total")).toEqual([]);
  await Promise.all(members.map((member) => member.stop()));

  expect(members.flatMap(({ unexplained }) => unexplained)).toEqual([]);
  expect(members.flatMap((member) => member.lines(PASSWORD))).toEqual([]);
  expect(members.flatMap((member) => member.lines("a worker's answer is wrong"))).toEqual([]);
  expect(
    members.flatMap((member) => member.lines("a claim was not checked by the challenger whose it was")),
  ).not.toEqual([]);
  // It loads a model for its first order.
  const idle = members.filter(
    (one) => one.plan.kind === "worker" && one.lines("a model is loaded").length === 0,
  );
  expect(idle.map(({ plan }) => plan.name)).toEqual([]);
  expect(fallsOf(system, [claiming, signing])).toEqual([]);
  expect(cheats.rightLeavesOpened()).toEqual([]);
  expect(cheats.final()).toEqual([]);
  const right = [...traffic.signed.values()].filter(({ claim }) => claim.prover === signing);
  expect(right.filter((presented) => !traffic.isRight(presented))).toEqual([]);
  expect(new Set(right.map(({ claim }) => claim.salt)).size).toBe(right.length);

  const sent = await transactionsOf(system, [...PROVERS, ...CHALLENGERS]);
  const failed = [];
  for (const [account, transactions] of sent) {
    expect(transactions.map(({ nonce }) => nonce)).toEqual(transactions.map((_, nonce) => nonce));
    expect(sentTwice(transactions), `sent twice by account ${account}`).toEqual([]);
    failed.push(...transactions.filter(({ succeeded }) => !succeeded));
    if (JOURNALLED.includes(account))
      expect(await journalFaultsOf(account, transactions), `journal of ${account}`).toEqual([]);
  }
  const { claims: endings } = await expectInOrder(system.chain);
  const all = [...sent.values()].reduce((sum, { length }) => sum + length, 0);
  return `${traffic.plain.length} requests, ${right.length} signed answers, ${traffic.leaves.size} of them in ${ownBatches().length} batches, ${cheats.count} wrong claims, promises and batches; ${Object.values(endings).reduce((sum, count) => sum + count, 0)} claims audited; ${all} transactions, ${failed.length} refused`;
}
