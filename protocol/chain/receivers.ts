/** Addresses to which no money is sent: it would not come back. */
import { type Address, isAddressEqual } from "viem";
import { ZERO_ADDRESS } from "../rules/types.ts";
import type { Chain } from "./connect.ts";
import { contractsOf } from "./deployment.ts";

/** @returns what the address is, if it must not receive; undefined for any other */
export function receiverFault({ deployment }: Pick<Chain, "deployment">, to: Address): string | undefined {
  if (isAddressEqual(to, ZERO_ADDRESS)) return "the zero address, from which nothing comes back";
  const found = contractsOf(deployment).find(([, contract]) => isAddressEqual(contract, to));
  return found === undefined ? undefined : `this deployment's ${found[0]}`;
}
