/** One random game: a prover who is honest or lies, a challenger who plays by the index, sybil tickets, truth.
 *  Throws a Violation when one of DESIGN's invariants 1 to 6 breaks. */
import type { Address, Hex } from "viem";
import { demandPath, encodePosition } from "../../inference/commit/positions.ts";
import { type TreeShape, treeShape } from "../../inference/program/shape.ts";
import { requestIdOf } from "../../protocol/rules/ids.ts";
import {
  type ClaimState,
  type GameState,
  isFinal,
  ledgerOf,
  type Move,
  type MoveResult,
  newGame,
  play,
  type Rules,
} from "../../protocol/rules/machine.ts";
import { bondsOf } from "../../protocol/rules/money.ts";
import {
  type ClaimId,
  type GameConstants,
  LANE,
  type ModelId,
  type Request,
  ZERO_ADDRESS,
} from "../../protocol/rules/types.ts";
import { type Actor, GAME_ACTORS } from "./game-actors.ts";
import { addressOf, hashOf, RIGHT_OUTPUT, shuffled, type Table, WHO } from "./game-table.ts";
import type { Rng } from "./rng.ts";

export class Violation extends Error {
  readonly invariant: number;
  constructor(invariant: number, message: string) {
    super(`invariant ${invariant}: ${message}`);
    this.invariant = invariant;
  }
}

const WRONG_OUTPUT = hashOf(0xa2);
const tensor = (rows: number, words: number) => treeShape(rows, 32 * words);
const steps = (count: number, last: TreeShape) => [
  ...Array.from({ length: count - 1 }, () => tensor(1, 1)),
  last,
];
/** Traces of dispute depth 1 to 4. */
const SHAPES = [
  [tensor(3, 2)],
  steps(3, tensor(60, 3)),
  steps(70, tensor(60, 3)),
  steps(70, tensor(100, 40)),
] as const;

export interface Outcome {
  readonly moves: number;
  readonly state: string;
  readonly fall: string;
  readonly isHonest: boolean;
  readonly tickets: number;
  readonly demands: number;
}

/** Plays a game to its end and empties the contract. */
export function playGame(rng: Rng, rules: Rules): Outcome {
  const answerSeconds = rng.int(1, 4);
  const shape: readonly TreeShape[] = rng.pick(SHAPES);
  const depth = Math.max(...shape.map((_, step) => demandPath(shape, step, 0).length));
  const modelId = hashOf(0xc1) as ModelId;
  const constants: GameConstants = {
    answerSeconds,
    gasPriceFloor: BigInt(rng.int(1, 1_000)),
    gasBase: 145_001n,
    gasPerDemand: 122_003n,
  };
  const request: Request = {
    requester: WHO.requester,
    modelId,
    inputHash: hashOf(0xd1),
    lanes: LANE.BOND | LANE.PROOF,
    fee: BigInt(rng.int(0, 1_000_000)),
    deliveryFee: 0n,
    minBond: rng.chance(0.5) ? BigInt(rng.int(0, 2 ** 48)) : 0n,
    window: 4 * answerSeconds + rng.int(0, 6),
    expiry: 100_000,
    exclusiveProver: ZERO_ADDRESS,
    exclusiveUntil: 0,
    callback: ZERO_ADDRESS,
    callbackGas: 0,
    salt: BigInt(rng.u32()),
  };
  const address = { chainId: 31337, assay: addressOf(0x1) };
  const facts = { lanes: LANE.BOND | LANE.PROOF, depth, outputLength: 64, shapes: shape };
  let state = newGame(address, constants, new Map([[modelId, facts]]));
  let moves = 0;
  const filedAt = 1_000;
  const happenedAt = new Map<Address | bigint | "trace", number>();
  const attempt = (move: Move): MoveResult => {
    const result = play(state, move, rules);
    if (result.ok) {
      moves += 1;
      state = result.state;
      if (move.kind === "challenge") happenedAt.set(move.from, move.now);
      if (move.kind === "commitTrace") happenedAt.set("trace", move.now);
      if (move.kind === "reveal") happenedAt.set(move.position, move.now);
      checkBooks(state);
    }
    return result;
  };
  const must = (move: Move): MoveResult => {
    const result = attempt(move);
    if (!result.ok) throw new Violation(4, `${move.kind} is refused: ${result.refusal}`);
    return result;
  };

  const requestId = requestIdOf(address, request);
  must({
    kind: "request",
    from: WHO.requester,
    now: 900,
    value: request.fee,
    request,
    input: { hash: request.inputHash, canonical: true },
  });
  const isHonest = rng.chance(0.5);
  const claimAs = (prover: Address, now: number, attempts: number, hash: Hex) => {
    const gasPrice = constants.gasPriceFloor * 2n;
    const { bond } = bondsOf(constants, { ...request, gasPrice, depth, attempt: attempts });
    const output = { hash, length: 64 };
    const result = must({
      kind: "claim",
      from: prover,
      now,
      value: bond,
      requestId,
      operator: ZERO_ADDRESS,
      gasPrice,
      baseFee: 0n,
      output,
    });
    if (!result.ok || result.claimId === undefined) throw new Error("a claim without an id");
    return result.claimId;
  };
  const claimId = claimAs(WHO.prover, filedAt, 0, isHonest ? RIGHT_OUTPUT : WRONG_OUTPUT);
  const claimed = (): ClaimState => state.claims.get(claimId) as ClaimState;

  const step = rng.chance(0.7) ? shape.length - 1 : rng.int(0, shape.length - 1);
  const tree = shape[step] as TreeShape;
  const leaf = rng.int(0, tree.rows - 1) * 2 ** tree.rowHeight + rng.int(0, tree.words - 1);
  const path = demandPath(shape, step, leaf).map(encodePosition);
  const table: Table = {
    get state() {
      return state;
    },
    now: filedAt,
    rng,
    answerSeconds,
    claimId,
    requestId,
    isHonest,
    lie: rng.chance(0.9) ? path : [],
    positions: [...path, ...randomPositions(rng, shape, leaf)],
    happenedAt,
    claim: claimed,
    attempt,
  };
  const actors: Actor[] = GAME_ACTORS(table);
  const { word: filed } = claimed();
  const limit = filed.windowEnd + rules.disputeSeconds(depth, answerSeconds);
  let finalSince: number | undefined;
  for (; table.now <= limit && claimed().word.state === "ACTIVE"; table.now += 1) {
    for (let round = 0; round < 2; round += 1) {
      for (const act of shuffled(rng, actors)) act(table);
      const { word } = claimed();
      if (finalSince !== undefined && !isFinal(word, answerSeconds, table.now, rules)) {
        throw new Violation(5, `final at ${finalSince}, ${word.state} at ${table.now}`);
      }
      if (isFinal(word, answerSeconds, table.now, rules)) finalSince ??= table.now;
    }
  }
  // INVARIANT 4: after filing + W + L somebody can end it.
  table.now = limit;
  end(table);
  checkExit(table);
  empty(table, request, claimAs);
  const { word, demands } = claimed();
  return {
    moves,
    state: word.state,
    fall: word.fall,
    isHonest,
    tickets: word.tickets,
    demands: demands.size,
  };
}

