/** A prover's queue, as its events tell. */
import { type Address, pad } from "viem";
import type { Chain } from "../../protocol/chain/connect.ts";
import { type PromiseEvent, promiseHistory } from "../../protocol/chain/promises/events.ts";
import { PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import type { Presented } from "../../protocol/rules/promises/presented.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";

export interface Waiting extends Omit<Presented, "signature"> {
  readonly digest: Digest;
  readonly opener: Address;
  readonly depositWei: bigint;
  /** block in which it joined the queue */
  readonly queuedAt: bigint;
}

/** In order; the first is the head. */
export async function queueOf(chain: Chain, prover: Address) {
  const account = await new PromiseStateReader(chain).account(prover);
  return { account, queue: waitingIn(await promiseHistory(chain, pad(prover))) };
}

/** @param events that name one prover, in order */
export function waitingIn(events: readonly PromiseEvent[]): Waiting[] {
  const queue = new Map<Digest, Waiting>();
  for (const event of events) {
    if (event.name === "Queued") {
      const { digest, opener, deposit: depositWei, signed: claim, input, output } = event.args;
      queue.set(digest, { digest, opener, depositWei, claim, input, output, queuedAt: event.block.number });
    } else if (event.name === "Passed") {
      const { digest } = event.args;
      const passed = queue.get(digest);
      queue.delete(digest);
      if (passed !== undefined) queue.set(digest, passed);
    } else if (event.name === "Opened" || event.name === "TakenBack") queue.delete(event.args.digest);
  }
  return [...queue.values()];
}
