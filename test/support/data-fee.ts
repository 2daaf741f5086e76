/** The contracts by which chains tell what they ask for data, on a local chain. */
import { type Abi, createWalletClient, http } from "viem";
import { loadArtifact } from "../../cli/artifacts.ts";
import { ARB_GAS_INFO, GAS_PRICE_ORACLE } from "../../protocol/chain/data-fee.ts";
import { ensureCompiled } from "../../tools/compile.ts";
import { accountAt, type LocalChain } from "./anvil.ts";
import { createContract } from "./create-contract.ts";

const AT = { OpGasPriceOracle: GAS_PRICE_ORACLE, ArbGasInfo: ARB_GAS_INFO } as const;

/** Puts one of them where its chains have it. @returns what sets its prices, by its own functions */
export async function placeDataFee(
  chain: Pick<LocalChain, "rpcUrl" | "client" | "control">,
  name: keyof typeof AT,
) {
  ensureCompiled("all");
  const { abi, bytecode } = loadArtifact(name);
  const copy = await createContract(chain as LocalChain, { abi, bytecode }, []);
  await chain.control.setCode({
    address: AT[name],
    bytecode: (await chain.client.getCode({ address: copy })) ?? "0x",
  });
  const wallet = createWalletClient({ account: accountAt(0), transport: http(chain.rpcUrl) });
  return async (functionName: string, ...args: readonly unknown[]): Promise<void> => {
    const call = { address: AT[name], abi: abi as Abi, functionName, args };
    const hash = await wallet.writeContract({ ...call, chain: null });
    await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  };
}

/** Prices of OP Mainnet's kind, for `setPrices`: base fee and blob base fee of the other chain in wei, and scalars. */
export const OP_PRICES = [20n * 10n ** 9n, 10n ** 9n, 5_227n, 1_014_213n] as const;