function randomPositions(rng: Rng, shape: readonly TreeShape[], leaf: number): bigint[] {
  return Array.from({ length: 6 }, () =>
    demandPath(shape, rng.int(0, shape.length - 1), rng.chance(0.5) ? leaf : 0).map(encodePosition),
  ).flat();
}

/** Ends an ACTIVE claim by finalize or a timeout. */
function end({ claim, attempt, claimId, now }: Table): void {
  if (claim().word.state !== "ACTIVE") return;
  const from = WHO.stranger;
  if (attempt({ kind: "finalize", from, now, claimId }).ok) return;
  if (attempt({ kind: "timeoutTrace", from, now, claimId }).ok) return;
  for (const position of claim().demands.keys()) {
    if (attempt({ kind: "timeoutDemand", from, now, claimId, position }).ok) return;
  }
  throw new Violation(4, `nobody can end the claim at ${now}`);
}

function checkExit({ claim, isHonest, state, requestId, attempt, now }: Table): void {
  const { word, tickets } = claim();
  if (isHonest && word.state !== "FINAL") throw new Violation(2, `an honest claim fell by ${word.fall}`);
  if (!isHonest && tickets.has(WHO.honest) && word.state !== "FALLEN") {
    throw new Violation(3, "a wrong claim survived an honest ticket");
  }
  const settled = state.requests.get(requestId)?.word.state === "DONE";
  const truth = attempt({
    kind: "settle",
    from: WHO.submitter,
    now,
    requestId,
    lane: LANE.PROOF,
    outputHash: RIGHT_OUTPUT,
    accepted: true,
  });
  if (settled && truth.ok) throw new Violation(5, "truth changed a final result");
}

/** Everybody takes what is theirs; nothing may be left but what is burned. */
function empty(
  table: Table,
  request: Request,
  claimAs: (prover: Address, now: number, attempts: number, hash: Hex) => ClaimId,
): void {
  const { claimId, attempt, rng, requestId } = table;
  const { claim, word, tickets } = table.claim();
  const takers = BigInt(tickets.size + (word.truthShare ? 1 : 0));
  for (const owner of shuffled(rng, [...tickets.keys()])) {
    const before = table.state.credits.get(owner) ?? 0n;
    const { ok } = attempt({ kind: "collect", from: WHO.stranger, now: table.now, claimId, owner });
    const gained = (table.state.credits.get(owner) ?? 0n) - before;
    const expected = word.state === "FALLEN" ? claim.ticketBond + claim.bond / 2n / takers : 0n;
    if (gained !== expected || ok !== (word.state === "FALLEN")) {
      throw new Violation(6, `a ticket of ${tickets.size} got ${gained} instead of ${expected}`);
    }
  }
  if (table.state.requests.get(requestId)?.word.state === "OPEN") {
    if (rng.chance(0.5)) {
      const second = claimAs(WHO.secondProver, table.now, 1, RIGHT_OUTPUT);
      const bond = table.state.claims.get(second)?.claim.bond;
      if (bond !== claim.bond * 2n) throw new Violation(1, `the bond went from ${claim.bond} to ${bond}`);
      const now = table.now + request.window;
      attempt({ kind: "finalize", from: WHO.stranger, now, claimId: second });
    } else {
      attempt({ kind: "refund", from: WHO.stranger, now: request.expiry + 1, requestId });
    }
  }
  for (const from of [...table.state.credits.keys()]) attempt({ kind: "withdraw", from, now: table.now });
  const { bonds, fees, credits } = ledgerOf(table.state);
  if (bonds + fees + credits !== 0n)
    throw new Violation(1, `locked: ${bonds} bonds, ${fees} fees, ${credits} credits`);
}

function checkBooks(state: GameState): void {
  const { credits, bonds, fees, burned, withdrawn } = ledgerOf(state);
  if (credits + bonds + fees + burned + withdrawn !== state.received) {
    throw new Violation(
      1,
      `${credits} + ${bonds} + ${fees} + ${burned} + ${withdrawn} is not ${state.received}`,
    );
  }
}
