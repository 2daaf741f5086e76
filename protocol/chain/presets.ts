/** The chains that Assay knows, in one table: what is set where nobody sets it, and the names that `--chain` takes.
 *  All pay in ether with 18 decimals, in which amounts are shown; a test network's is worth nothing. */
import { BaseError } from "../../base/errors.ts";
import type { DataFeeKind } from "./data-fee.ts";
import { MAX_TRANSACTION_GAS } from "./execution/cost.ts";

export interface ChainPreset {
  readonly id: number;
  readonly name: string;
  /** what `--chain` takes besides the id */
  readonly aliases: readonly string[];
  /** mainnet: its ether has a price; testnet: it has none; local: one machine, and development keys, dishonest provers
   *  and drills need no consent there */
  readonly kind: "mainnet" | "testnet" | "local";
  /** blocks that must lie above a block before its events count: re-orgs as deep as that are exceptions */
  readonly confirmations: number;
  /** T of a deployment, seconds: at least what it takes to force a transaction in past a sequencer or proposers that
   *  leave it out */
  readonly answerSeconds: number;
  /** absent: told by the contracts that the chain has */
  readonly dataFee?: DataFeeKind;
  /** most gas of a transaction */
  readonly transactionGas: number;
  /** usual time between blocks, seconds */
  readonly blockSeconds: number;
  /** address of an explorer, without a slash at its end */
  readonly explorer?: string;
}

/** Late blocks make re-orgs of one block, rarely of two; no proposer can leave a transaction out for an hour alone.
 *  EIP-7825 is active since Osaka. */
const ETHEREUM = {
  confirmations: 4,
  answerSeconds: 3_600,
  dataFee: "none",
  transactionGas: MAX_TRANSACTION_GAS,
  blockSeconds: 12,
} as const;
/** The sequencer takes back next to nothing before its batch is on Ethereum. A deposit is in after the sequencing window
 *  of 3,600 blocks of Ethereum at the latest. Source: superchain-registry, seq_window_size. EIP-7825 is active since the
 *  upgrade Karst (OP) and Azul (Base). Source: docs.base.org, "Throughput and limits"; the notes of op-node 1.19.1. */
const OP_STACK = {
  confirmations: 2,
  answerSeconds: 43_200,
  dataFee: "op-stack",
  transactionGas: MAX_TRANSACTION_GAS,
  blockSeconds: 2,
} as const;
/** The delayed inbox can be forced after 24 hours, and a block, so a transaction too, has 32,000,000 gas. Source:
 *  docs.arbitrum.io, "Chain parameters". */
const ARBITRUM = {
  confirmations: 2,
  answerSeconds: 86_400,
  dataFee: "arbitrum",
  transactionGas: 32_000_000,
  blockSeconds: 0.25,
} as const;
/** All processes share one machine, so answers may take seconds; 4T is the local window that models suggest. */
const LOCAL = {
  kind: "local",
  confirmations: 0,
  answerSeconds: 15,
  transactionGas: MAX_TRANSACTION_GAS,
  blockSeconds: 1,
} as const;

