import type { Address, Hex } from "viem";
import { describe, expect, it } from "vitest";
import { type Decision, type Dispute, decide } from "../../challenger/decide.ts";
import type { Question } from "../../challenger/interrogate.ts";
import { encodePosition } from "../../inference/commit/positions.ts";
import type { ClaimEntry } from "../../protocol/chain/claim-index.ts";
import { endingDelay } from "../../protocol/chain/endings.ts";
import { ownTicketBy } from "../../protocol/rules/machine.ts";
import { type ClaimId, NO_CLAIM } from "../../protocol/rules/types.ts";
import { type ClaimWord, EMPTY_CLAIM_WORD } from "../../protocol/rules/words.ts";

const OWN: Address = "0x1111111111111111111111111111111111111111";
const OTHER: Address = "0x2222222222222222222222222222222222222222";
const CLAIM = `0x${"33".repeat(32)}` as ClaimId;
const T = 10;
const POSITION = { step: 3, level: 6, index: 0 };
const DEMAND: Question = { kind: "demand", position: POSITION };
const CONVICT: Question = { kind: "output", output: new Uint8Array(), element: 0, openings: [] };

/** A wrong claim filed at 1000 with a window of 40, and what happened to it since. */
class Scenario {
  #word: ClaimWord = { ...EMPTY_CLAIM_WORD, state: "ACTIVE", windowEnd: 1040, depth: 2 };
  #question: Question | undefined;
  #now = 1001;
  #isWrong = true;
  readonly #entry: ClaimEntry = {
    id: CLAIM,
    claim: NO_CLAIM,
    output: "0x",
    windowEnd: 1040,
    block: { number: 1n, hash: `0x${"00".repeat(32)}` },
    status: "active",
    challengers: new Set(),
    collected: new Set(),
    demands: new Map(),
  };

  at(now: number): this {
    this.#now = now;
    return this;
  }
  /** It is right after all, or nobody here has checked it. */
  notWrong(): this {
    this.#isWrong = false;
    return this;
  }
  challenged(by: Address, at: number): this {
    this.#entry.challengers.add(by);
    const { tickets, traceDeadline, pending, hardEnd } = this.#word;
    this.#word = {
      ...this.#word,
      tickets: tickets + 1,
      hardEnd: Math.max(hardEnd, at + 6 * T + 1),
      traceDeadline: traceDeadline || at + T,
      pending: traceDeadline === 0 ? pending + 1 : pending,
    };
    return this;
  }
  committed(at: number, question: Question): this {
    const root: Hex = `0x${"44".repeat(32)}`;
    this.#entry.trace = { root, tops: [] };
    this.#word = { ...this.#word, pending: this.#word.pending - 1, lastEvent: at };
    this.#question = question;
    return this;
  }
  demanded(by: Address, at: number): this {
    this.#entry.demands.set(encodePosition(POSITION), { by, deadline: at + T });
    this.#word = { ...this.#word, pending: this.#word.pending + 1 };
    return this;
  }
  fallen(...collected: Address[]): this {
    this.#word = { ...this.#word, state: "FALLEN", pending: 0 };
    for (const owner of collected) this.#entry.collected.add(owner);
    return this;
  }
  /** As a block shows it that does not have the claim, after a re-org. */
  gone(): this {
    this.#word = EMPTY_CLAIM_WORD;
    return this;
  }
  decide(): Decision {
    const dispute: Dispute = {
      now: this.#now,
      answerSeconds: T,
      entry: this.#entry,
      word: this.#word,
      own: OWN,
      isWrong: this.#isWrong,
      ...(this.#question === undefined ? {} : { question: this.#question }),
    };
    return decide(dispute);
  }
}
const claim = () => new Scenario();

