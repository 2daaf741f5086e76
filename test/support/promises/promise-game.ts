/** One random game of promises: a cheating prover with friends, an honest prover, a buyer who looks as late as he may, a
 *  challenger of batches, base fees that rise tenfold. Throws a PromiseViolation where a property breaks. */

import type { BatchId } from "../../../protocol/rules/promises/batch.ts";
import { PROMISE_RULES, type PromiseRules } from "../../../protocol/rules/promises/rules.ts";
import { type BatchState, stakeOf } from "../../../protocol/rules/promises/state.ts";
import type { Rng } from "../rng.ts";
import {
  BONDED,
  closeEnded,
  DAY,
  defend,
  dispute,
  endOverdue,
  issue,
  KEYS,
  offer,
  openAs,
  openLeafAs,
  postAs,
  serveBatches,
  serveQueue,
  shuffled,
} from "./promise-actors.ts";
import { CHEATING, HURTING, leastBondOf } from "./promise-attacks.ts";
import { PEOPLE } from "./promise-models.ts";
import { type Accepted, type Posted, PromiseTable, USUAL_FEE } from "./promise-table.ts";
import { finalTime } from "./promise-times.ts";

const { cheat, honest, victim, challenger, wallet } = PEOPLE;
const ROUNDS = 45;

export interface PromiseOutcome {
  readonly table: PromiseTable;
  /** wrong promises that a buyer accepted, and how they ended */
  readonly convicted: number;
  readonly usedUp: number;
  readonly batchesFallen: number;
  readonly batchesFinal: number;
}

/** How those who are honest play this game. */
interface Manner {
  readonly isLate: boolean;
  /** when the challenger of batches looks at each */
  readonly looksAt: Map<BatchId, number>;
  /** second by which the buyer acts on what it can do */
  wakeAt: number;
  feeChangesAt: number;
}

export function playPromises(
  rng: Rng,
  rules: PromiseRules = PROMISE_RULES,
  table = new PromiseTable(rng, rules),
): PromiseOutcome {
  setUp(table);
  const manner: Manner = {
    isLate: rng.chance(0.6),
    looksAt: new Map(),
    ...{ wakeAt: Number.POSITIVE_INFINITY, feeChangesAt: nextFeeChange(table) },
  };
  const cheating = Object.values(CHEATING);
  const hurting = Object.values(HURTING);
  // Each game has its own few kinds of attack, so that they meet.
  const kinds = [CHEATING.promise, ...shuffled(rng, cheating).slice(0, rng.int(3, 12))] as typeof cheating;
  const strangers = shuffled(rng, hurting).slice(0, rng.int(1, 8));
  for (let round = 0; round < ROUNDS; round += 1) {
    const acts = [
      ...Array.from({ length: rng.int(0, 3) }, () => () => rng.pick(kinds)(table)),
      ...(rng.chance(0.5) ? [() => rng.pick(strangers)(table)] : []),
      () => playHonest(table, manner),
    ];
    for (const act of shuffled(rng, acts)) act();
    watch(table, manner);
    advance(table, manner, rng.chance(0.4));
  }
  return finish(table, manner);
}

function setUp(table: PromiseTable): void {
  const { rng } = table;
  // A key that was stolen, and unbound more than a promise's life ago.
  const thief = KEYS.thief[0].address;
  table.do({ kind: "setSigner", from: honest, key: thief, until: table.now + table.answerSeconds });
  table.advance(table.now + table.answerSeconds + DAY + 1);
  const { now } = table;
  const least = leastBondOf(table, rng.pick(BONDED));
  // A check asks for the bond at four times the fee.
  const stake = (rng.pick([10n, 40n, 41n, 41n, 50n, 80n, 200n]) * least) / 10n;
  table.do({ kind: "deposit", from: cheat, prover: cheat, value: stake });
  table.do({
    kind: "deposit",
    from: honest,
    prover: honest,
    value: rng.pick([12n, 20n, 60n]) * leastBondOf(table, 1),
  });
  for (const [prover, keys] of [
    [cheat, KEYS.cheat],
    [honest, KEYS.honest],
  ] as const) {
    table.do({ kind: "setSigner", from: prover, key: keys[0].address, until: now + 90 * DAY });
  }
  table.do({ kind: "setSigner", from: cheat, key: wallet, until: now + 90 * DAY });
}

