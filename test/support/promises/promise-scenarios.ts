/** Directed games: what random ones seldom hit. Each is played by the rules, where nothing may break, and without one of
 *  them, where something must. */
import { bondsOf } from "../../../protocol/rules/money.ts";
import type { PromiseRules } from "../../../protocol/rules/promises/rules.ts";
import { stakeOf } from "../../../protocol/rules/promises/state.ts";
import { createRng } from "../rng.ts";
import {
  closeEnded,
  DAY,
  defend,
  dispute,
  dueFor,
  endOverdue,
  issue,
  offer,
  openAs,
  openLeafAs,
  postAs,
  serveBatches,
  serveQueue,
  type Terms,
  verdictOn,
} from "./promise-actors.ts";
import { KEYS, PEOPLE, type Side } from "./promise-models.ts";
import { type Promised, PromiseTable, USUAL_FEE } from "./promise-table.ts";
import { finalTime } from "./promise-times.ts";

const { cheat, honest, victim, challenger, friend, sybil, wallet } = PEOPLE;
export type Scenario = (rules: PromiseRules) => void;

const T = 3;
const [SHALLOW, DEEP] = [0, 1];

function begin(rules: PromiseRules, stake: bigint, prover = cheat): PromiseTable {
  const table = new PromiseTable(createRng(1), rules, T);
  const key = KEYS[prover === honest ? "honest" : "cheat"][0].address;
  table.do({ kind: "deposit", from: prover, prover, value: stake });
  table.do({ kind: "setSigner", from: prover, key, until: table.now + 200 * DAY });
  return table;
}

/** Assay's least bond at the usual fee. */
const leastOf = (table: PromiseTable, depth: number): bigint =>
  bondsOf(table.state.constants, { gasPrice: 5n * USUAL_FEE, depth, minBond: 0n, attempt: 0 }).bond;

function sign(table: PromiseTable, side: Side, changes: Partial<Terms> = {}, prover = cheat): Promised {
  const { now, issued } = table;
  return issue(table, prover, {
    ...{
      model: SHALLOW,
      side,
      isCanonical: true,
      issuedAt: now,
      expiry: now + DAY,
      minBond: 0n,
      isEcdsa: true,
    },
    ...{ signer: KEYS[prover === honest ? "honest" : "cheat"][0].address, salt: BigInt(issued.length) },
    ...changes,
  });
}

/** A promise that passes the check. */
function accepted(table: PromiseTable, side: Side, changes: Partial<Terms> = {}, prover = cheat): Promised {
  const promised = sign(table, side, changes, prover);
  offer(table, promised);
  if (table.accepted.length === 0) throw new Error("nobody accepts this promise");
  return promised;
}

const statusOf = (table: PromiseTable, { digest }: Promised) =>
  table.state.signed.get(digest)?.status ?? "NONE";

/** Time goes by, and everybody honest does at once what there is to do.
 *  @param first what somebody else does in each second before them */
function pass(table: PromiseTable, seconds: number, first: () => void = () => {}, serves = true): void {
  const until = table.now + seconds;
  for (let step = 0; step < 2_000; step += 1) {
    for (let turn = 0; turn < 3; turn += 1) {
      first();
      defend(table, false);
      for (const [claimId] of table.live()) {
        if (table.isWrong(claimId)) dispute(table, victim, claimId, false);
      }
      endOverdue(table, victim);
      closeEnded(table, victim);
      first();
      if (serves) serveQueue(table, victim, cheat);
      serveQueue(table, victim, honest);
      serveBatches(table, challenger);
    }
    if (table.now >= until) return;
    const next = Math.min(until, ...finalTime(table).filter((time) => time > table.now));
    table.advance(next);
  }
}

/** The buyer shows a promise at its end. */
function showAtEnd(table: PromiseTable, promised: Promised): void {
  table.advance(table.rules.end(promised.claim));
  const [first] = table.accepted;
  const stake = stakeOf(table.account(cheat));
  if (first !== undefined && stake + (table.lostBy.get(cheat) ?? 0n) < first.backing) {
    table.fail(2, `of a stake of ${first.backing} there is ${stake} left`);
  }
  const made = openAs(table, victim, promised);
  if (!made.ok) table.fail(2, `an accepted promise is refused: ${made.refusal}`);
}

