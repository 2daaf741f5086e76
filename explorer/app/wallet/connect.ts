import { createWalletClient, custom, numberToHex } from "viem";
import { BaseError } from "../../../base/errors.ts";
import { chainOver, clientOver } from "../../../protocol/chain/connect.ts";
import type { Overview } from "../../api/types.ts";
import { deploymentOf } from "./deployment.ts";
import type { Wallet } from "./discover.ts";
import { type WalletParts, walletError } from "./sender.ts";
import { SentHashes } from "./sent.ts";

/** Connects a wallet to the deployment, after its owner has agreed, and checks that its node is on that chain.
 *  @throws BaseError WALLET_REJECTED, WALLET_EMPTY, CHAIN_UNKNOWN; as chainOver does */
export async function connectWallet({ provider }: Wallet, overview: Overview): Promise<WalletParts> {
  const deployment = deploymentOf(overview);
  const transport = custom(provider, { retryCount: 0 });
  const wallet = createWalletClient({ transport });
  const [account] = await asked("the connection", () => wallet.requestAddresses());
  if (account === undefined) {
    throw new BaseError({
      code: "WALLET_EMPTY",
      shortMessage: "The wallet gave no account.",
      nextStep: "Make or unlock an account in it, and connect it to this page.",
    });
  }
  const { chainId, block } = deployment;
  if ((await asked("its chain", () => wallet.getChainId())) !== chainId) {
    await asked(`the switch to chain ${chainId}`, () => switchChain(provider, chainId, overview.chainName));
  }
  const client = clientOver(transport);
  const chain = await chainOver(client, deployment);
  return {
    chain,
    wallet,
    account,
    sent: new SentHashes(() => localStorage, `${chainId}:${block.hash}:${account}`),
  };
}

async function asked<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw walletError(error, what);
  }
}

async function switchChain(
  provider: Wallet["provider"],
  chainId: number,
  name: string | undefined,
): Promise<void> {
  try {
    await provider.request({
      method: "wallet_switchEthereumChain",
      params: [{ chainId: numberToHex(chainId) }],
    });
  } catch (error) {
    const { code } = (error ?? {}) as { code?: unknown };
    // EIP-3326: the chain was never added.
    if (code !== 4902) throw error;
    throw new BaseError({
      code: "CHAIN_UNKNOWN",
      shortMessage: `The wallet does not know chain ${chainId}${name === undefined ? "" : ` (${name})`}.`,
      nextStep: "Add the chain to the wallet with the URL of a node that you trust, and connect again.",
      cause: error,
    });
  }
}
