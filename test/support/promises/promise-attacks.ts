/** One random move of somebody who cheats: each stands for a way out, or for a way to hurt an honest prover. */
import type { Address } from "viem";
import type { ClaimState } from "../../../protocol/rules/machine.ts";
import { leastBond } from "../../../protocol/rules/promises/money.ts";
import type { Filed } from "../../../protocol/rules/promises/state.ts";
import { type ClaimId, LANE, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import { POSITIONS } from "../echo-model.ts";
import {
  BONDED,
  DAY,
  dueFor,
  dueForLeaf,
  GARBAGE_TRACE,
  issue,
  offer,
  openAs,
  openLeafAs,
  pickLive,
  postAs,
  RIGHT_TRACES,
  verdictOn,
  WRONG_TRACES,
} from "./promise-actors.ts";
import { KEYS, MODELS, PEOPLE, type Side } from "./promise-models.ts";
import { factsOf, type Promised, type PromiseTable } from "./promise-table.ts";

export type Attack = (table: PromiseTable) => void;
const { cheat, honest, friend, sybil, wallet } = PEOPLE;
const HELPERS = [cheat, friend, sybil];

export const leastBondOf = (table: PromiseTable, model: number, baseFee = 2n): bigint =>
  leastBond(table.state, MODELS[model]?.depth ?? 0, baseFee, table.rules);

/** Signs something that a buyer may take: mostly plausible, now and then with one thing wrong. */
export function promiseSomething(table: PromiseTable): void {
  const { rng, now } = table;
  const odd = rng.chance(0.35) ? rng.int(0, 7) : -1;
  const free = table.account(cheat).free;
  const life = rng.pick([table.answerSeconds, 60, 3_600, DAY, 2 * DAY]);
  const promised = issue(table, cheat, {
    model: odd === 0 ? 2 : odd === 1 ? 3 : rng.pick(BONDED),
    side: odd === 2 ? "long" : rng.chance(0.7) ? "wrong" : "right",
    isCanonical: odd !== 3,
    issuedAt:
      odd === 4 ? now + rng.pick([table.answerSeconds + 1, DAY, 40 * DAY]) : now - rng.pick([0, 0, 0, 100]),
    expiry: now + (odd === 4 ? 41 * DAY : life),
    minBond: rng.pick([0n, 0n, free, free / 2n, free * 100n]),
    signer: odd === 5 ? wallet : odd === 6 ? KEYS.thief[0].address : rng.pick(KEYS.cheat).address,
    isEcdsa: odd !== 5,
    // The same salt again, for a request id that collides.
    salt: BigInt(rng.int(0, 1)),
  });
  offer(table, promised);
}

const own = (
  table: PromiseTable,
  test: (promised: Promised) => boolean = () => true,
): Promised | undefined => {
  const found = table.issued.filter((promised) => promised.claim.prover === cheat && test(promised));
  return found.length === 0 ? undefined : table.rng.pick(found);
};

const isQueued = (table: PromiseTable) => (promised: Promised) =>
  table.state.signed.get(promised.digest)?.status === "QUEUED";

/** What a cheating prover may do with its own. */
export const CHEATING: Readonly<Record<string, Attack>> = {
  promise: promiseSomething,
  promiseAgain: promiseSomething,
  deposit(table) {
    const value = leastBondOf(table, table.rng.pick(BONDED)) / table.rng.pick([1n, 3n]);
    table.do({ kind: "deposit", from: cheat, prover: cheat, value });
  },
  announceExit(table) {
    const { free } = table.account(cheat);
    table.do({
      kind: "announceExit",
      from: cheat,
      amount: table.rng.pick([free, free, free / 2n, free + 1n]),
    });
  },
  exit(table) {
    table.do({ kind: "exit", from: cheat, to: friend });
  },
  /** Takes its stake and runs. */
  runAway(table) {
    const { free } = table.account(cheat);
    if (free > 0n) table.do({ kind: "announceExit", from: cheat, amount: free });
    table.do({ kind: "exit", from: cheat, to: friend });
  },
  unbind(table) {
    const { rng, now, answerSeconds } = table;
    const until = rng.pick([0, now, now + answerSeconds, now + answerSeconds]);
    table.do({ kind: "setSigner", from: cheat, key: rng.pick(KEYS.cheat).address, until });
  },
  bind(table) {
    table.do({
      kind: "setSigner",
      from: cheat,
      key: table.rng.pick(KEYS.cheat).address,
      until: table.now + 3 * DAY,
    });
  },
  /** Opens its own promise, or the buyer's before the buyer does. */
  openOwn(table) {
    const promised = own(table);
    if (promised !== undefined) openAs(table, table.rng.pick(HELPERS), promised);
  },
  openForBuyer(table) {
    const waiting = table.accepted.filter(({ digest }) => !table.state.signed.has(digest));
    if (waiting.length > 0) openAs(table, friend, table.rng.pick(waiting));
  },
  openCheaply(table) {
    const promised = own(table);
    if (promised !== undefined) openAs(table, friend, promised, dueFor(table, promised) / 2n);
  },
  takeBack(table) {
    const promised = own(table, isQueued(table));
    if (promised === undefined) return;
    const opener = table.state.signed.get(promised.digest)?.opener ?? friend;
    table.do({ kind: "takeBack", from: table.rng.chance(0.8) ? opener : sybil, digest: promised.digest });
  },
  takeBackOther(table) {
    const promised = own(table, ({ digest }) => table.state.signed.has(digest));
    if (promised !== undefined) table.do({ kind: "takeBack", from: friend, digest: promised.digest });
  },
  pass(table) {
    const { queue } = table.account(cheat);
    const behind = own(table, isQueued(table))?.digest ?? queue[0];
    if (behind !== undefined) table.do({ kind: "passNext", from: friend, prover: cheat, behind });
  },
  passForAny(table) {
    const behind = own(table)?.digest;
    if (behind !== undefined) table.do({ kind: "passNext", from: friend, prover: cheat, behind });
  },
  jumpQueue(table) {
    const promised = own(table, isQueued(table));
    if (promised === undefined) return;
    const { claim, input, output } = promised;
    table.do({ kind: "openNext", from: friend, claim, input, output });
  },
  /** Opens a wrong promise with the right output. */
  openAsRight(table) {
    const promised = own(table, ({ isWrong, model }) => isWrong && model < 2);
    if (promised === undefined) return;
    const { claim, input, model } = promised;
    const output = factsOf(model).right;
    if (isQueued(table)(promised)) table.do({ kind: "openNext", from: friend, claim, input, output });
    else openAs(table, friend, { ...promised, output });
  },
  post(table) {
    const { rng } = table;
    const leaves = Array.from(
      { length: rng.pick([1, 2, 3, 5]) },
      (): Side => (rng.chance(0.3) ? "wrong" : "right"),
    );
    const window = rng.pick([table.turn, table.turn, 3_600, 7 * DAY, table.turn - 1, 60 * DAY]);
    const from = rng.chance(0.7) ? cheat : rng.pick(KEYS.cheat).address;
    postAs(table, from, cheat, {
      model: rng.pick([0, 0, 1, 2]),
      leaves,
      window,
      leafBond: rng.pick([0n, 1_000n]),
    });
  },
  postAgain(table) {
    const before = table.posted.filter(({ prover }) => prover === cheat);
    if (before.length === 0) return;
    const { batchId, model, leaves } = table.rng.pick(before);
    const window = table.state.batches.get(batchId)?.window ?? 0;
    const again = postAs(table, cheat, cheat, { model, leaves, window, leafBond: 0n });
    if (again !== undefined) table.posted.pop();
  },
  openOwnLeaf(table) {
    openSomeLeaf(table, cheat);
  },
  /** So many leaves that some wait. */
  crowdLeaves(table) {
    for (let leaf = 0; leaf < 5; leaf += 1) openSomeLeaf(table, cheat);
  },
  dropOwnLeaf(table) {
    const before = table.posted.filter(({ prover }) => prover === cheat);
    if (before.length > 0)
      table.do({ kind: "dropLeaf", from: friend, batchId: table.rng.pick(before).batchId });
  },
  release(table) {
    if (table.posted.length > 0)
      table.do({ kind: "release", from: friend, batchId: table.rng.pick(table.posted).batchId });
  },
  commitTrace(table) {
    const live = pickLive(table, cheat);
    if (live === undefined) return;
    const [claimId] = live;
    const model = table.modelOf(claimId);
    const traceRoot = table.rng.pick([RIGHT_TRACES[model], WRONG_TRACES[model]]) as `0x${string}`;
    table.do({
      kind: "commitTrace",
      from: table.rng.pick([cheat, KEYS.cheat[0].address]),
      claimId,
      traceRoot,
    });
  },
  sybilTicket(table) {
    const live = pickLive(table);
    if (live !== undefined) ticket(table, live[0]);
  },
  closeEarly(table) {
    const all = [...table.state.filed.keys()];
    if (all.length > 0) table.do({ kind: "close", from: friend, claimId: table.rng.pick(all) });
  },
  /** Whoever a claim's operator is may answer for it: a key that was unbound says nothing more. */
  proveWrong(table) {
    const live = pickLive(table);
    if (live !== undefined) proofOf(table, live[0]);
  },
  withdraw(table) {
    table.do({ kind: "withdraw", from: table.rng.pick(HELPERS), to: friend });
  },
};

function ticket(table: PromiseTable, claimId: ClaimId): void {
  const claim = table.state.assay.claims.get(claimId) as ClaimState;
  const from = table.rng.pick([friend, sybil]);
  if (!claim.tickets.has(from)) {
    table.inAssay({ kind: "challenge", from, claimId, value: claim.claim.ticketBond });
  } else if (claim.traceRoot !== undefined) {
    const { traceRoot } = claim;
    table.inAssay({ kind: "demand", from, claimId, traceRoot, position: POSITIONS[0] as bigint });
  }
}

/** A proof of anything, by whoever made the model's key: the owner of the model is the cheat. */
function proofOf(table: PromiseTable, claimId: ClaimId): void {
  const { requestId } = table.state.filed.get(claimId) as Filed;
  const facts = factsOf(table.modelOf(claimId));
  const outputHash = table.rng.pick([facts.right.hash, facts.wrong.hash]);
  const move = { kind: "settle", from: friend, requestId, claimId, lane: LANE.PROOF, outputHash } as const;
  table.inAssay({ ...move, accepted: true });
}

function openSomeLeaf(table: PromiseTable, prover: Address): void {
  const batches = table.posted.filter((posted) => posted.prover === prover);
  if (batches.length === 0) return;
  const { batchId, leaves } = table.rng.pick(batches);
  const right = leaves.flatMap((side, index) => (side === "right" || table.rng.chance(0.2) ? [index] : []));
  if (right.length > 0) openLeafAs(table, friend, batchId, table.rng.pick(right));
}

const ofHonest = (table: PromiseTable): Promised | undefined => {
  const found = table.issued.filter(({ claim }) => claim.prover === honest);
  return found.length === 0 ? undefined : table.rng.pick(found);
};

/** What strangers may do to an honest prover. */
export const HURTING: Readonly<Record<string, Attack>> = {
  stuff(table) {
    const promised = ofHonest(table);
    if (promised !== undefined) openAs(table, friend, promised);
  },
  openCheaply(table) {
    const promised = ofHonest(table);
    if (promised !== undefined) openAs(table, friend, promised, 0n);
  },
  openOtherOutput(table) {
    const promised = ofHonest(table);
    if (promised === undefined) return;
    const output = factsOf(promised.model).wrong;
    const { claim, input, signature } = promised;
    openAs(table, friend, { ...promised, output });
    if (table.account(honest).queue[0] === promised.digest) {
      table.do({ kind: "openNext", from: friend, claim, input, output });
    }
    // A claim that was changed is another one, which nobody signed: a signature recovers to some other key.
    const changed = { ...claim, outputHash: output.hash };
    openAs(table, friend, {
      ...promised,
      claim: changed,
      output,
      signature: { ...signature, signer: wallet },
    });
  },
  openOtherInput(table) {
    const promised = ofHonest(table);
    if (promised === undefined) return;
    const { claim, output, model } = promised;
    const input = factsOf(model).otherInput;
    openAs(table, friend, { ...promised, input });
    if (table.account(honest).queue[0] === promised.digest) {
      table.do({ kind: "openNext", from: friend, claim, input, output });
    }
  },
  forge(table) {
    const signer = table.rng.pick([ZERO_ADDRESS, wallet, KEYS.thief[0].address, KEYS.cheat[0].address]);
    const isEcdsa = signer !== wallet;
    const forged = issue(table, honest, {
      ...{
        model: table.rng.pick(BONDED),
        side: "wrong",
        isCanonical: true,
        issuedAt: table.now,
        minBond: 0n,
      },
      ...{ expiry: table.now + 100, signer, isEcdsa, salt: BigInt(table.rng.int(0, 9)) },
    });
    // Nobody counts on it, and it is none of the honest prover's own.
    table.issued.pop();
    openAs(table, friend, forged);
  },
  openLeaf(table) {
    openSomeLeaf(table, honest);
  },
  openLeafCheaply(table) {
    const posted = table.posted.findLast(({ prover }) => prover === honest);
    if (posted === undefined) return;
    const batch = table.state.batches.get(posted.batchId);
    if (batch !== undefined) openLeafAs(table, friend, posted.batchId, 0, dueForLeaf(table, batch) / 2n);
  },
  openWrongLeaf(table) {
    const posted = table.posted.findLast(({ prover }) => prover === honest);
    if (posted === undefined) return;
    const { batchId, model } = posted;
    const batch = table.state.batches.get(batchId);
    if (batch === undefined) return;
    const { input, wrong: output } = factsOf(model);
    const value = dueForLeaf(table, batch);
    table.do({ kind: "openLeaf", from: friend, batchId, index: 0, value, input, output, folds: false });
    if (batch.queue.length > 0)
      table.do({ kind: "nextLeaf", from: friend, batchId, input, output, matches: false });
  },
  postForHonest(table) {
    postAs(table, friend, honest, { model: 0, leaves: ["wrong"], window: table.turn, leafBond: 0n });
  },
  commitForHonest(table) {
    const live = pickLive(table, honest);
    if (live === undefined) return;
    const [claimId] = live;
    // A key that the prover gave up is in strange hands.
    const { keys } = table.account(honest);
    const given = KEYS.honest.map(({ address }) => address).filter((key) => table.now > (keys.get(key) ?? 0));
    const from = table.rng.pick([friend, ...given]);
    const made = table.do({ kind: "commitTrace", from, claimId, traceRoot: GARBAGE_TRACE });
    if (!made.ok) table.inAssay({ kind: "commitTrace", from, claimId, traceRoot: GARBAGE_TRACE });
  },
  /** A ticket, garbage in the prover's name, and a conviction of it. */
  dispute(table) {
    HURTING.challenge?.(table);
    HURTING.commitForHonest?.(table);
    HURTING.convict?.(table);
  },
  /** Many leaves, so that some wait, and another payload for the first of them. */
  stuffLeaves(table) {
    for (let leaf = 0; leaf < 4; leaf += 1) openSomeLeaf(table, honest);
    HURTING.openWrongLeaf?.(table);
  },
  stuffQueue(table) {
    for (let promise = 0; promise < 4; promise += 1) HURTING.stuff?.(table);
    HURTING.openOtherOutput?.(table);
    HURTING.openOtherInput?.(table);
  },
  challenge(table) {
    const live = pickLive(table, honest);
    if (live !== undefined) ticket(table, live[0]);
  },
  convict(table) {
    const live = pickLive(table, honest);
    if (live === undefined) return;
    const [claimId] = live;
    const held = table.state.assay.claims.get(claimId) as ClaimState;
    if (held.traceRoot !== undefined)
      table.inAssay({ kind: "convict", from: friend, claimId, ...verdictOn(table, claimId, held) });
    table.inAssay({ kind: "timeoutTrace", from: friend, claimId });
    for (const position of held.demands.keys())
      table.inAssay({ kind: "timeoutDemand", from: friend, claimId, position });
  },
  prove(table) {
    const live = pickLive(table, honest);
    if (live !== undefined) proofOf(table, live[0]);
  },
  closeTwice(table) {
    const all = [...table.state.filed].filter(([, filed]) => filed.prover === honest);
    if (all.length > 0) table.do({ kind: "close", from: friend, claimId: table.rng.pick(all)[0] });
  },
  openAgain(table) {
    const promised = ofHonest(table);
    if (promised !== undefined && table.state.signed.has(promised.digest)) openAs(table, friend, promised);
  },
};
