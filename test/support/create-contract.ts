/** One contract on a local chain, from its artifact. */
import { type Address, createWalletClient, encodeDeployData, http } from "viem";
import type { Artifact } from "../../protocol/chain/deploy/parts.ts";
import { accountAt, type LocalChain } from "./anvil.ts";

/** Creates it by the chain's first account, and waits until it is mined. */
export async function createContract(
  { rpcUrl, client }: Pick<LocalChain, "rpcUrl" | "client">,
  { abi, bytecode }: Artifact,
  args: readonly unknown[],
): Promise<Address> {
  const wallet = createWalletClient({ account: accountAt(0), transport: http(rpcUrl) });
  const hash = await wallet.sendTransaction({
    chain: null,
    data: encodeDeployData({ abi, bytecode, args }),
  });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  return contractAddress as Address;
}
