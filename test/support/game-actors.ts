/** Who plays a random game, and how. An actor is called a few times a second and may move or not. */
import type { Address } from "viem";
import type { ClaimState } from "../../protocol/rules/machine.ts";
import { LANE } from "../../protocol/rules/types.ts";
import { addressOf, RIGHT_OUTPUT, shuffled, type Table, TRACE_ROOT, WHO } from "./game-table.ts";

export type Actor = (table: Table) => void;

/** Chooses the players of one game. */
export function GAME_ACTORS(table: Table): Actor[] {
  const { rng, isHonest } = table;
  const actors = [prover(table)];
  // An honest claim meets an honest challenger only by a mistake: then that one is just another ticket.
  if (!isHonest && rng.chance(0.9)) actors.push(honestChallenger(table));
  const sybils = isHonest ? rng.int(1, 4) : rng.int(0, 3);
  for (let i = 0; i < sybils; i += 1) {
    // One of them may be the prover itself.
    const owner = i === 0 && rng.chance(0.3) ? WHO.prover : addressOf(0x200 + i);
    actors.push(sybil(table, owner));
  }
  if (rng.chance(0.1)) actors.push(truth(table));
  return actors;
}

/** Answer time: at once, at the last second, or anything between. */
function delays({ rng, answerSeconds }: Table): () => number {
  const style = rng.pick(["quick", "late", "late", "any"]);
  return () => (style === "quick" ? 0 : style === "late" ? answerSeconds : rng.int(0, answerSeconds));
}

/** Answers all that it owes within T. A liar may also stall one answer, and then tries it too late. */
function prover(setup: Table): Actor {
  const { rng, answerSeconds, isHonest } = setup;
  const delay = delays(setup);
  const stalls = (): number => (!isHonest && rng.chance(0.05) ? answerSeconds + 1 : 0);
  const due = new Map<bigint | "trace", number>();
  const isDue = (what: bigint | "trace", deadline: number, now: number) => {
    const at = due.get(what) ?? deadline - answerSeconds + Math.max(delay(), stalls());
    due.set(what, at);
    return now >= at;
  };
  return (table) => {
    const { now, claimId } = table;
    const { word, traceRoot, demands } = table.claim();
    if (word.traceDeadline !== 0 && traceRoot === undefined && isDue("trace", word.traceDeadline, now)) {
      table.attempt({ kind: "commitTrace", from: WHO.prover, now, claimId, traceRoot: TRACE_ROOT });
    }
    for (const [position, { deadline, answered }] of demands) {
      if (answered || !isDue(position, deadline, now)) continue;
      table.attempt({ kind: "reveal", from: WHO.prover, now, claimId, position, valid: true });
    }
  };
}

/** Files one ticket inside the window, then moves within T of each event, at any second of it. */
function honestChallenger(setup: Table): Actor {
  const { rng, lie } = setup;
  const delay = delays(setup);
  const { windowEnd } = setup.claim().word;
  const filesAt = rng.chance(0.3) ? windowEnd - 1 : rng.int(setup.now, windowEnd - 1);
  const from = WHO.honest;
  let seen = "";
  let actsAt = 0;
  return (table) => {
    const { now, claimId } = table;
    if (!table.claim().tickets.has(from)) {
      const value = table.claim().claim.ticketBond;
      if (now >= filesAt) table.attempt({ kind: "challenge", from, now, value, claimId });
      return;
    }
    timeouts(table);
    const claim = table.claim();
    if (claim.word.state !== "ACTIVE" || claim.traceRoot === undefined) return;
    const next = lie.find((position) => claim.demands.get(position)?.answered !== true);
    if (next !== undefined && claim.demands.has(next)) return;
    const known = next === undefined ? lie : lie.slice(0, lie.indexOf(next));
    const events = [from, "trace" as const, ...known].map((event) => table.happenedAt.get(event) ?? 0);
    if (seen !== `${next}`) {
      seen = `${next}`;
      actsAt = Math.max(...events) + delay();
    }
    if (now < actsAt) return;
    if (next === undefined) {
      const reason = lie.length === 0 ? "OUTPUT" : "ELEMENT";
      table.attempt({ kind: "convict", from, now, claimId, reason, holds: true });
    } else {
      table.attempt({ kind: "demand", from, now, claimId, traceRoot: TRACE_ROOT, position: next });
    }
  };
}

