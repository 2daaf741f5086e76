/** The players of a dispute: challenger and prover by the daemons' own decisions, and sybils who only disturb. */
import { type Address, keccak256 } from "viem";
import { concatBytes, equalBytes, fromHex, toHex } from "../../base/bytes.ts";
import { ClaimedTrace } from "../../challenger/claimed-trace.ts";
import type { Decision, decide } from "../../challenger/decide.ts";
import { interrogate, type Question } from "../../challenger/interrogate.ts";
import { decodePosition, demandPath, encodePosition } from "../../inference/commit/positions.ts";
import { foldReveal, type Reveal, revealAt } from "../../inference/commit/reveal.ts";
import type { TreeShape } from "../../inference/program/shape.ts";
import { type Move, play } from "../../protocol/rules/machine.ts";
import { LANE } from "../../protocol/rules/types.ts";
import { decideClaim } from "../../prover/decide.ts";
import {
  type DisputeTable,
  type GamePlan,
  GameViolation,
  type MoveData,
  type Pace,
} from "./dispute-table.ts";
import { addressOf, WHO } from "./game-table.ts";
import { runOfClaim } from "./lies.ts";
import { convictionHolds } from "./reference-conviction.ts";

export interface Player {
  /** Called once a second, in any order. */
  act(): void;
}

const delay = ({ rng, plan }: DisputeTable, pace: Pace): number =>
  pace === "quick" ? 0 : pace === "late" ? plan.answerSeconds : rng.int(0, plan.answerSeconds);

/** What somebody else may have done between a decision and its move. */
const FORESTALLED: Partial<Record<Move["kind"], readonly string[]>> = {
  challenge: ["ClaimNotActive"],
  demand: ["AlreadyDemanded", "ClaimNotActive"],
  convict: ["ClaimNotActive"],
  timeoutTrace: ["ClaimNotActive"],
  timeoutDemand: ["ClaimNotActive"],
};

/** Looks at the state after each event, acts within T of what changed its mind. A move that it decided on at the
 *  start of a second comes anywhere in that second. */
export class ChallengerPlayer implements Player {
  readonly moves: string[] = [];
  forestalled = 0;
  readonly #table: DisputeTable;
  readonly #rule: typeof decide;
  #asked: { readonly known: string; readonly question: Question } | undefined;
  #mind = "";
  #actsAt = 0;
  #planned: { readonly move: Move; readonly data: MoveData } | undefined;
  readonly address: Address;
  readonly #plan: GamePlan["challengers"][number];

  /** @param index in the plan */
  constructor(table: DisputeTable, rule: typeof decide, index: number) {
    this.#table = table;
    this.#rule = rule;
    this.address = addressOf(0x500 + index);
    this.#plan = table.plan.challengers[index] as GamePlan["challengers"][number];
  }

  /** Called after each move of anybody: what changes its mind starts its time to act. */
  think(): Decision {
    const { now, isWrong } = this.#table;
    // A right claim is none of its business.
    if (!isWrong) return { kind: "over", lost: false };
    const decision = this.#decide();
    const mind = `${decision.kind} ${"position" in decision ? decision.position : ""}`;
    if (mind === this.#mind) return decision;
    this.#mind = mind;
    const { windowEnd } = this.#table.claim().word;
    this.#actsAt =
      decision.kind === "challenge"
        ? Math.min(now + this.#plan.filesAt, windowEnd - 1)
        : now + delay(this.#table, this.#plan.pace);
    if (decision.kind === "demand") this.#table.wanted = decision.position;
    return decision;
  }

  /** Called at the start of each second. */
  plan(): void {
    const decision = this.think();
    this.#planned = this.#table.now >= this.#actsAt ? this.#moveOf(decision) : undefined;
  }

  act(): void {
    const planned = this.#planned;
    this.#planned = undefined;
    if (planned === undefined) return;
    const { move, data } = planned;
    const result = this.#table.attempt(move, data);
    if (result.ok) this.moves.push(move.kind);
    else if (FORESTALLED[move.kind]?.includes(result.refusal) === true) this.forestalled += 1;
    else throw new GameViolation(`${move.kind} of the challenger is refused: ${result.refusal}`);
  }

  #decide(): Decision {
    const { entry, plan, now } = this.#table;
    const question = entry.status === "active" ? this.#question() : undefined;
    const decision = this.#rule({
      now,
      answerSeconds: plan.answerSeconds,
      entry,
      word: this.#table.claim().word,
      own: this.address,
      isWrong: true,
      ...(question === undefined ? {} : { question }),
    });
    if (decision.kind === "over" && decision.lost) throw new GameViolation("the challenger lost");
    return decision;
  }

