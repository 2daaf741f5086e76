/** The claim machine as a table for players: moves in, and the events of each move into a ClaimIndex, as in a daemon. */
import { type Address, type Hex, keccak256 } from "viem";
import { toHex } from "../../base/bytes.ts";
import type { Question } from "../../challenger/interrogate.ts";
import { topsOf, traceShapes } from "../../inference/commit/reveal.ts";
import { findJudgedOnly, type Program } from "../../inference/program/form.ts";
import type { TreeShape } from "../../inference/program/shape.ts";
import { type ClaimEntry, ClaimIndex, type RequestEntry } from "../../protocol/chain/claim-index.ts";
import type { ChainEvent, EventName } from "../../protocol/chain/events.ts";
import { type GameAddress, requestIdOf } from "../../protocol/rules/ids.ts";
import {
  type ClaimState,
  type GameState,
  ledgerOf,
  type Move,
  type MoveResult,
  modelFacts,
  newGame,
  play,
} from "../../protocol/rules/machine.ts";
import { bondsOf } from "../../protocol/rules/money.ts";
import {
  type ClaimId,
  FALL_REASONS,
  type GameConstants,
  LANE,
  type ModelId,
  type Request,
  type RequestId,
  type TruthLane,
  ZERO_ADDRESS,
  ZERO_HASH,
} from "../../protocol/rules/types.ts";
import { ALL_LANES } from "./echo-model.ts";
import { addressOf, hashOf, WHO } from "./game-table.ts";
import { type HonestRun, type Lie, type Presented, present } from "./lies.ts";
import { createRng, type Rng } from "./rng.ts";

/** All lanes that a program can have. */
export const lanesOf = (program: Program): number =>
  findJudgedOnly(program) === undefined ? ALL_LANES : ALL_LANES & ~LANE.EXECUTION;

export class GameViolation extends Error {}

/** When somebody acts on what happened: at once, at the last second of T, or at any. */
export type Pace = "quick" | "late" | "any";

export interface GamePlan {
  /** absent: an honest prover */
  readonly lie: Lie | undefined;
  /** T */
  readonly answerSeconds: number;
  /** seconds above the shortest window */
  readonly longer: number;
  readonly prover: {
    readonly pace: Pace;
    /** the answer that a liar never gives, by number; absent: it gives all that it can */
    readonly stallsAt: number | undefined;
    /** the answer that a liar gives a second too late */
    readonly lateAt: number | undefined;
    /** tries garbage first */
    readonly garbage: boolean;
  };
  /** honest ones, each with an account of its own */
  readonly challengers: readonly { readonly pace: Pace; readonly filesAt: number }[];
  readonly sybils: readonly {
    readonly isProver: boolean;
    readonly filesAt: number;
    readonly style: "burst" | "copy" | "stall" | "any";
  }[];
  /** tries to end it by truth: with the right output or another, with evidence or with none */
  readonly truths: readonly {
    readonly at: number;
    readonly lane: TruthLane;
    readonly isRight: boolean;
    readonly hasProof: boolean;
  }[];
  /** of the order inside a second and of what sybils ask */
  readonly seed: number;
}

/** Where a game is played: on the machine alone, or on contracts as well. */
export interface GamePlace {
  readonly game: GameAddress;
  readonly modelId: ModelId;
}
const NOWHERE: GamePlace = {
  game: { chainId: 31337, assay: addressOf(0x1) },
  modelId: hashOf(0xc1) as ModelId,
};
const FILED_AT = 1_000;

/** What a game on this T is played with. */
export const gameConstants = (answerSeconds: number): GameConstants => ({
  answerSeconds,
  gasPriceFloor: 10n,
  gasBase: 145_001n,
  gasPerDemand: 122_003n,
});

/** What a move says besides its facts: bytes that the contract gets. */
export interface MoveData {
  readonly input?: Hex;
  readonly output?: Hex;
  readonly content?: readonly Hex[];
  readonly path?: readonly Hex[];
  readonly question?: Exclude<Question, { kind: "demand" }>;
  readonly evidence?: Hex;
}

/** One move that somebody tried. */
export interface Attempt {
  readonly move: Move;
  readonly data: MoveData;
  readonly result: MoveResult;
}

/** One claim on one request. */
export class DisputeTable {
  readonly run: HonestRun;
  readonly plan: GamePlan;
  readonly presented: Presented;
  readonly isWrong: boolean;
  readonly shapes: readonly TreeShape[];
  readonly rng: Rng;
  readonly claimId: ClaimId;
  readonly request: Request;
  readonly requestId: RequestId;
  readonly input: Hex;
  /** everything that anybody tried, in order */
  readonly attempts: Attempt[] = [];
  readonly #index = new ClaimIndex();
  /** before anybody moved */
  readonly start: GameState;
  state: GameState;
  now = FILED_AT;
  /** what the challenger would demand next */
  wanted: bigint | undefined;
  /** called after each accepted move */
  onMove: () => void = () => undefined;