describe("decide", () => {
  it("default: challenge, wait for the trace, demand, wait for the reveal, convict, collect", () => {
    expect(claim().decide()).toEqual({ kind: "challenge" });
    const held = () => claim().challenged(OWN, 1001);
    expect(held().at(1005).decide()).toEqual({ kind: "wait", reason: "for the trace" });
    expect(held().committed(1006, DEMAND).at(1007).decide()).toEqual({
      kind: "demand",
      position: encodePosition(POSITION),
    });
    const asked = held().committed(1006, DEMAND).demanded(OWN, 1007);
    expect(asked.at(1010).decide()).toEqual({ kind: "wait", reason: "for a reveal" });
    expect(held().committed(1006, CONVICT).at(1011).decide()).toEqual({ kind: "convict", question: CONVICT });
    expect(held().fallen().decide()).toEqual({ kind: "collect" });
    expect(held().fallen(OWN).decide()).toEqual({ kind: "over", lost: false });
  });

  it("behavior: no ticket from the second on at which the window ends", () => {
    const late = () => claim().challenged(OTHER, 1035);
    expect(late().at(1039).decide()).toEqual({ kind: "challenge" });
    expect(late().at(1040).decide()).toEqual({ kind: "wait", reason: "for the trace" });
  });

  it("behavior: holds a ticket of its own although somebody else is already disputing", () => {
    for (const scenario of [
      claim().challenged(OTHER, 1001),
      claim().challenged(OTHER, 1001).committed(1002, DEMAND).demanded(OTHER, 1003),
      claim().challenged(OTHER, 1001).committed(1002, CONVICT),
    ]) {
      expect(scenario.at(1004).decide()).toEqual({ kind: "challenge" });
    }
    // The rule's last second is inside the window, so the decision above always comes in time.
    expect(ownTicketBy({ ...EMPTY_CLAIM_WORD, windowEnd: 1040 }, T)).toBe(1020);
  });

  it("behavior: a position that another ticket demanded is waited for, not demanded again", () => {
    const scenario = claim().challenged(OTHER, 1001).challenged(OWN, 1001).committed(1002, DEMAND);
    expect(scenario.demanded(OTHER, 1003).at(1004).decide()).toEqual({
      kind: "wait",
      reason: "for a reveal",
    });
  });

  it("behavior: ends a missed deadline one second after it, not at it", () => {
    const noTrace = (now: number) => claim().challenged(OWN, 1001).at(now).decide();
    expect(noTrace(1011)).toEqual({ kind: "wait", reason: "for the trace" });
    expect(noTrace(1012)).toEqual({ kind: "timeoutTrace" });
    const noReveal = (now: number) =>
      claim().challenged(OWN, 1001).committed(1005, DEMAND).demanded(OTHER, 1006).at(now).decide();
    expect(noReveal(1016)).toEqual({ kind: "wait", reason: "for a reveal" });
    expect(noReveal(1017)).toEqual({ kind: "timeoutDemand", position: encodePosition(POSITION) });
  });

  it("behavior: a claim that the block does not have owes nothing", () => {
    expect(claim().gone().decide()).toMatchObject({ kind: "wait" });
    expect(claim().challenged(OWN, 1001).gone().at(1012).decide()).toMatchObject({ kind: "wait" });
  });

  it("behavior: too late for a ticket, it still times out and convicts for those who hold one", () => {
    const late = () => claim().challenged(OTHER, 1035);
    expect(late().at(1046).decide()).toEqual({ kind: "timeoutTrace" });
    expect(late().committed(1042, CONVICT).at(1043).decide()).toEqual({ kind: "convict", question: CONVICT });
    expect(late().committed(1042, DEMAND).at(1043).decide()).toMatchObject({ kind: "wait" });
  });

  it("behavior: says that it lost once a wrong claim is final, and never before", () => {
    expect(claim().at(1039).decide()).toEqual({ kind: "challenge" });
    expect(claim().at(1040).decide()).toEqual({ kind: "over", lost: true });
    expect(claim().challenged(OTHER, 1039).at(1045).decide()).toMatchObject({ kind: "wait" });
  });

  it("behavior: ends any claim whose answer is overdue, and does nothing else about one that is not wrong", () => {
    const delay = endingDelay(OWN, CLAIM, T);
    for (const isRight of [true, false]) {
      const suited = () => {
        const scenario = claim().challenged(OTHER, 1035);
        return isRight ? scenario.notWrong() : scenario;
      };
      // The trace is due at 1045, the window over at 1040.
      expect(suited().at(1045).decide()).toMatchObject({ kind: "wait" });
      expect(
        suited()
          .at(1045 + delay)
          .decide(),
      ).toMatchObject({ kind: "wait" });
      expect(
        suited()
          .at(1046 + delay)
          .decide(),
      ).toEqual({ kind: "timeoutTrace" });
      const asked = () => suited().committed(1036, DEMAND).demanded(OTHER, 1037);
      expect(
        asked()
          .at(1047 + delay)
          .decide(),
      ).toMatchObject({ kind: "wait" });
      expect(
        asked()
          .at(1048 + delay)
          .decide(),
      ).toEqual({
        kind: "timeoutDemand",
        position: encodePosition(POSITION),
      });
    }
    expect(claim().notWrong().decide()).toMatchObject({ kind: "wait" });
    expect(claim().notWrong().at(1040).decide()).toEqual({ kind: "over", lost: false });
    expect(claim().notWrong().challenged(OTHER, 1001).fallen().decide()).toEqual({
      kind: "over",
      lost: false,
    });
    const owned = claim().notWrong().challenged(OWN, 1001);
    // Whoever holds a ticket waits for nobody.
    expect(owned.at(1012).decide()).toEqual({ kind: "timeoutTrace" });
    expect(owned.fallen().decide()).toEqual({ kind: "collect" });
  });
});