/** A deep promise waits for a shallow claim of the cheat's own, which holds half of the stake; then the cheat tries for
 *  days to keep it waiting. */
function starve(
  rules: PromiseRules,
  trick: (table: PromiseTable, waiting: Promised) => void,
  { stake = 12n, minBond = 0n, setUp = (_table: PromiseTable) => {}, days = 8, serves = true } = {},
): void {
  const table = begin(rules, 1n);
  table.do({ kind: "deposit", from: cheat, prover: cheat, value: (stake * leastOf(table, 2)) / 10n - 1n });
  setUp(table);
  openAs(table, friend, sign(table, "right"));
  const waiting = sign(table, "wrong", { model: DEEP, minBond });
  openAs(table, victim, waiting);
  for (let day = 0; day < days && statusOf(table, waiting) !== "CLOSED"; day += 1) {
    for (let hours = 0; hours < 24; hours += 6) pass(table, DAY / 4, () => trick(table, waiting), serves);
    if (!serves) serveQueue(table, victim, cheat);
  }
  if (statusOf(table, waiting) !== "CLOSED") table.fail(2, `a promise waits for ${days} days`);
}

/** A queue of its own promises behind the one that waits. */
function refill(table: PromiseTable, model = SHALLOW): Promised | undefined {
  const { queue } = table.account(cheat);
  const own = table.issued.find(({ digest, isWrong }) => !isWrong && queue.includes(digest));
  if (own !== undefined) return own;
  openAs(table, friend, sign(table, "right", { model }));
  return table.issued.at(-1);
}

function passFor(table: PromiseTable, behind: Promised): void {
  const { queue } = table.account(cheat);
  const [head] = queue;
  if (head === behind.digest) openNext(table, behind);
  else table.do({ kind: "passNext", from: friend, prover: cheat, behind: behind.digest });
  if (table.account(cheat).queue[0] === behind.digest) openNext(table, behind);
}

function openNext(table: PromiseTable, { claim, input, output }: Promised): void {
  table.do({ kind: "openNext", from: friend, claim, input, output });
}

