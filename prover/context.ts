/** What the parts of a prover share. */
import type { Address } from "viem";
import type { Logger } from "../base/log.ts";
import type { Action, Actions } from "../protocol/chain/actions.ts";
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import type { EndingBudget, EndingResult } from "../protocol/chain/endings.ts";
import { PromiseActions } from "../protocol/chain/promises/actions.ts";
import { promisesOf } from "../protocol/chain/promises/place.ts";
import type { Sender, SigningChain } from "../protocol/chain/sender.ts";
import type { ChainClock } from "../protocol/service/metrics/chain-clock.ts";
import type { EventStore } from "../protocol/service/store/event-store.ts";
import type { Policy } from "./decide.ts";
import type { FailedDeliveries } from "./failed-deliveries.ts";
import type { TruthSource } from "./lanes/source.ts";
import type { ServedModels } from "./models.ts";
import type { Outbox } from "./outbox.ts";
import type { Runs } from "./runs.ts";
import type { TraceWorkers } from "./worker-traces.ts";
import { again, DONE, type Outcome } from "./workers.ts";

export interface Context {
  readonly chain: SigningChain;
  readonly clock: ChainClock;
  readonly sender: Sender;
  readonly actions: Actions;
  readonly store: EventStore;
  readonly models: ServedModels;
  readonly runs: Runs;
  /** absent: this machine alone makes traces */
  readonly traceWorkers?: TraceWorkers | undefined;
  /** methods of settling at once, none for a node that only bonds */
  readonly truths: readonly TruthSource[];
  readonly outbox: Outbox;
  readonly policy: Policy;
  readonly failedDeliveries: FailedDeliveries;
  /** pays for ending claims of others that block requests */
  readonly budget: EndingBudget;
  /** most wei a unit of gas */
  readonly maxFee: bigint;
  /** named in claims: it may commit traces too; zero: nobody */
  readonly operator: Address;
  readonly log: Logger;
  /** aborts when the node stops */
  readonly signal: AbortSignal;
}

/** True if this key is the claim's prover or operator. */
export const isOwn = ({ chain }: Pick<Context, "chain">, { claim }: ClaimEntry): boolean =>
  claim.prover === chain.account.address || claim.operator === chain.account.address;

/** True if the claim is what a promise became: Promises is its prover, and whoever promised its operator. */
export const isPromised = (
  { chain }: { readonly chain: Pick<SigningChain, "deployment"> },
  { claim }: Pick<ClaimEntry, "claim">,
): boolean => claim.prover === chain.deployment.contracts.promises;

/** @throws BaseError PROMISES_MISSING */
export const promiseActions = ({ chain }: Pick<Context, "chain">): PromiseActions =>
  new PromiseActions(promisesOf(chain.deployment), chain.game);

/** After a refusal: the state that it came from changes with blocks, not at once. */
const REFUSED_AFTER_MS = 2_000;

/** After which a move that would cost too much is thought of again. */
const WITHHELD_MS = 60_000;

/** Brings an action onto the chain.
 *  @param facts of the log line @param send absent: by the sender, whatever it costs */
export async function carryOut(
  { sender, log, signal }: Pick<Context, "sender" | "log" | "signal">,
  action: Action,
  facts: Record<string, unknown>,
  send: () => Promise<EndingResult> = () => sender.send(action, signal),
): Promise<Outcome> {
  const result = await send();
  switch (result.status) {
    case "sent":
      log.info({ ...facts, gas: result.inclusion.gasUsed, hash: result.inclusion.hash }, "moved");
      return DONE;
    case "already-done":
      return DONE;
    case "refused":
      return again(`the contract refuses: ${result.revert.message}`, REFUSED_AFTER_MS);
    case "retryable":
      return again(result.error.message);
    case "withheld":
      return again(result.reason, WITHHELD_MS);
  }
}
