/** State of the game: what the contract stores, as values. */
import type { Address, Hex } from "viem";
import { traceShapes } from "../../../inference/commit/reveal.ts";
import type { Program } from "../../../inference/program/form.ts";
import { demandDepth, outputLength, type TreeShape } from "../../../inference/program/shape.ts";
import type { GameAddress } from "../ids.ts";
import type { Claim, ClaimId, GameConstants, ModelId, Request, RequestId } from "../types.ts";
import type { ClaimWord, RequestWord } from "../words.ts";

export interface Ticket {
  readonly demands: number;
  readonly collected: boolean;
}

export interface Demand {
  readonly deadline: number;
  readonly answered: boolean;
}

export interface RequestState {
  readonly request: Request;
  readonly word: RequestWord;
  /** set when truth settled it against its claim or without one */
  readonly result?: Hex;
}

export interface ClaimState {
  readonly claim: Claim;
  readonly word: ClaimWord;
  /** absent until the trace is committed */
  readonly traceRoot?: Hex;
  readonly tickets: ReadonlyMap<Address, Ticket>;
  /** by encoded position */
  readonly demands: ReadonlyMap<bigint, Demand>;
}

/** What the game needs to know of a model. */
export interface ModelFacts {
  readonly lanes: number;
  readonly depth: number;
  /** bytes */
  readonly outputLength: number;
  /** trees of all steps' tensors, in order; absent where only the model word is known: that a demanded position lies
   *  inside is then a fact of the move */
  readonly shapes?: readonly TreeShape[];
}

/** @param lanes that the model was registered with */
export function modelFacts(program: Program, lanes: number): ModelFacts {
  return {
    lanes,
    depth: demandDepth(program),
    outputLength: outputLength(program),
    shapes: traceShapes(program),
  };
}

export interface GameState {
  readonly address: GameAddress;
  readonly constants: GameConstants;
  readonly models: ReadonlyMap<ModelId, ModelFacts>;
  readonly requests: ReadonlyMap<RequestId, RequestState>;
  readonly claims: ReadonlyMap<ClaimId, ClaimState>;
  readonly credits: ReadonlyMap<Address, bigint>;
  readonly proofHalted: ReadonlySet<ModelId>;
  /** wei that ever came in */
  readonly received: bigint;
  /** wei that left by withdraw */
  readonly withdrawn: bigint;
  /** wei burned, pulled or not */
  readonly burned: bigint;
}

export function newGame(
  address: GameAddress,
  constants: GameConstants,
  models: ReadonlyMap<ModelId, ModelFacts>,
): GameState {
  return {
    address,
    constants,
    models,
    requests: new Map(),
    claims: new Map(),
    credits: new Map(),
    proofHalted: new Set(),
    received: 0n,
    withdrawn: 0n,
    burned: 0n,
  };
}