function playHonest(table: PromiseTable, manner: Manner): void {
  const { rng, now } = table;
  defend(table, manner.isLate);
  closeEnded(table, honest, honest);
  serveQueue(table, honest, honest);
  serveBatches(table, honest, honest);
  const { keys } = table.account(honest);
  if (rng.chance(0.03)) {
    const until = now + table.answerSeconds;
    table.do({ kind: "setSigner", from: honest, key: KEYS.honest[0].address, until });
    table.do({ kind: "setSigner", from: honest, key: KEYS.honest[1].address, until: now + 90 * DAY });
  }
  if (rng.chance(0.15)) {
    const promised = issue(table, honest, {
      ...{ model: rng.pick(BONDED), side: "right", isCanonical: true, issuedAt: now, isEcdsa: true },
      ...{ expiry: now + rng.pick([60, DAY]), minBond: rng.pick([0n, 5_000n]), salt: BigInt(rng.int(0, 99)) },
      signer: (KEYS.honest.find(({ address }) => now <= (keys.get(address) ?? 0)) ?? KEYS.honest[0]).address,
    });
    offer(table, promised);
  }
  if (rng.chance(0.08)) {
    const leaves = Array.from({ length: rng.pick([1, 3, 4]) }, () => "right" as const);
    const window = rng.pick([table.turn, 3_600]);
    postAs(table, honest, honest, {
      model: rng.pick(BONDED),
      leaves,
      window,
      leafBond: rng.pick([0n, 900n]),
    });
  }
  if (rng.chance(0.05))
    table.do({ kind: "announceExit", from: honest, amount: table.account(honest).free / 3n });
  if (rng.chance(0.05)) table.do({ kind: "exit", from: honest, to: honest });
}

/** Buyer and challenger. The late ones let everything wait for as long as they may: T from when they could act. */
function watch(table: PromiseTable, manner: Manner): void {
  show(table);
  openWrongLeaves(table, manner);
  for (const [claimId] of table.live()) {
    const held = table.state.assay.claims.get(claimId);
    if (held === undefined || !table.isWrong(claimId) || !isWatched(table, claimId)) continue;
    // The last second in which a ticket is taken is a deadline of its own.
    if (!held.tickets.has(victim)) dispute(table, victim, claimId, manner.isLate);
  }
  if (!manner.isLate || table.now >= manner.wakeAt) {
    manner.wakeAt = Number.POSITIVE_INFINITY;
    act(table, manner);
  } else if (manner.wakeAt === Number.POSITIVE_INFINITY) {
    manner.wakeAt = table.now + table.answerSeconds;
  }
}

/** Opens what was accepted, by its end. */
function show(table: PromiseTable): void {
  for (const promised of table.accepted) {
    const { claim, digest, showAt, isWrong } = promised;
    const status = table.state.signed.get(digest)?.status ?? "NONE";
    if (!isWrong || table.now < showAt || status !== "NONE") continue;
    const isFirst = !table.state.signed.has(digest);
    if (isFirst && table.now > table.rules.end(claim)) continue;
    checkBacking(table, promised);
    const made = openAs(table, victim, promised);
    if (!made.ok) table.fail(2, `an accepted promise is refused: ${made.refusal}`);
  }
}

/** 2: what the check saw is there, or was lost to other promises. */
function checkBacking(table: PromiseTable, { claim, backing, lostBefore }: Accepted): void {
  const { prover } = claim;
  const lost = (table.lostBy.get(prover) ?? 0n) - lostBefore;
  const stake = stakeOf(table.account(prover));
  if (stake + lost < backing) table.fail(2, `of a stake of ${backing} there is ${stake} left`);
}

