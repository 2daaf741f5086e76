/** Directed games of signed claims: what random ones seldom hit. Each is played by the rules, where nothing may break, and
 *  without one of them, where something must. */
import { stakeOf } from "../../../protocol/rules/promises/state.ts";
import { DAY, dueFor, offer, openAs, verdictOn } from "./promise-actors.ts";
import { KEYS } from "./promise-models.ts";
import { type Promised, type PromiseTable, USUAL_FEE } from "./promise-table.ts";
import {
  accepted,
  begin,
  cheat,
  DEEP,
  friend,
  honest,
  leastOf,
  openNext,
  pass,
  passFor,
  refill,
  type Scenario,
  type Setting,
  showAtEnd,
  sign,
  starve,
  statusOf,
  sybil,
  T,
  victim,
  wallet,
} from "./scenario-parts.ts";

export const SIGNED_SCENARIOS: Readonly<Record<string, Scenario>> = {
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
  "a key is unbound behind a promise's back": (rules) => {
    const table = begin(rules, 400_000_000n);
    const promised = accepted(table, "wrong");
    table.do({ kind: "setSigner", from: cheat, key: KEYS.cheat[0].address, until: table.now - 1 });
    showAtEnd(table, promised);
    pass(table, DAY);
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
  /** Why there is no reward for the opener: it would be the cheat's own. */
  "the reward of an opener goes to the cheat": (rules) => {
    const table = begin(rules, 400_000_000n);
    const promised = accepted(table, "wrong");
    // The buyer's transaction is seen before it is mined.
    openAs(table, friend, promised);
    openAs(table, victim, promised);
    pass(table, 2 * DAY);
    if (table.state.signed.get(promised.digest)?.opener !== friend)
      table.fail(2, "a promise is opened by another");
    if (statusOf(table, promised) !== "CLOSED" || table.lostBy.get(cheat) === 0n)
      table.fail(2, "it does not fall");
  },
  "a stranger delays an honest exit": (rules) => {
    const table = begin(rules, 100_000_000n, honest);
    const promised = accepted(table, "right", {}, honest);
    const amount = table.account(honest).free;
    table.do({ kind: "announceExit", from: honest, amount });
    openAs(table, friend, promised);
    pass(table, 8 * DAY - 1);
    table.do({ kind: "exit", from: honest, to: honest });
    table.advance(table.now + 1);
    table.do({ kind: "exit", from: honest, to: honest });
    if ((table.exitedBy.get(honest) ?? 0n) < amount) table.fail(1, "an announced exit does not take place");
  },
};

/** An honest prover's head, opened with something that nobody signed. */
function otherContent(rules: Setting, what: "input" | "output"): void {
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
function cycle(rules: Setting, behind: (table: PromiseTable, own: Promised) => Promised): void {
  starve(rules, (table, waiting) => {
    if (table.account(cheat).away > 0n || statusOf(table, waiting) !== "QUEUED") return;
    const own = sign(table, "right", { model: DEEP });
    openAs(table, friend, own);
    const other = behind(table, own);
    table.setFee(2n * USUAL_FEE);
    for (const seconds of [0, 4 * T - 1, 1]) {
      table.advance(table.now + seconds);
      table.do({ kind: "passNext", from: friend, prover: cheat, behind: other.digest });
    }
    table.setFee(USUAL_FEE);
    if (table.account(cheat).queue[0] === own.digest) openNext(table, own);
  });
}

function convictAll(table: PromiseTable): void {
  for (const [claimId] of table.live()) {
    const held = table.state.assay.claims.get(claimId);
    if (held?.traceRoot === undefined) continue;
    table.inAssay({ kind: "convict", from: friend, claimId, ...verdictOn(table, claimId, held) });
  }
}
