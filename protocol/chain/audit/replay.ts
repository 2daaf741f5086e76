/** One request with its claims, played again in the machine from the events that tell of it. */
import type { Address } from "viem";
import { formatAmount } from "../../../base/amounts.ts";
import {
  bondsHeld,
  type ClaimState,
  feesHeld,
  type GameState,
  type Move,
  play,
  type RequestState,
} from "../../rules/machine.ts";
import type { ClaimId, ModelId, RequestId } from "../../rules/types.ts";
import { brokenBy, RuleBroken } from "./rules.ts";

/** What a move does with money, wei. */
export interface Flow {
  readonly received: bigint;
  readonly burned: bigint;
  /** what the contract holds for others than its creditors: more, or less */
  readonly held: bigint;
  readonly credited: readonly { readonly account: Address; readonly amount: bigint }[];
}

export class Replay {
  #state: GameState;
  readonly #id: RequestId;

  /** @param start a game without requests and claims */
  constructor(start: GameState, id: RequestId) {
    this.#state = start;
    this.#id = id;
  }

  /** @throws RuleBroken before the request was filed */
  get request(): RequestState {
    const held = this.#state.requests.get(this.#id);
    if (held === undefined) throw new RuleBroken("identity", `no event files request ${this.#id}`);
    return held;
  }

  /** of this request alone, its credits left out */
  get state(): GameState {
    return this.#state;
  }

  get claims(): Iterable<ClaimState> {
    return this.#state.claims.values();
  }

  /** @throws RuleBroken for a claim that nobody filed */
  claim(id: ClaimId): ClaimState {
    const held = this.#state.claims.get(id);
    if (held === undefined) throw new RuleBroken("identity", `no event files claim ${id}`);
    return held;
  }

  /** The claim that may still become final. */
  get live(): ClaimId | undefined {
    return [...this.#state.claims].find(([, { word }]) => word.state === "ACTIVE")?.[0];
  }

  /** @param halted models whose proofs do not count any more
   *  @returns what it does with money, and the claim that it made
   *  @throws RuleBroken if the machine refuses the move, or the books do not balance after it */
  play(move: Move, halted: ReadonlySet<ModelId>): Flow & { readonly claimId?: ClaimId } {
    const before = this.#state;
    const result = play({ ...before, proofHalted: halted }, move);
    if (!result.ok) {
      throw new RuleBroken(
        brokenBy(result.refusal),
        `${move.kind} at ${move.now} must be refused by ${result.refusal}`,
      );
    }
    const { state, claimId } = result;
    const credited = [...state.credits].map(([account, amount]) => ({ account, amount }));
    this.#state = { ...state, credits: new Map() };
    const flow = {
      received: state.received - before.received,
      burned: state.burned - before.burned,
      held: heldBy(state) - heldBy(before),
      credited,
    };
    const paid = credited.reduce((sum, { amount }) => sum + amount, flow.burned);
    if (flow.received !== flow.held + paid) {
      throw new RuleBroken(
        "books",
        `${formatAmount(flow.received)} came, ${formatAmount(flow.held)} stay and ${formatAmount(paid)} are paid or burned`,
      );
    }
    return claimId === undefined ? flow : { ...flow, claimId };
  }
}

function heldBy({ claims, requests }: GameState): bigint {
  let total = 0n;
  for (const claim of claims.values()) total += bondsHeld(claim);
  for (const request of requests.values()) total += feesHeld(request);
  return total;
}