const isWatched = (table: PromiseTable, claimId: Parameters<PromiseTable["isWrong"]>[0]): boolean => {
  const of = table.state.filed.get(claimId)?.of;
  if (of === undefined || "batchId" in of) return true;
  const promised = table.accepted.find(({ digest }) => digest === of.digest);
  // A buyer who sleeps sees nothing before he looks.
  return promised !== undefined && table.now >= promised.showAt;
};

function openWrongLeaves(table: PromiseTable, { looksAt }: Manner): void {
  for (const { batchId, leaves, prover } of table.posted) {
    const batch = table.state.batches.get(batchId) as BatchState;
    const last = batch.windowEnd - 1;
    const at = looksAt.get(batchId) ?? table.rng.pick([last, last, table.rng.int(table.now, last)]);
    looksAt.set(batchId, at);
    const wrong = leaves.indexOf("wrong");
    if (prover !== cheat || wrong === -1 || table.now < at || table.now > last || batch.isFallen) continue;
    if ((batch.leaves.get(wrong)?.status ?? "NONE") !== "NONE") continue;
    const made = openLeafAs(table, challenger, batchId, wrong);
    if (!made.ok) table.fail(3, `a wrong leaf is refused: ${made.refusal}`);
  }
}

function act(table: PromiseTable, manner: Manner): boolean {
  let acted = endOverdue(table, victim);
  acted = closeEnded(table, victim) || acted;
  acted = serveQueue(table, victim, cheat) || acted;
  acted = serveBatches(table, challenger) || acted;
  for (const [claimId] of table.live()) {
    if (table.isWrong(claimId) && isWatched(table, claimId)) {
      acted = dispute(table, victim, claimId, manner.isLate) || acted;
    }
  }
  return acted;
}

function nextFeeChange(table: PromiseTable): number {
  return (
    table.now + table.rng.pick([1, table.answerSeconds, table.turn, table.turn + 1, 3_600, DAY, 4 * DAY])
  );
}

/** The next second in which something can happen, never past one in which somebody honest must move. */
function advance(table: PromiseTable, manner: Manner, isStep: boolean): void {
  const { rng, now } = table;
  const times = finalTime(table).filter((time) => time > now);
  const next = Math.min(
    ...times,
    manner.feeChangesAt,
    manner.wakeAt,
    ...[...manner.looksAt.values()].filter((at) => at > now),
  );
  const step = now + rng.int(0, table.answerSeconds);
  const target = isStep ? Math.min(step, next) : next;
  table.advance(Number.isFinite(target) ? Math.max(target, now) : now + DAY);
  if (table.now >= manner.feeChangesAt) {
    table.baseFee =
      table.baseFee > USUAL_FEE || rng.chance(0.3) ? USUAL_FEE : USUAL_FEE * rng.pick([2n, 5n, 10n, 10n]);
    manner.feeChangesAt = nextFeeChange(table);
  }
}

/** The attackers have gone, fees are as usual: everything must come to its end. */
function finish(table: PromiseTable, manner: Manner): PromiseOutcome {
  const calm: Manner = { ...manner, isLate: false, wakeAt: Number.POSITIVE_INFINITY };
  table.setFee(USUAL_FEE);
  calm.feeChangesAt = Number.POSITIVE_INFINITY;
  for (let round = 0; isUnsettled(table) && round < 600; round += 1) {
    defend(table, false);
    for (let turn = 0; turn < 8; turn += 1) {
      watch(table, calm);
      closeEnded(table, honest, honest);
      serveQueue(table, honest, honest);
      serveBatches(table, honest, honest);
    }
    advance(table, calm, false);
  }
  return examine(table);
}

/** Something is still to come, of which the prover's stake is not the reason. */
function isUnsettled(table: PromiseTable): boolean {
  if (table.live().length > 0) return true;
  if (table.account(honest).queue.length > 0) return true;
  for (const { batchId } of table.posted) {
    const batch = table.state.batches.get(batchId) as BatchState;
    if (!batch.isFallen && table.now < batch.windowEnd) return true;
    if (batch.prover === honest && batch.idleSlots > 0) return true;
    if (batch.queue.length > 0 && (batch.isFallen || batch.idleSlots > 0)) return true;
  }
  if (table.accepted.some((promised) => promised.isWrong && isPending(table, promised))) return true;
  const [head] = table.account(cheat).queue;
  return head !== undefined && stakeReaches(table);
}

