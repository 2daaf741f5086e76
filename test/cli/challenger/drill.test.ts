import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import { type DrillState, drillMoves, fellByOthers } from "../../../cli/challenger/drill/moves.ts";
import { answersOf } from "../../../cli/demo/dishonest/runs.ts";
import { encodePosition } from "../../../inference/commit/positions.ts";
import { treeShape } from "../../../inference/program/shape.ts";
import type { ClaimEntry } from "../../../protocol/chain/claim-index.ts";
import { type ClaimId, NO_CLAIM, ZERO_HASH } from "../../../protocol/rules/types.ts";
import { type ClaimWord, EMPTY_CLAIM_WORD } from "../../../protocol/rules/words.ts";

const OWN: Address = "0x1111111111111111111111111111111111111111";
const OTHER: Address = "0x2222222222222222222222222222222222222222";
const T = 10;
const WINDOW_END = 1_040;
const TRACE = { root: ZERO_HASH, tops: [] };
const TOP = encodePosition({ step: 0, level: 6, index: 0 });
const ALL = answersOf("element");

/** A wrong claim with a window of 4T, and who holds tickets. */
const state = (
  now: number,
  challengers: readonly Address[],
  changes: { word?: Partial<ClaimWord>; entry?: Partial<ClaimEntry> } = {},
): DrillState => ({
  now,
  answerSeconds: T,
  own: OWN,
  // 64 words each
  shapes: [treeShape(64, 32), treeShape(64, 32)],
  word: { ...EMPTY_CLAIM_WORD, state: "ACTIVE", windowEnd: WINDOW_END, ...changes.word },
  entry: {
    id: ZERO_HASH as ClaimId,
    claim: NO_CLAIM,
    output: "0x",
    windowEnd: WINDOW_END,
    block: { number: 1n, hash: ZERO_HASH },
    status: "active",
    challengers: new Set(challengers),
    collected: new Set(),
    demands: new Map(),
    ...changes.entry,
  },
});
const demanded = (by: Address, deadline: number) => new Map([[TOP, { by, deadline }]]);

describe("drillMoves", () => {
  test("default: it waits while nobody asks, and answers whoever does", () => {
    expect(drillMoves(state(1_001, []), ALL)).toEqual([]);
    expect(drillMoves(state(1_001, [OTHER]), ALL)).toEqual([{ kind: "commitTrace" }]);
    const entry = { trace: TRACE, demands: demanded(OTHER, 1_020) };
    expect(drillMoves(state(1_005, [OTHER], { entry }), ALL)).toEqual([{ kind: "reveal", position: TOP }]);
  });

  test("args: a fault that is silent answers as little as it does", () => {
    expect(drillMoves(state(1_001, [OTHER]), answersOf("stall"))).toEqual([]);
    const entry = { trace: TRACE, demands: demanded(OTHER, 1_020) };
    expect(drillMoves(state(1_005, [OTHER], { entry }), answersOf("stall-reveal"))).toEqual([]);
  });

  test("behavior: in the last T of the window it takes a ticket itself, never later", () => {
    expect(drillMoves(state(WINDOW_END - T - 1, []), ALL)).toEqual([]);
    expect(drillMoves(state(WINDOW_END - T, []), ALL)).toEqual([{ kind: "challenge" }]);
    expect(drillMoves(state(WINDOW_END, []), ALL)).toEqual([]);
  });

  test("behavior: nobody else holds a ticket: the trace stays away, and its time runs out", () => {
    const word = { traceDeadline: 1_045, pending: 1 };
    expect(drillMoves(state(1_045, [OWN], { word }), ALL)).toEqual([]);
    expect(drillMoves(state(1_051, [OWN], { word }), ALL)).toEqual([{ kind: "timeoutTrace" }]);
  });

  test("behavior: challengers stopped moving: it demands what it never reveals, before the claim is final", () => {
    const word = { lastEvent: 1_035, hardEnd: 1_200 };
    const at = (now: number) => drillMoves(state(now, [OTHER, OWN], { word, entry: { trace: TRACE } }), ALL);
    expect(at(1_040)).toEqual([]);
    expect(at(1_041)).toEqual([{ kind: "demand", position: TOP }]);
    const owed = { entry: { trace: TRACE, demands: demanded(OWN, 1_051) }, word: { ...word, pending: 1 } };
    expect(drillMoves(state(1_050, [OTHER, OWN], owed), ALL)).toEqual([]);
    expect(drillMoves(state(1_057, [OTHER, OWN], owed), ALL)).toEqual([
      { kind: "timeoutDemand", position: TOP },
    ]);
  });

  test("behavior: it does nothing about a claim that is over", () => {
    expect(drillMoves(state(1_035, [], { entry: { status: "fallen" } }), ALL)).toEqual([]);
  });
});

describe("fellByOthers", () => {
  const fallen = (challengers: readonly Address[], by?: Address) =>
    state(1_001, challengers, {
      entry: { status: "fallen", ...(by === undefined ? {} : { demands: demanded(by, 1_020) }) },
    }).entry;

  test("default: a ticket of somebody else, and no demand of its own", () => {
    expect(fellByOthers(fallen([OTHER]), OWN)).toBe(true);
    expect(fellByOthers(fallen([OTHER, OWN], OTHER), OWN)).toBe(true);
    expect(fellByOthers(fallen([OWN]), OWN)).toBe(false);
    expect(fellByOthers(fallen([OTHER, OWN], OWN), OWN)).toBe(false);
    expect(fellByOthers(state(1_001, [OTHER]).entry, OWN)).toBe(false);
  });
});