const batchOf = (leaves: readonly Side[], window = 3_600) => ({
  model: SHALLOW,
  leaves,
  window,
  leafBond: 0n,
});

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "the cheat takes its stake before the promise is shown": (rules) => {
    const table = begin(rules, 400_000_000n);
    const promised = accepted(table, "wrong");
    table.do({ kind: "announceExit", from: cheat, amount: table.account(cheat).free });
    for (const seconds of [0, DAY - 1]) {
      table.advance(promised.claim.issuedAt + seconds);
      table.do({ kind: "exit", from: cheat, to: friend });
    }
    showAtEnd(table, promised);
    pass(table, DAY);
  },
  "a spike of nine days, and the cheat leaves on the eighth": (rules) => {
    const table = begin(rules, 100_000_000n);
    const promised = accepted(table, "wrong");
    table.do({ kind: "announceExit", from: cheat, amount: table.account(cheat).free });
    table.setFee(20n);
    showAtEnd(table, promised);
    table.advance(table.now + 8 * DAY);
    table.do({ kind: "exit", from: cheat, to: friend });
    table.setFee(USUAL_FEE);
    pass(table, DAY);
    if (statusOf(table, promised) !== "CLOSED") table.fail(2, "a promise waits though fees are low");
  },
  "the cheat opens for the buyer, takes back and leaves": (rules) => {
    const table = begin(rules, 100_000_000n);
    const promised = accepted(table, "wrong");
    table.do({ kind: "announceExit", from: cheat, amount: table.account(cheat).free });
    table.setFee(20n);
    openAs(table, friend, promised);
    table.advance(table.now + 8 * DAY);
    table.do({ kind: "takeBack", from: friend, digest: promised.digest });
    table.do({ kind: "exit", from: cheat, to: friend });
    table.advance(table.now + T);
    if (stakeOf(table.account(cheat)) === 0n) table.fail(2, "the stake has left");
    const made = openAs(table, victim, promised);
    if (!made.ok) table.fail(2, `what was shown is refused: ${made.refusal}`);
    table.do({ kind: "exit", from: cheat, to: friend });
    table.setFee(USUAL_FEE);
    pass(table, DAY);
    if (statusOf(table, promised) !== "CLOSED") table.fail(2, "a promise waits though fees are low");
  },
  "a contract denies its signature": (rules) => {
    const table = begin(rules, 400_000_000n);
    table.do({ kind: "setSigner", from: cheat, key: wallet, until: table.now + 9 * DAY });
    const promised = sign(table, "wrong", { signer: wallet, isEcdsa: false });
    offer(table, promised);
    if (table.accepted.length > 0) showAtEnd(table, promised);
  },
  "a postdated promise whose key is unbound before it counts": (rules) => {
    const table = begin(rules, 400_000_000n);
    const promised = sign(table, "wrong", { issuedAt: table.now + 100, expiry: table.now + 200 });
    offer(table, promised);
    table.do({ kind: "setSigner", from: cheat, key: KEYS.cheat[0].address, until: table.now + T });
    if (table.accepted.length > 0) showAtEnd(table, promised);
  },
  "a key that was stolen signs once more": (rules) => {
    const table = begin(rules, 400_000_000n, honest);
    const thief = KEYS.thief[0].address;
    const until = table.now + T;
    table.do({ kind: "setSigner", from: honest, key: thief, until });
    table.advance(until + DAY + 1);
    const forged = sign(table, "wrong", { signer: thief, issuedAt: until, expiry: until + 9 * DAY }, honest);
    openAs(table, friend, forged);
    pass(table, 2 * DAY);
  },
  "the queue is jumped": (rules) => {
    starve(rules, (table, waiting) => {
      const own = refill(table);
      if (own !== undefined && statusOf(table, waiting) === "QUEUED") openNext(table, own);
    });
  },
  "another output is filed for the head": (rules) => otherContent(rules, "output"),
  "another input is filed for the head": (rules) => otherContent(rules, "input"),
  "the head is passed while stake is away": (rules) => {
    starve(
      rules,
      (table) => {
        // One claim follows the other before it ends.
        const [only, another] = table.live().map(([claimId]) => table.state.assay.claims.get(claimId)?.word);
        if (only === undefined || another !== undefined || only.windowEnd - table.now > DAY / 2) return;
        const own = refill(table);
        if (own !== undefined) passFor(table, own);
      },
      { stake: 14n },
    );
  },
  "a head that the stake reaches for is passed, for a buyer who looks once a day": (rules) => {
    starve(
      rules,
      (table) => {
        const own = refill(table);
        if (own !== undefined && table.account(cheat).away === 0n) passFor(table, own);
      },
      { serves: false },
    );
  },
  "a fee of one second passes the head": (rules) => {
    starve(rules, (table, waiting) => {
      const own = refill(table);
      if (own === undefined || table.account(cheat).away > 0n || statusOf(table, waiting) !== "QUEUED")
        return;
      table.setFee(USUAL_FEE + 1n);
      passFor(table, own);
      passFor(table, own);
      table.setFee(USUAL_FEE);
    });
  },
  "an old patience passes a new head": (rules) => {
    starve(
      rules,
      (table, waiting) => {
        const own = refill(table);
        if (own === undefined || table.account(cheat).away > 0n || statusOf(table, waiting) !== "QUEUED")
          return;
        if (table.account(cheat).queue[0] === own.digest) openNext(table, own);
        if (table.account(cheat).away > 0n) return;
        table.setFee(USUAL_FEE + 1n);
        table.do({ kind: "passNext", from: friend, prover: cheat, behind: own.digest });
        if (table.account(cheat).queue[0] === own.digest) openNext(table, own);
        table.setFee(USUAL_FEE);
      },
      {
        setUp(table) {
          // A head too dear for a turn, passed and then opened at a fee of before.
          const own = sign(table, "right", { model: DEEP });
          table.setFee(3n * USUAL_FEE);
          openAs(table, friend, own);
          table.do({ kind: "passNext", from: friend, prover: cheat, behind: own.digest });
          table.advance(table.now + 5 * T);
          table.setFee(USUAL_FEE);
          openNext(table, own);
          pass(table, DAY + 100);
        },
      },
    );
  },
  "a head is passed for nobody's sake": (rules) => cycle(rules, (table) => sign(table, "right")),
  "a head is passed for a dearer one's sake": (rules) => cycle(rules, (_table, own) => own),
  "a stranger takes back": (rules) => {
    const table = begin(rules, 100_000_000n);
    const promised = accepted(table, "wrong");
    table.setFee(20n);
    showAtEnd(table, promised);
    table.do({ kind: "takeBack", from: sybil, digest: promised.digest });
    if ((table.state.credits.get(sybil) ?? 0n) > 0n) table.fail(5, "a deposit goes to a stranger");
  },
  "an opened promise is taken back": (rules) => {
    const table = begin(rules, 100_000_000n);
    const promised = accepted(table, "wrong");
    openAs(table, friend, promised);
    table.setFee(20n);
    table.do({ kind: "takeBack", from: friend, digest: promised.digest });
    openAs(table, victim, promised);
    table.setFee(USUAL_FEE);
    pass(table, 2 * DAY);
  },
  "the cheat opens first and takes back, again and again": (rules) => {
    starve(
      rules,
      (table, waiting) => {
        const entry = table.state.signed.get(waiting.digest);
        if (entry === undefined) return;
        if (entry.status === "QUEUED" && table.account(cheat).away === 0n) {
          table.do({ kind: "takeBack", from: entry.opener, digest: waiting.digest });
          if (statusOf(table, waiting) !== "NONE") return;
          openAs(table, friend, sign(table, "right"));
          openAs(table, friend, waiting);
        }
      },
      { setUp: (table) => table },
    );
  },
  "a trace of garbage in the prover's name": (rules) => {
    const table = begin(rules, 400_000_000n, honest);
    openAs(table, friend, accepted(table, "right", {}, honest));
    const [claimId] = table.live()[0] ?? [];
    if (claimId === undefined) return;
    const value = table.state.assay.claims.get(claimId)?.claim.ticketBond ?? 0n;
    table.inAssay({ kind: "challenge", from: friend, claimId, value });
    const traceRoot = `0x${"b9".repeat(32)}` as const;
    table.do({ kind: "commitTrace", from: friend, claimId, traceRoot });
    convictAll(table);
    pass(table, 2 * DAY);
  },
  "a key that was unbound answers": (rules) => {
    const table = begin(rules, 400_000_000n, honest);
    openAs(table, friend, accepted(table, "right", {}, honest));
    const [claimId] = table.live()[0] ?? [];
    const from = KEYS.honest[0].address;
    if (claimId === undefined) return;
    table.do({ kind: "setSigner", from: honest, key: from, until: table.now + T });
    table.advance(table.now + T + 1);
    const value = table.state.assay.claims.get(claimId)?.claim.ticketBond ?? 0n;
    table.inAssay({ kind: "challenge", from: friend, claimId, value });
    const traceRoot = `0x${"b9".repeat(32)}` as const;
    table.inAssay({ kind: "commitTrace", from, claimId, traceRoot });
    table.do({ kind: "commitTrace", from, claimId, traceRoot });
    convictAll(table);
    pass(table, 2 * DAY);
  },
  "batch after batch while a promise waits": (rules) => {
    starve(
      rules,
      (table) => {
        if (table.account(cheat).slots > 0n) return;
        postAs(table, cheat, cheat, batchOf(["right"], 7 * DAY - table.posted.length));
      },
      {
        stake: 30n,
        minBond: 100_000_000n,
        setUp: (table) => postAs(table, cheat, cheat, batchOf(["right"], 7 * DAY)),
        days: 30,
      },
    );
  },
  "a batch of sixty days": (rules) => {
    const days = 60;
    const setUp = (table: PromiseTable) => postAs(table, cheat, cheat, batchOf(["right"], days * DAY));
    starve(rules, () => {}, { stake: 30n, minBond: 100_000_000n, setUp, days: days + 2 });
  },
  "a batch without a window": (rules) => {
    const table = begin(rules, 400_000_000n);
    postAs(table, cheat, cheat, batchOf(["wrong"], 0));
    if (table.finalSince.size > 0) table.fail(3, "a batch is final at once");
  },
  "a leaf that nobody can open": (rules) => {
    const table = begin(rules, 400_000_000n);
    const batchId = postAs(table, cheat, cheat, batchOf(["right", "long"]));
    if (batchId !== undefined && !openLeafAs(table, challenger, batchId, 1).ok)
      table.fail(3, "a leaf cannot be opened");
  },
  "another leaf is filed for the first that waits": (rules) => {
    const table = begin(rules, 48_000_000n, honest);
    const batchId = postAs(table, honest, honest, batchOf(["right", "right", "right"]));
    if (batchId === undefined) return;
    for (const index of [0, 1, 2]) openLeafAs(table, friend, batchId, index);
    pass(table, 4 * T - 1);
    table.advance(table.now + 1);
    closeEnded(table, honest);
    const { input, output } = { ...sign(table, "wrong", {}, honest) };
    table.do({ kind: "nextLeaf", from: friend, batchId, input, output, matches: false });
    pass(table, DAY);
  },
  "a queued leaf is dropped": (rules) => {
    const table = crowded(rules);
    for (const { batchId } of table.posted) table.do({ kind: "dropLeaf", from: friend, batchId });
    pass(table, 2 * DAY);
    if (table.finalSince.size > 0) table.fail(3, "a batch with a wrong leaf is final");
  },
  "slots are released early, and the stake is used": (rules) => {
    const table = begin(rules, 48_000_000n);
    const batchId = postAs(table, cheat, cheat, batchOf(["wrong"], DAY));
    if (batchId === undefined) return;
    table.do({ kind: "release", from: cheat, batchId });
    backless(table);
    openLeafAs(table, challenger, batchId, 0);
    pass(table, 3 * DAY);
  },
  "a batch sets nothing aside": (rules) => {
    const table = begin(rules, 48_000_000n);
    const batchId = postAs(table, cheat, cheat, batchOf(["wrong"], DAY));
    if (batchId === undefined) return;
    backless(table);
    openLeafAs(table, challenger, batchId, 0);
    pass(table, 3 * DAY);
  },
  "right leaves overtake the wrong one": (rules) => {
    const table = begin(rules, 48_000_000n);
    const leaves = Array.from({ length: 60 }, (_, index): Side => (index === 0 ? "wrong" : "right"));
    const batchId = postAs(table, cheat, cheat, batchOf(leaves));
    if (batchId === undefined) return;
    openLeafAs(table, friend, batchId, 1);
    openLeafAs(table, friend, batchId, 2);
    openLeafAs(table, challenger, batchId, 0);
    let next = 3;
    pass(table, 600, () => {
      const { idleSlots, leaves: opened } = table.state.batches.get(batchId) ?? {};
      if (opened?.get(0)?.status !== "QUEUED") return;
      // What the deposits bring is used up at once.
      if (table.account(cheat).free >= leastOf(table, 1)) openAs(table, friend, sign(table, "right"));
      for (let idle = idleSlots ?? 0; idle > 0 && next < 60; idle -= 1)
        openLeafAs(table, friend, batchId, next++);
    });
  },
  "a promise overtakes the queue": (rules) => {
    starve(rules, (table, waiting) => {
      if (statusOf(table, waiting) !== "QUEUED") return;
      const { free } = table.account(cheat);
      if (free >= leastOf(table, 1)) openAs(table, friend, sign(table, "right"));
    });
  },
  "two openings in a block": (rules) => {
    const table = begin(rules, 400_000_000n);
    const wrong = accepted(table, "wrong", { salt: 7n });
    const right = sign(table, "right", { salt: 7n });
    table.advance(wrong.claim.expiry);
    openAs(table, friend, right);
    showAtEnd(table, wrong);
    pass(table, DAY);
  },
  "three leaves at the price of one each": (rules) => {
    const table = begin(rules, 400_000_000n, honest);
    const batchId = postAs(table, honest, honest, batchOf(["right", "right", "right"]));
    if (batchId === undefined) return;
    for (const index of [0, 1, 2]) openLeafAs(table, friend, batchId, index);
  },
  "a cheat opens its own promises": (rules) => {
    const table = begin(rules, 100_000_000n);
    const worth = (): bigint => stakeOf(table.account(cheat)) + (table.state.credits.get(friend) ?? 0n);
    const before = worth();
    const promised = sign(table, "right");
    const due = dueFor(table, promised);
    openAs(table, friend, promised);
    pass(table, 2 * DAY);
    // The friend paid the deposit; half of it at least must be gone.
    if (before - worth() + due < due / 2n) table.fail(5, "a place in the queue is free");
  },
  "an honest prover defends a promise": (rules) => {
    const table = begin(rules, 100_000_000n, honest);
    const before = stakeOf(table.account(honest));
    openAs(table, friend, accepted(table, "right", {}, honest));
    pass(table, 2 * DAY);
    const { gasBase, gasPerDemand } = table.state.constants;
    const cost = (gasBase + gasPerDemand) * USUAL_FEE;
    if (stakeOf(table.account(honest)) - before < cost) table.fail(5, "a defence is not paid for");
  },
  "a stranger delays an honest exit": (rules) => {
    const table = begin(rules, 100_000_000n, honest);
    const promised = accepted(table, "right", {}, honest);
    const amount = table.account(honest).free;
    table.do({ kind: "announceExit", from: honest, amount });
    openAs(table, friend, promised);
    pass(table, 8 * DAY);
    table.do({ kind: "exit", from: honest, to: honest });
    if ((table.exitedBy.get(honest) ?? 0n) < amount) table.fail(1, "an announced exit does not take place");
  },
};

