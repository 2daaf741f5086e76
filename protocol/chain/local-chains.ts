/** Chains on which nothing is at stake: development keys, dishonest provers and drills need no consent there. */

/** Chain ids of anvil and Hardhat, and of geth's developer mode. */
const LOCAL_CHAINS: readonly number[] = [31_337, 1_337];

export const isLocalChain = (chainId: number): boolean => LOCAL_CHAINS.includes(chainId);
