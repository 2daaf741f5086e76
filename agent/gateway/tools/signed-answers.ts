/** Outputs that a prover signed, for a tool whose policy takes them (docs/PROMISES.md): each one is checked by the
 *  contract's own word before anybody sees it, and whoever gets it gets what opening it takes. */
import { type Address, type Hex, keccak256 } from "viem";
import { abortAfter } from "../../../base/abort.ts";
import { isBaseError } from "../../../base/errors.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { promisesOf } from "../../../protocol/chain/promises/place.ts";
import { renderPresented } from "../../../protocol/rules/promises/presented.ts";
import { report, type Signable, type SignedBytes, takeSigned } from "../../sdk/signed.ts";
import type { Evidence } from "../tool.ts";

/** Which signed answers a tool takes where nothing is final. */
export interface SignedPolicy {
  /** of the prover's HTTP interface */
  readonly url: string;
  /** whose promise is taken; absent: anybody's whose stake is there */
  readonly prover?: Address | undefined;
  /** that must be left until nobody can open it any more */
  readonly leastSeconds: number;
  /** true: each answer also goes into a batch, by which it becomes final without a request */
  readonly batch: boolean;
  /** challengers that each answer is handed to */
  readonly reportTo: readonly string[];
}

export const DEFAULT_LEAST_SECONDS = 3_600;
const REPORT_MS = 10_000;

/** @param minBond that the signed claim must name, wei
 *  @returns undefined where the prover gave no signed answer
 *  @throws BaseError as takeSigned does, for an answer that is not taken */
export async function signedAnswer(
  chain: Chain,
  model: Signable,
  input: Hex,
  { url, prover, leastSeconds, batch, reportTo }: SignedPolicy,
  minBond: bigint,
  signal: AbortSignal,
): Promise<SignedBytes | undefined> {
  const requester = chain.account?.address;
  try {
    const signed = await takeSigned(chain, model, input, {
      ...{ url, leastSeconds, minBond, batch, signal },
      ...(prover === undefined ? {} : { prover }),
      ...(requester === undefined ? {} : { requester }),
    });
    // Nobody waits for it: a challenger that is away is no reason to hold an answer back.
    void report(chain, signed, reportTo, abortAfter(REPORT_MS));
    return signed;
  } catch (error) {
    if (isBaseError(error, "PROVER_REFUSED")) return undefined;
    throw error;
  }
}

/** What a result says of it. */
export function signedEvidence(
  chain: Pick<Chain, "deployment">,
  { presented, digest, end, bond }: SignedBytes,
): Evidence {
  return {
    outputHash: keccak256(presented.output),
    lane: "BOND",
    ...{ digest, end, bondWei: bond.toString() },
    signedClaim: renderPresented(promisesOf(chain.deployment), presented),
  };
}
