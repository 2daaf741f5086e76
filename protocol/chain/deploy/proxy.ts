/** The deterministic deployment proxy: a contract without owner or state that creates by CREATE2 whatever it is called
 *  with, a salt and the creation code. Its address, its code and the transaction that puts it on a chain are those of
 *  github.com/Arachnid/deterministic-deployment-proxy; most chains have it. */
import {
  type Address,
  concat,
  createWalletClient,
  custom,
  type Hex,
  type LocalAccount,
  type PublicClient,
} from "viem";
import { formatAmount } from "../../../base/amounts.ts";
import { BaseError } from "../../../base/errors.ts";
import { withContext } from "../errors.ts";
import { chainName, isLocalChain } from "../presets.ts";

export const PROXY_ADDRESS: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
/** Of the contract as it stands. */
export const PROXY_CODE: Hex =
  "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";
/** Signed for every chain, by a key that nobody has: its signature was chosen, and the signer computed from it. */
export const PROXY_TRANSACTION: Hex =
  "0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222";
export const PROXY_SIGNER: Address = "0x3fAB184622Dc19b6109349B94811493BF2a45362";
/** What its signer pays: 100,000 gas at 100 gwei. */
export const PROXY_COST = 10n ** 16n;

/** Calldata by which the proxy creates a contract. */
export const proxyCall = (salt: Hex, initCode: Hex): Hex => concat([salt, initCode]);

/** @returns whether the chain has the proxy
 *  @throws BaseError PROXY_DIFFERS for other code at its address, which could create anything anywhere */
export async function hasProxy(client: PublicClient, chainId: number): Promise<boolean> {
  const code = await withContext("read the deployment proxy's code", () =>
    client.getCode({ address: PROXY_ADDRESS }),
  );
  if (code === PROXY_CODE) return true;
  if (code === undefined || code === "0x") return false;
  throw new BaseError({
    code: "PROXY_DIFFERS",
    shortMessage: `On ${chainName(chainId)} other code stands at ${PROXY_ADDRESS} than the deterministic deployment proxy's: ${(code.length - 2) / 2} bytes.`,
    nextStep: "Do not use it; deploy with --plain-create, to addresses that only this chain has.",
    details: { address: PROXY_ADDRESS },
  });
}

export const proxyMissing = (chainId: number): BaseError =>
  new BaseError({
    code: "PROXY_MISSING",
    shortMessage: `${chainName(chainId)} has no deterministic deployment proxy at ${PROXY_ADDRESS}.`,
    nextStep: `Send ${formatAmount(PROXY_COST)} to ${PROXY_SIGNER} and then the signed transaction ${PROXY_TRANSACTION}, or use --plain-create, to addresses that only this chain has.`,
    details: { address: PROXY_ADDRESS },
  });

/** Sees to it that the proxy is there. A local chain gets it, for the account's money.
 *  @throws BaseError PROXY_MISSING, PROXY_DIFFERS */
export async function ensureProxy(
  client: PublicClient,
  chainId: number,
  account: LocalAccount,
  pollingInterval: number,
): Promise<void> {
  if (await hasProxy(client, chainId)) return;
  if (!isLocalChain(chainId)) throw proxyMissing(chainId);
  await withContext("put the deployment proxy on the chain", async () => {
    const wallet = createWalletClient({ account, transport: custom(client) });
    const mined = (hash: Hex) => client.waitForTransactionReceipt({ hash, pollingInterval });
    await mined(await wallet.sendTransaction({ chain: null, to: PROXY_SIGNER, value: PROXY_COST }));
    await mined(await client.sendRawTransaction({ serializedTransaction: PROXY_TRANSACTION }));
  });
  if (!(await hasProxy(client, chainId))) throw proxyMissing(chainId);
}