  #question(): Question | undefined {
    const { entry, run, shapes } = this.#table;
    if (entry.trace === undefined) return undefined;
    const shown = [...entry.demands].filter(([, { content }]) => content !== undefined);
    const known = shown.map(([position]) => position).join();
    if (this.#asked?.known !== known) {
      const claimed = new ClaimedTrace(shapes, entry.trace.tops.map(fromHex));
      for (const [position, { content = [] }] of shown)
        claimed.addReveal(decodePosition(position), content.map(fromHex));
      const output = fromHex(entry.output);
      const { prepared, tensors, trace, weights } = runOfClaim(run, output);
      const constant = prepared.constant.bind(prepared);
      const own = { program: prepared.program, tensors, trace, weights, constant };
      this.#asked = { known, question: interrogate(own, claimed, output) };
    }
    return this.#asked.question;
  }

  #moveOf(decision: Decision): { readonly move: Move; readonly data: MoveData } | undefined {
    const { now, claimId, entry, state } = this.#table;
    const common = { from: this.address, now, claimId };
    const move = this.#plain(decision, common);
    if (move === undefined) return undefined;
    // INVARIANT of `decide`: what it decides is legal in the state that it saw.
    const seen = play(state, move);
    if (!seen.ok)
      throw new GameViolation(`${move.kind} is decided on, but refused: ${seen.refusal} of ${entry.id}`);
    return { move, data: decision.kind === "convict" ? { question: decision.question } : {} };
  }

  #plain(
    decision: Decision,
    common: { from: Address; now: number; claimId: DisputeTable["claimId"] },
  ): Move | undefined {
    const { entry, run } = this.#table;
    switch (decision.kind) {
      case "challenge":
        return { kind: "challenge", ...common, value: entry.claim.ticketBond };
      case "timeoutTrace":
        return { kind: "timeoutTrace", ...common };
      case "timeoutDemand":
        return { kind: "timeoutDemand", ...common, position: decision.position };
      case "demand":
        return {
          kind: "demand",
          ...common,
          traceRoot: entry.trace?.root ?? "0x",
          position: decision.position,
        };
      case "convict": {
        const root = fromHex(entry.trace?.root ?? "0x");
        const { claim, output } = entry;
        const own = runOfClaim(run, fromHex(output));
        const holds = convictionHolds(own, decision.question, root, claim.outputHash);
        const reason = decision.question.kind.toUpperCase() as "ELEMENT" | "CODEC" | "OUTPUT";
        return { kind: "convict", ...common, reason, holds };
      }
      case "collect":
        return { kind: "collect", ...common, owner: this.address };
      case "wait":
      case "over":
        return undefined;
    }
  }
}

/** Answers what `decideClaim` says it owes, in the seconds of its plan; a liar leaves an answer out, or is late. */
export function proverOf(table: DisputeTable): Player {
  const { plan, presented, claimId } = table;
  const { pace, stallsAt, lateAt, garbage } = plan.prover;
  const due = new Map<string, number>();
  const from = WHO.prover;
  const dueAt = (what: string, deadline: number): number => {
    const known = due.get(what);
    if (known !== undefined) return known;
    const isLiar = plan.lie !== undefined;
    let at = deadline - plan.answerSeconds + delay(table, pace);
    if (isLiar && due.size === stallsAt) at = Number.POSITIVE_INFINITY;
    if (isLiar && due.size === lateAt) at = deadline + 1;
    due.set(what, at);
    return at;
  };
  return {
    act: () => {
      const { now } = table;
      const { word } = table.claim();
      for (const move of decideClaim(table.entry, word, now, plan.answerSeconds)) {
        if (move.kind === "finalize") table.attempt({ kind: "finalize", from, now, claimId });
        else if (move.kind === "commitTrace") {
          if (now < dueAt("trace", move.due)) continue;
          table.attempt({ kind: "commitTrace", from, now, claimId, traceRoot: toHex(presented.trace.root) });
        } else if (now >= dueAt(`${move.position}`, move.due)) reveal(table, move.position, garbage);
      }
    },
  };
}

