/** `--sweep-to` and `--sweep-above`: where a daemon's money goes that it does not need. */
import { isAddressEqual } from "viem";
import { BaseError } from "../base/errors.ts";
import { receiverFault } from "../protocol/chain/receivers.ts";
import type { SigningChain } from "../protocol/chain/sender.ts";
import type { SweepTerms } from "../protocol/chain/sweep.ts";
import { address, type Config, type Settings, wei } from "../protocol/service/config.ts";

export const SWEEP_SETTINGS = {
  sweepTo: {
    schema: address,
    description: "address that gets what the account holds above --sweep-above; absent: it stays",
  },
  sweepAbove: {
    schema: wei,
    description: "amount that the account keeps for bonds to come, besides the gas of what it owes, wei",
  },
} as const satisfies Settings;

/** @returns undefined where neither is set
 *  @throws BaseError CONFIG_INVALID */
export function sweepTerms(
  { sweepTo: to, sweepAbove: above }: Config<typeof SWEEP_SETTINGS>,
  chain: SigningChain,
): SweepTerms | undefined {
  if (to === undefined && above === undefined) return undefined;
  if (to === undefined) throw invalid("--sweep-above is set and --sweep-to is missing", "Set both, or none.");
  if (above === undefined)
    throw invalid("--sweep-to is set and --sweep-above is missing", "Set both, or none.");
  const fault = isAddressEqual(to, chain.account.address)
    ? "the account of this key itself"
    : receiverFault(chain, to);
  if (fault === undefined) return { to, above };
  throw invalid(`--sweep-to is ${to}: that is ${fault}`, "Name an address whose key you hold elsewhere.");
}

const invalid = (what: string, nextStep: string) =>
  new BaseError({ code: "CONFIG_INVALID", shortMessage: `${what}.`, nextStep });
