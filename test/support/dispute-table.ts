/** The claim machine as a table for players: moves in, and the events of each move into a Book, as in a daemon. */
import { keccak256 } from "viem";
import { toHex } from "../../inference/bytes.ts";
import { topsOf, traceShapes } from "../../inference/commit/reveal.ts";
import type { TreeShape } from "../../inference/program/shape.ts";
import { Book, type ClaimEntry } from "../../protocol/chain/book.ts";
import type { ChainEvent, EventName } from "../../protocol/chain/events.ts";
import { requestIdOf } from "../../protocol/ids.ts";
import {
  type ClaimState,
  type GameState,
  type Move,
  type MoveResult,
  modelFacts,
  newGame,
  play,
} from "../../protocol/machine.ts";
import { bondsOf } from "../../protocol/money.ts";
import {
  type ClaimId,
  FALL_REASONS,
  LANE,
  type ModelId,
  type Request,
  type RequestId,
  ZERO_ADDRESS,
} from "../../protocol/terms.ts";
import { addressOf, hashOf, WHO } from "./game-table.ts";
import { type HonestRun, type Lie, type Presented, present } from "./lies.ts";
import { createRng, type Rng } from "./rng.ts";

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
  readonly challenger: { readonly pace: Pace; readonly filesAt: number };
  readonly plants: readonly {
    readonly isProver: boolean;
    readonly filesAt: number;
    readonly style: "burst" | "copy" | "stall" | "any";
  }[];
  /** of the order inside a second and of what plants ask */
  readonly seed: number;
}

const MODEL_ID = hashOf(0xc1) as ModelId;
const FILED_AT = 1_000;

/** One claim on one request. */
export class DisputeTable {
  readonly run: HonestRun;
  readonly plan: GamePlan;
  readonly presented: Presented;
  readonly isWrong: boolean;
  readonly shapes: readonly TreeShape[];
  readonly rng: Rng;
  readonly claimId: ClaimId;
  readonly #requestId: RequestId;
  readonly #book = new Book();
  state: GameState;
  now = FILED_AT;
  /** what the challenger would demand next */
  wanted: bigint | undefined;
  /** called after each accepted move */
  onMove: () => void = () => undefined;

  constructor(run: HonestRun, plan: GamePlan) {
    this.run = run;
    this.plan = plan;
    this.presented =
      plan.lie === undefined ? { trace: run.trace, output: run.output } : present(run, plan.lie);
    this.isWrong = !Buffer.from(this.presented.output).equals(run.output);
    this.shapes = traceShapes(run.prepared.program);
    this.rng = createRng(plan.seed);
    const { answerSeconds, longer } = plan;
    const constants = { answerSeconds, gasPriceFloor: 10n, gasBase: 145_001n, gasPerDemand: 122_003n };
    const facts = modelFacts(run.prepared.program, LANE.BOND);
    const address = { chainId: 31337, assay: addressOf(0x1) };
    this.state = newGame(address, constants, new Map([[MODEL_ID, facts]]));
    const input = toHex(run.calldata);
    const request: Request = {
      requester: WHO.requester,
      modelId: MODEL_ID,
      inputHash: keccak256(input),
      lanes: LANE.BOND,
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
    this.#requestId = requestIdOf(address, request);
    const requested = { from: WHO.requester, now: FILED_AT - 1, value: request.fee, request } as const;
    const asked = { hash: request.inputHash, canonical: true };
    this.attempt({ kind: "request", ...requested, input: asked }, { input });
    const bonds = bondsOf(constants, { ...request, gasPrice: 20n, depth: facts.depth, attempt: 0 });
    const output = toHex(this.presented.output);
    const claimed = this.attempt(
      {
        kind: "claim",
        from: WHO.prover,
        now: FILED_AT,
        value: bonds.bond,
        requestId: this.#requestId,
        operator: ZERO_ADDRESS,
        gasPrice: 20n,
        baseFee: 0n,
        output: { hash: keccak256(output), length: this.presented.output.length },
      },
      { output },
    );
    if (!claimed.ok || claimed.claimId === undefined) throw new GameViolation("the claim is refused");
    this.claimId = claimed.claimId;
  }

  get entry(): ClaimEntry {
    return this.#book.claims.get(this.claimId) as ClaimEntry;
  }

  claim(): ClaimState {
    return this.state.claims.get(this.claimId) as ClaimState;
  }

  /** @param facts what the move's event tells besides the move */
  attempt(move: Move, facts: Record<string, unknown> = {}): MoveResult {
    const result = play(this.state, move);
    if (!result.ok) return result;
    this.state = result.state;
    this.#tell(move, result.claimId ?? this.claimId, facts);
    this.onMove();
    return result;
  }

  #tell(move: Move, claimId: ClaimId, facts: Record<string, unknown>): void {
    const claim = this.state.claims.get(claimId);
    const [name, told] = this.#eventOf(move, claim);
    const args = { claimId, requestId: this.#requestId, claim: claim?.claim, ...told, ...facts };
    const block = { number: BigInt(move.now), hash: hashOf(move.now) };
    this.#book.apply({ name, block, args } as unknown as ChainEvent);
  }

  /** The event by which the contract tells of a move, and what it says of the claim. */
  #eventOf(move: Move, claim: ClaimState | undefined): [EventName, object] {
    switch (move.kind) {
      case "request":
        return ["Requested", { request: move.request }];
      case "claim":
        return ["Claimed", { windowEnd: claim?.word.windowEnd }];
      case "challenge":
        return ["Challenged", { challenger: move.from }];
      case "commitTrace":
        return [
          "TraceCommitted",
          { traceRoot: move.traceRoot, tops: topsOf(this.presented.trace).map(toHex) },
        ];
      case "demand": {
        const { position } = move;
        return ["Demanded", { challenger: move.from, position, ...claim?.demands.get(position) }];
      }
      case "reveal":
        return ["Revealed", { position: move.position }];
      case "convict":
      case "timeoutTrace":
      case "timeoutDemand":
        return ["Fell", { reason: FALL_REASONS.indexOf(claim?.word.fall ?? "NONE") }];
      case "finalize":
        return ["Finalized", { lane: LANE.BOND, outputHash: claim?.claim.outputHash }];
      case "collect":
        return ["Collected", { owner: move.owner }];
      default:
        throw new GameViolation(`nobody here plays ${move.kind}`);
    }
  }
}