/** A ticket that only disturbs. */
function sybil(setup: Table, from: Address): Actor {
  const { rng, now: start } = setup;
  const { windowEnd } = setup.claim().word;
  const filesAt = rng.chance(0.4) ? windowEnd - 1 : rng.int(start, windowEnd - 1);
  const style = rng.pick(["burst", "copy", "stall", "any"]);
  return (table) => {
    const { now, claimId, lie, positions } = table;
    const claim = table.claim();
    if (!claim.tickets.has(from)) {
      const value = claim.claim.ticketBond;
      if (now >= filesAt) table.attempt({ kind: "challenge", from, now, value, claimId });
      return;
    }
    // Convictions without a fault, reveals without a demand, late truth: all must be refused.
    if (rng.chance(0.05)) nonsense(table, from);
    if (claim.traceRoot === undefined || !wants(style, table, claim)) return;
    const free = positions.filter((position) => !claim.demands.has(position));
    const position = style === "copy" ? lie.find((one) => !claim.demands.has(one)) : shuffled(rng, free)[0];
    if (position === undefined) return;
    table.attempt({ kind: "demand", from, now, claimId, traceRoot: TRACE_ROOT, position });
  };
}

function wants(style: string, { now, rng, answerSeconds }: Table, { word }: ClaimState): boolean {
  if (style === "burst") return true;
  if (style === "any") return rng.chance(0.3);
  // One at a time, as late as it may be.
  const lastSecond = Math.max(word.windowEnd, word.lastEvent + answerSeconds + 1) - 1;
  return style === "copy" ? now === word.lastEvent + answerSeconds : word.pending === 0 && now >= lastSecond;
}

function nonsense(table: Table, from: Address): void {
  const { now, claimId, rng, positions } = table;
  const position = rng.pick(positions);
  const refused = [
    table.attempt({ kind: "convict", from, now, claimId, reason: "ELEMENT", holds: false }),
    table.attempt({ kind: "reveal", from, now, claimId, position, valid: false }),
    table.attempt({ kind: "demand", from, now, claimId, traceRoot: RIGHT_OUTPUT, position }),
    table.attempt({ kind: "demand", from, now, claimId, traceRoot: TRACE_ROOT, position: 0x63n << 40n }),
  ];
  if (refused.some(({ ok }) => ok)) throw new Error("nonsense was accepted");
}

/** Enforces every deadline that passed. */
function timeouts(table: Table): void {
  const { now, claimId } = table;
  const from = WHO.honest;
  const { word, traceRoot, demands } = table.claim();
  if (word.state !== "ACTIVE") return;
  if (traceRoot === undefined && word.traceDeadline !== 0 && now > word.traceDeadline) {
    table.attempt({ kind: "timeoutTrace", from, now, claimId });
  }
  for (const [position, { deadline, answered }] of demands) {
    if (!answered && now > deadline) table.attempt({ kind: "timeoutDemand", from, now, claimId, position });
  }
}

/** Settles by the right output at some second. */
function truth(setup: Table): Actor {
  const at = setup.now + setup.rng.int(0, 12 * setup.answerSeconds);
  return (table) => {
    const { now, claimId, requestId } = table;
    if (now !== at) return;
    table.attempt({
      kind: "settle",
      from: WHO.submitter,
      now,
      requestId,
      claimId,
      lane: LANE.PROOF,
      outputHash: RIGHT_OUTPUT,
      accepted: true,
    });
  };
}