function reveal(table: DisputeTable, position: bigint, garbage: boolean): void {
  const { presented, shapes, claimId, now } = table;
  const { content, path } = revealAt(presented.trace, decodePosition(position));
  const attempt = (shown: readonly Uint8Array[]) => {
    const valid = isValid(shapes, position, { content: shown, path }, presented.trace.root);
    const move = { kind: "reveal", from: WHO.prover, now, claimId, position, valid } as const;
    const data = { content: shown.map(toHex), path: path.map(toHex) };
    return { valid, ...table.attempt(move, data) };
  };
  if (garbage && attempt(content.map((word) => word.map((byte) => byte ^ 0x5a))).valid) {
    throw new GameViolation("garbage is a valid reveal");
  }
  attempt(content);
}

function isValid(shapes: readonly TreeShape[], position: bigint, shown: Reveal, root: Uint8Array): boolean {
  try {
    return equalBytes(foldReveal(shapes, decodePosition(position), shown), root);
  } catch {
    return false;
  }
}

/** Holds a ticket and demands what disturbs: all at once, what the challenger wants, one at a time as late as it
 *  may be, or at random. @param index in the plan */
export function sybilOf(table: DisputeTable, index: number): Player {
  const { plan, shapes, rng, claimId } = table;
  const { isProver, filesAt, style } = plan.sybils[index] as (typeof plan.sybils)[number];
  const from = isProver ? WHO.prover : addressOf(0x300 + index);
  const start = table.now;
  const anyPosition = (): bigint => {
    const step = rng.int(0, shapes.length - 1);
    const { rows, words, rowHeight } = shapes[step] as TreeShape;
    const leaf = rng.int(0, rows - 1) * 2 ** rowHeight + rng.int(0, words - 1);
    return encodePosition(rng.pick(demandPath(shapes, step, leaf)));
  };
  const wants = (): bigint | undefined => {
    const { word } = table.claim();
    const { now } = table;
    if (style === "copy") return table.wanted;
    if (style === "any") return rng.chance(0.3) ? anyPosition() : undefined;
    const lastSecond = Math.max(word.windowEnd, word.lastEvent + plan.answerSeconds + 1) - 1;
    if (style === "stall" && (word.pending > 0 || now < lastSecond)) return undefined;
    return anyPosition();
  };
  return {
    act: () => {
      const { now } = table;
      const { tickets, word, claim, traceRoot } = table.claim();
      if (!tickets.has(from)) {
        const value = claim.ticketBond;
        if (now >= Math.min(start + filesAt, word.windowEnd - 1)) {
          table.attempt({ kind: "challenge", from, now, value, claimId });
        }
        return;
      }
      for (let tries = style === "burst" ? 4 : 1; tries > 0 && traceRoot !== undefined; tries -= 1) {
        const position = wants();
        if (position !== undefined)
          table.attempt({ kind: "demand", from, now, claimId, traceRoot, position });
      }
    },
  };
}

/** Settles at a second of its plan: by execution, which tells right from wrong, or by a proof, which there is of the
 *  right output alone. @param index in the plan */
export function truthOf(table: DisputeTable, index: number): Player {
  const { plan, run, claimId, requestId } = table;
  const { at, lane, isRight, hasProof } = plan.truths[index] as (typeof plan.truths)[number];
  const start = table.now;
  const output = toHex(isRight ? run.output : run.output.map((byte, i) => (i === 0 ? byte ^ 1 : byte)));
  const accepted = isRight && (lane === LANE.EXECUTION || hasProof);
  const weights = lane === LANE.EXECUTION ? toHex(concatBytes(...run.prepared.model.weights)) : undefined;
  const evidence = weights ?? (accepted ? "0x01" : "0x");
  return {
    act: () => {
      if (table.now !== start + at) return;
      const settled = { requestId, claimId, lane, outputHash: keccak256(output), accepted };
      const { ok } = table.attempt(
        { kind: "settle", from: WHO.submitter, now: table.now, ...settled },
        { output, evidence },
      );
      if (ok && !isRight) throw new GameViolation("a wrong output was settled");
    },
  };
}