const isPending = (table: PromiseTable, { digest, showAt, claim }: Accepted): boolean =>
  (table.state.signed.get(digest)?.status ?? "NONE") === "NONE" &&
  (table.now < showAt || table.state.signed.has(digest)) &&
  table.now <= table.rules.end(claim);

/** Some queued promise can still be opened. */
function stakeReaches(table: PromiseTable): boolean {
  const account = table.account(cheat);
  const stake = stakeOf(account);
  return account.queue.some((digest) => {
    const promised = table.issued.find((issued) => issued.digest === digest);
    return promised !== undefined && leastBondOf(table, promised.model) <= stake;
  });
}

function examine(table: PromiseTable): PromiseOutcome {
  if (isUnsettled(table)) table.fail(2, "something never ends");
  let [convicted, usedUp] = [0, 0];
  for (const promised of table.accepted) {
    const { digest, claim, isWrong, model } = promised;
    const entry = table.state.signed.get(digest);
    if (!isWrong || entry === undefined || entry.status === "NONE") continue;
    if (entry.status === "QUEUED") {
      if (leastBondOf(table, model) <= stakeOf(table.account(claim.prover)))
        table.fail(2, "a promise waits for ever");
      usedUp += 1;
      // Whoever opened it gets the deposit back: there is nothing left to wait for.
      const deposit = table.state.credits.get(entry.opener) ?? 0n;
      const made = table.do({ kind: "takeBack", from: entry.opener, digest });
      if (!made.ok || (table.state.credits.get(entry.opener) ?? 0n) <= deposit)
        table.fail(2, "a deposit is locked");
      continue;
    }
    const fallen = [...table.state.filed].some(
      ([claimId, { of }]) =>
        "digest" in of &&
        of.digest === digest &&
        table.state.assay.claims.get(claimId)?.word.state === "FALLEN",
    );
    if (!fallen) table.fail(2, "a wrong promise became final");
    convicted += 1;
  }
  const [batchesFallen, batchesFinal] = examineBatches(table);
  leave(table);
  return { table, convicted, usedUp, batchesFallen, batchesFinal };
}

function examineBatches(table: PromiseTable): [number, number] {
  let [fallen, final] = [0, 0];
  for (const { batchId, leaves, prover } of table.posted as readonly Posted[]) {
    const batch = table.state.batches.get(batchId) as BatchState;
    if (batch.isFallen) {
      if (prover === honest) table.fail(1, "an honest batch fell");
      fallen += 1;
    }
    if (table.finalSince.has(batchId)) {
      if (leaves.includes("wrong")) table.fail(3, "a batch with a wrong leaf is final");
      final += 1;
    } else if (prover === honest) table.fail(3, "a right batch never becomes final");
  }
  return [fallen, final];
}

/** 1: the honest prover takes out everything, and so does everybody who has credit. */
function leave(table: PromiseTable): void {
  const { free } = table.account(honest);
  table.do({ kind: "announceExit", from: honest, amount: free });
  table.advance(table.now + 8 * DAY);
  const made = table.do({ kind: "exit", from: honest, to: honest });
  const left = stakeOf(table.account(honest));
  if (!made.ok || left !== 0n) table.fail(1, `an honest prover cannot leave with ${left}`);
  const out = table.exitedBy.get(honest) ?? 0n;
  if (out < (table.depositedBy.get(honest) ?? 0n)) table.fail(1, `an honest prover left with ${out}`);
  for (const [from, amount] of table.state.credits) {
    if (amount > 0n && !table.do({ kind: "withdraw", from, to: from }).ok)
      table.fail(1, "a credit is locked");
  }
  table.do({ kind: "pullBurn", from: victim });
}
