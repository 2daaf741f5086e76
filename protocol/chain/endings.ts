/** Claims that owe an answer which is overdue. Whoever ends one gets nothing for it, so there are limits to what that
 *  may cost. All times in seconds, money in wei. */
import { type Address, concatHex, keccak256, size } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import type { ClaimId } from "../rules/types.ts";
import type { ClaimWord } from "../rules/words.ts";
import type { Action } from "./actions.ts";
import type { ClaimEntry } from "./claim-index.ts";
import { dataFeeOf } from "./data-fee.ts";
import { chainError } from "./errors.ts";
import { currentFees } from "./fees.ts";
import type { Sender, SendResult, SigningChain } from "./sender.ts";

/** The move that ends a claim by an answer that was not given in time. */
export type Ending =
  | { readonly kind: "timeoutTrace" }
  | { readonly kind: "timeoutDemand"; readonly position: bigint };

/** Gas limit of such a move: 64,000 measured, with room for storage costs that other moves of its block change. */
export const ENDING_GAS = 100_000n;
/** Most seconds between the first who may end a claim without a stake in it and the last. */
const SPREAD_SECONDS = 60;
const HOUR_MS = 3_600_000;

/** Whether the claim's prover has to answer, late or not; told by events alone. */
export const owesAnswer = ({ status, challengers, trace, demands }: ClaimEntry): boolean =>
  status === "active" &&
  challengers.size > 0 &&
  (trace === undefined || [...demands.values()].some(({ content }) => content === undefined));

/** The answer that an active claim did not give in time, if there is one.
 *  @param word at the same block as the entry */
export function overdueAnswer(entry: ClaimEntry, word: ClaimWord, now: number): Ending | undefined {
  if (word.state !== "ACTIVE") return undefined;
  if (entry.trace === undefined && word.traceDeadline !== 0 && now > word.traceDeadline) {
    return { kind: "timeoutTrace" };
  }
  for (const [position, { deadline, content }] of entry.demands) {
    if (content === undefined && now > deadline) return { kind: "timeoutDemand", position };
  }
  return undefined;
}

/** How long after the deadline somebody without a ticket ends a claim: those who hold one come first, and the others
 *  one after the other, in an order that differs from claim to claim. */
export function endingDelay(own: Address, claim: ClaimId, answerSeconds: number): number {
  const spread = Math.max(1, Math.min(Math.floor(answerSeconds / 2), SPREAD_SECONDS));
  return Number(BigInt(keccak256(concatHex([own, claim]))) % BigInt(spread));
}

/** Why a claim is left to others.
 *  @param bond of its prover @param left of the budget
 *  @returns undefined if it may be ended */
export function endingRefusal(cost: bigint, bond: bigint, left: bigint): string | undefined {
  // INVARIANT: half of the bond is burned, so nobody can make others pay more than that costs.
  if (cost > bond / 2n)
    return `ending it may cost ${formatAmount(cost)}, more than the ${formatAmount(bond / 2n)} that its fall burns`;
  if (cost <= left) return undefined;
  return `ending it may cost ${formatAmount(cost)}, the hour's budget has ${formatAmount(left)} left; --ending-budget raises it`;
}

/** Gas that may be paid within any hour for ending claims without a stake in them. */
export class EndingBudget {
  readonly #limit: bigint;
  readonly #nowMs: () => number;
  readonly #spent = new Map<string, { readonly atMs: number; readonly wei: bigint }>();

  /** @param limit wei an hour */
  constructor(limit: bigint, nowMs: () => number) {
    this.#limit = limit;
    this.#nowMs = nowMs;
  }

  /** wei, never below 0. @param key what was booked for it before does not count */
  left(key?: string): bigint {
    let left = this.#limit;
    for (const [other, { atMs, wei }] of this.#spent) {
      if (atMs <= this.#nowMs() - HOUR_MS) this.#spent.delete(other);
      else if (other !== key) left -= wei;
    }
    return left > 0n ? left : 0n;
  }

  /** @param key of the action, of which the last booking counts @param wei 0 takes it back */
  record(key: string, wei: bigint): void {
    this.#spent.delete(key);
    if (wei > 0n) this.#spent.set(key, { atMs: this.#nowMs(), wei });
  }
}

/** What ends claims without a stake in them. */
export interface EndingParts {
  readonly chain: SigningChain;
  readonly sender: Sender;
  readonly budget: EndingBudget;
  /** most wei a unit of gas */
  readonly maxFee: bigint;
}

/** `withheld`: nothing was sent, because it would cost too much. */
export type EndingResult = SendResult | { readonly status: "withheld"; readonly reason: string };

/** Sends the move if its gas is covered, and records what it cost. The sender simulates it first: where somebody else
 *  was faster by a block it costs nothing, by less than that the gas of an early revert.
 *  @param bond of the claim's prover */
export async function endWithinBudget(
  { chain, sender, budget, maxFee }: EndingParts,
  action: Action,
  bond: bigint,
  signal?: AbortSignal,
): Promise<EndingResult> {
  let cost: bigint;
  let gas = ENDING_GAS;
  let beside = 0n;
  try {
    const [{ maxFeePerGas }, dataFee, block] = await Promise.all([
      currentFees(chain.client, maxFee),
      chain.dataFee.read(),
      chain.client.getBlock(),
    ]);
    const data = dataFeeOf(dataFee, size(action.data));
    // Arbitrum takes it out of the gas limit, at the base fee.
    if (dataFee.kind === "arbitrum") gas += data / (block.baseFeePerGas || 1n) + 1n;
    else beside = data;
    cost = gas * maxFeePerGas + beside;
  } catch (error) {
    return { status: "retryable", error: chainError(error, `price ${action.key}`) };
  }
  const reason = endingRefusal(cost, bond, budget.left(action.key));
  if (reason !== undefined) return { status: "withheld", reason };
  budget.record(action.key, cost);
  const result = await sender.send({ ...action, gas }, signal);
  // What is not known yet stays booked at its greatest cost.
  if (result.status !== "retryable") {
    const { inclusion } = result;
    budget.record(action.key, inclusion === undefined ? 0n : inclusion.gasUsed * inclusion.gasPrice + beside);
  }
  return result;
}