/** An honest prover's head, opened with something that nobody signed. */
function otherContent(rules: PromiseRules, what: "input" | "output"): void {
  const table = begin(rules, 100_000_000n, honest);
  const promised = accepted(table, "right", {}, honest);
  table.setFee(20n);
  openAs(table, friend, promised);
  table.setFee(USUAL_FEE);
  const { claim, input, output } = promised;
  const other = sign(table, "wrong", {}, honest);
  const changed =
    what === "output" ? { input, output: other.output } : { input: table.otherInput(0), output };
  table.do({ kind: "openNext", from: friend, claim, ...changed });
  pass(table, 2 * DAY);
}

/** Promises of like depth: a spike is no reason to put one behind the other. */
function cycle(rules: PromiseRules, behind: (table: PromiseTable, own: Promised) => Promised): void {
  starve(rules, (table, waiting) => {
    if (table.account(cheat).away > 0n || statusOf(table, waiting) !== "QUEUED") return;
    const own = sign(table, "right", { model: DEEP });
    openAs(table, friend, own);
    const other = behind(table, own);
    table.setFee(2n * USUAL_FEE);
    for (const seconds of [0, 4 * T]) {
      table.advance(table.now + seconds);
      table.do({ kind: "passNext", from: friend, prover: cheat, behind: other.digest });
    }
    table.setFee(USUAL_FEE);
    if (table.account(cheat).queue[0] === own.digest) openNext(table, own);
  });
}

/** A batch whose two slots are taken by right leaves, so that the wrong one waits. */
function crowded(rules: PromiseRules): PromiseTable {
  const table = begin(rules, 48_000_000n);
  const batchId = postAs(table, cheat, cheat, batchOf(["right", "right", "wrong"]));
  if (batchId === undefined) throw new Error("the batch is not posted");
  table.advance(table.now + 3_599);
  for (const [index, from] of [friend, friend, challenger].entries()) openLeafAs(table, from, batchId, index);
  return table;
}

/** All free stake stands for another promise. */
function backless(table: PromiseTable): void {
  const { free } = table.account(cheat);
  if (free > 0n) openAs(table, friend, sign(table, "right", { minBond: 10n * free }));
}

function convictAll(table: PromiseTable): void {
  for (const [claimId] of table.live()) {
    const held = table.state.assay.claims.get(claimId);
    if (held?.traceRoot === undefined) continue;
    table.inAssay({ kind: "convict", from: friend, claimId, ...verdictOn(table, claimId, held) });
  }
}