  constructor(run: HonestRun, plan: GamePlan, { game, modelId }: GamePlace = NOWHERE) {
    this.run = run;
    this.plan = plan;
    this.presented =
      plan.lie === undefined ? { trace: run.trace, output: run.output } : present(run, plan.lie);
    this.isWrong = !Buffer.from(this.presented.output).equals(run.output);
    this.shapes = traceShapes(run.prepared.program);
    this.rng = createRng(plan.seed);
    const { answerSeconds, longer } = plan;
    const constants = gameConstants(answerSeconds);
    const facts = modelFacts(run.prepared.program, lanesOf(run.prepared.program));
    this.start = newGame(game, constants, new Map([[modelId, facts]]));
    this.state = this.start;
    const input = toHex(run.calldata);
    this.input = input;
    this.request = {
      requester: WHO.requester,
      modelId,
      inputHash: keccak256(input),
      lanes: lanesOf(run.prepared.program),
      fee: 1_000n,
      deliveryFee: 0n,
      minBond: 0n,
      window: 4 * answerSeconds + longer,
      expiry: FILED_AT + 1_000,
      exclusiveProver: ZERO_ADDRESS,
      exclusiveUntil: 0,
      callback: ZERO_ADDRESS,
      callbackGas: 0,
      salt: 1n,
    };
    const { request } = this;
    this.requestId = requestIdOf(game, request);
    const requested = { from: WHO.requester, now: FILED_AT - 1, value: request.fee, request } as const;
    const asked = { hash: request.inputHash, canonical: true };
    this.attempt({ kind: "request", ...requested, input: asked }, { input });
    this.claimId = this.claimAs(WHO.prover, this.presented.output);
  }

  /** Files a claim on the request now.
   *  @throws GameViolation if it is refused */
  claimAs(prover: Address, outputBytes: Uint8Array): ClaimId {
    const attempt = this.state.requests.get(this.requestId)?.word.attempt ?? 0;
    const { depth } = modelFacts(this.run.prepared.program, lanesOf(this.run.prepared.program));
    const gasPrice = 20n;
    const { bond } = bondsOf(this.state.constants, { ...this.request, gasPrice, depth, attempt });
    const output = toHex(outputBytes);
    const claimed = this.attempt(
      {
        kind: "claim",
        from: prover,
        now: this.now,
        value: bond,
        requestId: this.requestId,
        operator: ZERO_ADDRESS,
        gasPrice,
        baseFee: 0n,
        output: { hash: keccak256(output), length: outputBytes.length },
      },
      { output },
    );
    if (!claimed.ok || claimed.claimId === undefined) throw new GameViolation("the claim is refused");
    return claimed.claimId;
  }

  get requestEntry(): RequestEntry {
    return this.#index.requests.get(this.requestId) as RequestEntry;
  }

  get entry(): ClaimEntry {
    return this.#index.claims.get(this.claimId) as ClaimEntry;
  }

  claim(): ClaimState {
    return this.state.claims.get(this.claimId) as ClaimState;
  }

  /** @param data what the move says besides */
  attempt(move: Move, data: MoveData = {}): MoveResult {
    const result = play(this.state, move);
    this.attempts.push({ move, data, result });
    if (!result.ok) return result;
    const before = this.state;
    this.state = result.state;
    checkBooks(result.state);
    this.#applyEvents(move, before, result.claimId ?? this.claimId, data);
    this.onMove();
    return result;
  }

  #applyEvents(move: Move, before: GameState, claimId: ClaimId, data: MoveData): void {
    const claim = this.state.claims.get(claimId);
    const block = { number: BigInt(move.now), hash: hashOf(move.now) };
    const common = { claimId, requestId: this.requestId, claim: claim?.claim, ...data };
    for (const [name, own] of this.#eventsOf(move, before, claim)) {
      this.#index.apply({ name, block, args: { ...common, ...own } } as unknown as ChainEvent);
    }
  }

  /** The events by which the contract tells of a move, and what they say of the claim. */
  #eventsOf(move: Move, before: GameState, claim: ClaimState | undefined): [EventName, object][] {
    switch (move.kind) {
      case "request":
        return [["Requested", { request: move.request }]];
      case "claim":
        return [["Claimed", { windowEnd: claim?.word.windowEnd }]];
      case "challenge":
        return [["Challenged", { challenger: move.from }]];
      case "commitTrace":
        return [
          ["TraceCommitted", { traceRoot: move.traceRoot, tops: topsOf(this.presented.trace).map(toHex) }],
        ];
      case "demand": {
        const { position } = move;
        return [["Demanded", { challenger: move.from, position, ...claim?.demands.get(position) }]];
      }
      case "reveal":
        return [["Revealed", { position: move.position }]];
      case "convict":
      case "timeoutTrace":
      case "timeoutDemand":
        return [["Fell", { reason: FALL_REASONS.indexOf(claim?.word.fall ?? "NONE") }]];
      case "finalize":
        return [["Finalized", { lane: LANE.BOND, outputHash: claim?.claim.outputHash }]];
      case "collect":
        return [["Collected", { owner: move.owner }]];
      case "settle": {
        const { lane, outputHash } = move;
        const wasOpen = before.requests.get(this.requestId)?.word.state === "OPEN";
        const agrees = !wasOpen && claim?.word.state === "FINAL";
        const fell: [EventName, object][] =
          wasOpen || agrees ? [] : [["Fell", { reason: FALL_REASONS.indexOf("TRUTH") }]];
        const none = agrees ? {} : { claimId: ZERO_HASH };
        return [
          ["Settled", { submitter: move.from, lane }],
          ...fell,
          ["Finalized", { lane, outputHash, ...none }],
        ];
      }
      case "refund":
        return [["Refunded", {}]];
      case "withdraw":
        return [["Withdrawn", {}]];
      default:
        throw new GameViolation(`nobody here plays ${move.kind}`);
    }
  }
}

/** INVARIANT 1, after every move. */
function checkBooks(state: GameState): void {
  const { credits, bonds, fees, burned, withdrawn } = ledgerOf(state);
  if (credits + bonds + fees + burned + withdrawn !== state.received)
    throw new GameViolation(
      `the books have ${credits + bonds + fees + burned + withdrawn} of ${state.received}`,
    );
}
