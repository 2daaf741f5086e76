/** Moves as transactions, each under the key by which the journal knows it.
 *
 *  A key names the effect, not the attempt: sending it twice sends once. `doneBy` lists the contract's errors that
 *  mean that the effect is already there, by this or another sender. */
import { type Address, concatHex, encodeFunctionData, type Hex, keccak256 } from "viem";
import { iAssayAbi } from "../rules/generated/abis.ts";
import { claimIdOf, type GameAddress, requestIdOf } from "../rules/ids.ts";
import { encodeOrder } from "../rules/orders.ts";
import { encodeSettlement, type Settlement } from "../rules/settlements.ts";
import {
  type Claim,
  type ModelId,
  NO_CLAIM,
  type Opening,
  type Request,
  type TruthLane,
} from "../rules/types.ts";

export interface Action {
  readonly key: string;
  readonly to: Address;
  readonly data: Hex;
  /** wei */
  readonly value: bigint;
  /** gas limit; absent: estimated */
  readonly gas?: bigint;
  /** wei that the account must have left when this and all that is on its way are mined; absent: 0 */
  readonly leaves?: bigint;
  /** names of reverts that mean that there is nothing left to do */
  readonly doneBy: readonly string[];
  /** name of the revert that time alone cures: the next block may take what the newest one refuses */
  readonly tooEarly?: string;
  /** of an answer without which a bond is lost: what is left of its time by the chain, seconds */
  readonly owed?: { readonly secondsLeft: number };
}

/** The error by which a claim that ended shows itself to a late move. */
const OVER = ["ClaimNotActive", "ClaimIsFinal"] as const;

/** Builders of the actions of one game. */
export class Actions {
  readonly #game: GameAddress;

  constructor(game: GameAddress) {
    this.#game = game;
  }

  /** The request's requester must be the sender: an order names none.
   *  @throws BaseError INPUT_MISMATCH */
  request(request: Request, input: Hex): Action {
    const args = [request.modelId, encodeOrder(request, input)] as const;
    const data = encodeFunctionData({ abi: iAssayAbi, functionName: "request", args });
    const value = request.fee + request.deliveryFee;
    return this.#action(`request:${this.#idOf(request)}`, data, ["AlreadyRequested"], value);
  }

  /** @param attempt how many claims on the request fell before @param bond exact, from `bondsOf` */
  claim(
    request: Request,
    attempt: number,
    operator: Address,
    gasPrice: bigint,
    output: Hex,
    bond: bigint,
  ): Action {
    const data = encodeFunctionData({
      abi: iAssayAbi,
      functionName: "claim",
      args: [request, operator, gasPrice, output],
    });
    return this.#action(`claim:${this.#idOf(request)}:${attempt}`, data, [], bond);
  }

  challenge(claim: Claim): Action {
    const data = encodeFunctionData({ abi: iAssayAbi, functionName: "challenge", args: [claim] });
    return this.#onClaim("challenge", claim, data, ["AlreadyHolding"], claim.ticketBond);
  }

  commitTrace(claim: Claim, tops: readonly Hex[]): Action {
    const data = encodeFunctionData({ abi: iAssayAbi, functionName: "commitTrace", args: [claim, tops] });
    return this.#onClaim("commitTrace", claim, data, ["TraceAlreadyCommitted"]);
  }

  /** @param position encoded */
  demand(claim: Claim, traceRoot: Hex, position: bigint): Action {
    const data = encodeFunctionData({
      abi: iAssayAbi,
      functionName: "demand",
      args: [claim, traceRoot, position],
    });
    return this.#onClaim(`demand:${position}`, claim, data, ["AlreadyDemanded"]);
  }

  /** @param position encoded @param path siblings to the trace root, bottom up */
  reveal(claim: Claim, position: bigint, content: readonly Hex[], path: readonly Hex[]): Action {
    const data = encodeFunctionData({
      abi: iAssayAbi,
      functionName: "reveal",
      args: [claim, position, content, path],
    });
    return this.#onClaim(`reveal:${position}`, claim, data, ["AlreadyAnswered"]);
  }

  convictElement(claim: Claim, step: number, element: number, openings: readonly Opening[]): Action {
    const data = encodeFunctionData({
      abi: iAssayAbi,
      functionName: "convictElement",
      args: [claim, BigInt(step), BigInt(element), openings],
    });
    return this.#onClaim("convict", claim, data, OVER);
  }

  convictCodec(
    request: Request,
    claim: Claim,
    step: number,
    input: Hex,
    tensorRoot: Hex,
    path: readonly Hex[],
  ): Action {
    const data = encodeFunctionData({
      abi: iAssayAbi,
      functionName: "convictCodec",
      args: [request, claim, BigInt(step), input, tensorRoot, path],
    });
    return this.#onClaim("convict", claim, data, OVER);
  }

