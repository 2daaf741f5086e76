/** How deep a block must lie before its events count, where nobody says it. */
import { isLocalChain } from "./local-chains.ts";

/** Blocks by chain id: re-orgs as deep as that are exceptions there. */
const CONFIRMATIONS: Readonly<Record<number, number>> = {
  // Ethereum and Sepolia: late blocks make re-orgs of one block, rarely of two.
  1: 4,
  11155111: 4,
  // Rollups with one sequencer take back next to nothing before their batch is on the chain below.
  10: 2,
  8453: 2,
  42161: 2,
};
/** Unknown chains may be proof-of-authority ones with forks, or have short blocks. */
const ELSEWHERE = 12;

export const defaultConfirmations = (chainId: number): number =>
  isLocalChain(chainId) ? 0 : (CONFIRMATIONS[chainId] ?? ELSEWHERE);
