/** What whoever takes a signed claim instead of a final output asks of the chain (docs/PROMISES.md, "Check"). */

import { formatAmount } from "../../../base/amounts.ts";
import { BaseError, isBaseError } from "../../../base/errors.ts";
import { bondsOf, gasPriceRange } from "../../rules/money.ts";
import { FEE_ROOM } from "../../rules/promises/limits.ts";
import { max } from "../../rules/promises/money.ts";
import { MAX_PRESENTED_BYTES, type Presented } from "../../rules/promises/presented.ts";
import type { Chain } from "../connect.ts";
import { withContext } from "../errors.ts";
import { StateReader } from "../reads.ts";
import { type Found, PromiseStateReader } from "./reads.ts";

export type Acceptance =
  | ({ readonly accepted: true } & Found)
  | { readonly accepted: false; readonly code: string; readonly reason: string };

/** @param leastSeconds that must be left to its end
 *  @returns why not, where the chain says so
 *  @throws BaseError when the chain could not be asked, which says nothing about the promise */
export async function accept(chain: Chain, presented: Presented, leastSeconds: number): Promise<Acceptance> {
  const bytes = (presented.input.length + presented.output.length - 4) / 2;
  if (bytes > MAX_PRESENTED_BYTES) {
    return no(
      "PROMISE_TOO_LARGE",
      `input and output have ${bytes} bytes, of which a transaction opens ${MAX_PRESENTED_BYTES}`,
    );
  }
  const block = await withContext("read the newest block", () => chain.client.getBlock());
  const reader = new PromiseStateReader(chain, block.hash);
  const { claim } = presented;
  let found: Found;
  try {
    found = await reader.check(presented);
  } catch (error) {
    if (!isBaseError(error, "CALL_REVERTED")) throw error;
    return no("PROMISE_REFUSED", error.shortMessage);
  }
  const now = Number(block.timestamp);
  const left = found.end - now;
  if (left < leastSeconds)
    return no("PROMISE_TOO_SHORT", `it ends in ${left} s, at least ${leastSeconds} s are asked for`);
  const [account, word] = await Promise.all([
    reader.account(claim.prover),
    new StateReader(chain, block.hash).model(claim.modelId),
  ]);
  if (account.head !== undefined) {
    const { queuedAt } = await reader.signed(account.head);
    const age = now - queuedAt;
    const { answerSeconds } = chain.constants;
    if (age > answerSeconds)
      return no(
        "QUEUE_STUCK",
        `the first of its prover's queue has waited for ${age} s, at most ${answerSeconds} s are taken`,
      );
  }
  const gasPrice = gasPriceRange(chain.constants, FEE_ROOM * (block.baseFeePerGas ?? 0n)).least;
  const { bond } = bondsOf(chain.constants, { gasPrice, depth: word?.depth ?? 0, minBond: 0n, attempt: 0 });
  const least = max(claim.minBond, bond);
  if (account.free < least)
    return no(
      "STAKE_TOO_LOW",
      `its prover's free stake is ${formatAmount(account.free)}, at least ${formatAmount(least)} is asked for`,
    );
  return { accepted: true, ...found };
}

/** @throws BaseError with the reason, by the codes of `accept`; as `accept` */
export async function requireAccepted(
  chain: Chain,
  presented: Presented,
  leastSeconds: number,
): Promise<Found> {
  const { accepted, ...rest } = await accept(chain, presented, leastSeconds);
  if (accepted) return rest as Found;
  const { code, reason } = rest as { code: string; reason: string };
  throw new BaseError({
    code,
    shortMessage: `The signed claim is not taken: ${reason}.`,
    nextStep: "Ask another prover, or for an output that is final.",
  });
}

const no = (code: string, reason: string): Acceptance => ({ accepted: false, code, reason });