  /** @param output of the claim @param element of the last tensor @param openings its word; none for a wrong form */
  convictOutput(claim: Claim, output: Hex, element: number, openings: readonly Opening[]): Action {
    const data = encodeFunctionData({
      abi: iAssayAbi,
      functionName: "convictOutput",
      args: [claim, output, BigInt(element), openings],
    });
    return this.#onClaim("convict", claim, data, OVER);
  }

  timeoutTrace(claim: Claim): Action {
    const data = encodeFunctionData({ abi: iAssayAbi, functionName: "timeoutTrace", args: [claim] });
    const doneBy = ["ClaimNotActive", "TraceAlreadyCommitted"];
    return { ...this.#onClaim("timeoutTrace", claim, data, doneBy), tooEarly: "DeadlineNotPassed" };
  }

  /** @param position encoded */
  timeoutDemand(claim: Claim, position: bigint): Action {
    const data = encodeFunctionData({
      abi: iAssayAbi,
      functionName: "timeoutDemand",
      args: [claim, position],
    });
    const doneBy = ["ClaimNotActive", "AlreadyAnswered"];
    const action = this.#onClaim(`timeoutDemand:${position}`, claim, data, doneBy);
    return { ...action, tooEarly: "DeadlineNotPassed" };
  }

  /** @param claim absent: the request has no live claim */
  settle(
    request: Request,
    claim: Claim | undefined,
    lane: TruthLane,
    input: Hex,
    output: Hex,
    evidence: Hex,
  ): Action {
    const data = encodeFunctionData({
      abi: iAssayAbi,
      functionName: "settle",
      args: [request, claim ?? NO_CLAIM, lane, input, output, evidence],
    });
    return this.#action(`settle:${this.#idOf(request)}`, data, ["ClaimIsFinal", "RequestSettled"]);
  }

  /** Settles requests of one model by proofs.
   *  @param submitter the sender, to whom the proofs are bound
   *  @throws BaseError INPUT_MISMATCH */
  settleBatch(modelId: ModelId, submitter: Address, settlements: readonly Settlement[]): Action {
    const batch = settlements.map(encodeSettlement);
    const data = encodeFunctionData({
      abi: iAssayAbi,
      functionName: "settleBatch",
      args: [modelId, submitter, batch],
    });
    const ids = settlements.map(({ request }) => this.#idOf(request));
    return this.#action(`settleBatch:${keccak256(concatHex(ids))}`, data, []);
  }

  finalize(request: Request, claim: Claim): Action {
    const data = encodeFunctionData({ abi: iAssayAbi, functionName: "finalize", args: [request, claim] });
    return { ...this.#onClaim("finalize", claim, data, ["ClaimNotActive"]), tooEarly: "ClaimNotFinal" };
  }

  /** @param claim the final claim; absent after truth without an agreeing claim
   *  @param failures deliveries of this account that were mined while the callback failed: the next is another */
  deliver(request: Request, claim: Claim | undefined, output: Hex, failures = 0): Action {
    const data = encodeFunctionData({
      abi: iAssayAbi,
      functionName: "deliver",
      args: [request, claim ?? NO_CLAIM, output],
    });
    const attempt = failures === 0 ? "" : `:${failures}`;
    return this.#action(`deliver:${this.#idOf(request)}${attempt}`, data, ["AlreadyDelivered"]);
  }

  reclaimDelivery(request: Request): Action {
    const data = encodeFunctionData({ abi: iAssayAbi, functionName: "reclaimDelivery", args: [request] });
    return this.#action(`reclaimDelivery:${this.#idOf(request)}`, data, [
      "NothingToReclaim",
      "AlreadyDelivered",
    ]);
  }

  refund(request: Request): Action {
    const data = encodeFunctionData({ abi: iAssayAbi, functionName: "refund", args: [request] });
    return this.#action(`refund:${this.#idOf(request)}`, data, []);
  }

  collect(claim: Claim, owner: Address): Action {
    const data = encodeFunctionData({ abi: iAssayAbi, functionName: "collect", args: [claim, owner] });
    return this.#onClaim(`collect:${owner}`, claim, data, ["AlreadyCollected"]);
  }

  /** @param occasion names this withdrawal: the same occasion withdraws once */
  withdraw(to: Address, occasion: string): Action {
    const data = encodeFunctionData({ abi: iAssayAbi, functionName: "withdraw", args: [to] });
    return this.#action(`withdraw:${to}:${occasion}`, data, ["NoCredit"]);
  }

  #onClaim(what: string, claim: Claim, data: Hex, doneBy: readonly string[], value = 0n): Action {
    const [move, ...rest] = what.split(":");
    const key = [move, claimIdOf(this.#game, claim), ...rest].join(":");
    return this.#action(key, data, doneBy, value);
  }

  #action(key: string, data: Hex, doneBy: readonly string[], value = 0n): Action {
    return { key, to: this.#game.assay, data, value, doneBy };
  }

  #idOf(request: Request): Hex {
    return requestIdOf(this.#game, request);
  }
}