/** Holesky has ended; Hoodi is Ethereum's other public test network. */
export const PRESETS: readonly ChainPreset[] = [
  {
    ...{ id: 1, name: "Ethereum", aliases: ["ethereum", "mainnet"], kind: "mainnet" },
    ...{ ...ETHEREUM, explorer: "https://etherscan.io" },
  },
  {
    ...{ id: 8_453, name: "Base", aliases: ["base"], kind: "mainnet" },
    ...{ ...OP_STACK, explorer: "https://basescan.org" },
  },
  {
    ...{ id: 10, name: "OP Mainnet", aliases: ["op", "optimism"], kind: "mainnet" },
    ...{ ...OP_STACK, explorer: "https://optimistic.etherscan.io" },
  },
  {
    ...{ id: 42_161, name: "Arbitrum One", aliases: ["arbitrum", "arbitrum-one"], kind: "mainnet" },
    ...{ ...ARBITRUM, explorer: "https://arbiscan.io" },
  },
  {
    ...{ id: 11_155_111, name: "Sepolia", aliases: ["sepolia"], kind: "testnet" },
    ...{ ...ETHEREUM, explorer: "https://sepolia.etherscan.io" },
  },
  {
    ...{ id: 560_048, name: "Hoodi", aliases: ["hoodi"], kind: "testnet" },
    ...{ ...ETHEREUM, explorer: "https://hoodi.etherscan.io" },
  },
  {
    ...{ id: 84_532, name: "Base Sepolia", aliases: ["base-sepolia"], kind: "testnet" },
    ...{ ...OP_STACK, explorer: "https://sepolia.basescan.org" },
  },
  {
    ...{ id: 11_155_420, name: "OP Sepolia", aliases: ["op-sepolia", "optimism-sepolia"], kind: "testnet" },
    ...{ ...OP_STACK, explorer: "https://optimism-sepolia.blockscout.com" },
  },
  {
    ...{ id: 421_614, name: "Arbitrum Sepolia", aliases: ["arbitrum-sepolia"], kind: "testnet" },
    ...{ ...ARBITRUM, explorer: "https://sepolia.arbiscan.io" },
  },
  { id: 31_337, name: "anvil or Hardhat", aliases: ["local", "anvil", "hardhat"], ...LOCAL },
  { id: 1_337, name: "geth's developer mode", aliases: ["geth-dev"], ...LOCAL },
];

/** Where --gas-price-floor is absent, wei: the same on every chain, for Assay's address depends on it. It counts where
 *  the base fee lies below a fifth of it. */
export const GAS_PRICE_FLOOR = 10n ** 9n;

/** Of a chain without a preset: it may be a proof-of-authority one with forks, or have short blocks. */
const CONFIRMATIONS_ELSEWHERE = 12;

export const presetOf = (chainId: number): ChainPreset | undefined =>
  PRESETS.find(({ id }) => id === chainId);

/** @param text name, alias or chain id, in any case
 *  @throws BaseError CONFIG_INVALID */
export function presetNamed(text: string): ChainPreset {
  const wanted = text.toLowerCase();
  const found = PRESETS.find(
    ({ id, name, aliases }) =>
      aliases.includes(wanted) || name.toLowerCase() === wanted || String(id) === wanted,
  );
  if (found !== undefined) return found;
  throw new BaseError({
    code: "CONFIG_INVALID",
    shortMessage: `There is no preset for a chain ${JSON.stringify(text)}.`,
    nextStep: `Use ${PRESETS.map(({ aliases: [alias] }) => alias).join(", ")} or a chain id of theirs; leave --chain out for another chain.`,
  });
}

export const isLocalChain = (chainId: number): boolean => presetOf(chainId)?.kind === "local";

export const defaultConfirmations = (chainId: number): number =>
  presetOf(chainId)?.confirmations ?? CONFIRMATIONS_ELSEWHERE;

/** A chain without a preset may have the limit of Ethereum. */
export const transactionGasOn = (chainId: number): number =>
  presetOf(chainId)?.transactionGas ?? MAX_TRANSACTION_GAS;

/** "Base (chain 8453)", "chain 4242" */
export function chainName(chainId: number): string {
  const name = presetOf(chainId)?.name;
  return name === undefined ? `chain ${chainId}` : `${name} (chain ${chainId})`;
}

/** The explorer's page; undefined on a chain whose explorer is not known. */
export const addressLink = (chainId: number, address: string): string | undefined =>
  linkOn(chainId, "address", address);
export const transactionLink = (chainId: number, hash: string): string | undefined =>
  linkOn(chainId, "tx", hash);

function linkOn(chainId: number, page: "address" | "tx", subject: string): string | undefined {
  const explorer = presetOf(chainId)?.explorer;
  return explorer === undefined ? undefined : `${explorer}/${page}/${subject}`;
}
