/** The first block: the same for the same chain id and accounts. */
import { type Block, createBlock } from "@ethereumjs/block";
import { type Common, createCustomCommon, Hardfork, Mainnet } from "@ethereumjs/common";
import { createAccount, createAddressFromString } from "@ethereumjs/util";
import type { VM } from "@ethereumjs/vm";
import type { Address } from "viem";

/** Gas of a block, and so of a transaction. */
export const BLOCK_GAS = 30_000_000n;
/** Each account's at the start, wei. */
const BALANCE = 10_000n * 10n ** 18n;
/** What Ethereum began EIP-1559 with, wei. */
const BASE_FEE = 1_000_000_000n;

/** Rules of Cancun: all that the contracts need, and no system contracts to deploy. */
export const rulesOf = (chainId: number): Common =>
  createCustomCommon({ chainId, name: "assay-devchain" }, Mainnet, { hardfork: Hardfork.Cancun });

/** Funds the accounts in an empty state and gives the block of that state. */
export async function createGenesis(vm: VM, accounts: readonly Address[]): Promise<Block> {
  for (const account of accounts) {
    await vm.stateManager.putAccount(createAddressFromString(account), createAccount({ balance: BALANCE }));
  }
  const stateRoot = await vm.stateManager.getStateRoot();
  const header = { number: 0, gasLimit: BLOCK_GAS, baseFeePerGas: BASE_FEE, timestamp: 1, stateRoot };
  return createBlock({ header, withdrawals: [] }, { common: vm.common });
}
