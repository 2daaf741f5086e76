/** What a deployment would do and cost, step by step. Sends nothing and needs no key. */
import { type Address, type Hex, type PublicClient, size, zeroHash } from "viem";
import type { GameConstants } from "../../rules/types.ts";
import { type DataFee, type DataFeeReader, dataFeeOf } from "../data-fee.ts";
import { withContext } from "../errors.ts";
import { transactionGasOn } from "../presets.ts";
import { stands } from "./code.ts";
import { type Artifacts, byAccount, byProxy, layOut, type SystemContracts } from "./parts.ts";
import { PROXY_ADDRESS, proxyCall } from "./proxy.ts";
import { type Rehearsed, rehearse } from "./rehearsal.ts";

/** How contracts are created: by the proxy, at the same addresses on every chain, or by the account's own transactions,
 *  at addresses that its nonce decides. */
export type Method =
  | { readonly kind: "proxy"; readonly salt?: Hex }
  | { readonly kind: "account"; readonly from: Address; readonly nonce: number };

/** One contract of the system. */
export interface Step extends Rehearsed {
  /** gas units, see Rehearsed */
  readonly transactionGas: bigint;
  /** absent: a transaction without a receiver */
  readonly to?: Address;
  readonly data: Hex;
}

export interface SystemSteps {
  readonly steps: readonly Step[];
  readonly contracts: SystemContracts;
}

/** All steps on an empty chain.
 *  @throws BaseError DEPLOY_FAILED for constants that a constructor refuses */
export async function stepsOf(
  artifacts: Artifacts,
  constants: GameConstants,
  method: Method,
): Promise<SystemSteps> {
  const place = method.kind === "proxy" ? byProxy(method.salt) : byAccount(method.from, method.nonce);
  const layout = layOut(artifacts, constants, place);
  const steps = (await rehearse(layout)).map((one) =>
    method.kind === "proxy"
      ? {
          ...{ ...one, transactionGas: one.gas.byProxy, to: PROXY_ADDRESS },
          data: proxyCall(method.salt ?? zeroHash, one.initCode),
        }
      : { ...one, transactionGas: one.gas.byAccount, data: one.initCode },
  );
  return { steps, contracts: layout.contracts };
}

/** The steps that a chain still needs.
 *  @throws BaseError DEPLOY_CODE_DIFFERS, RPC_UNREACHABLE, RPC_FAULT */
export async function missingSteps(
  client: PublicClient,
  chainId: number,
  steps: readonly Step[],
): Promise<Step[]> {
  const stand = await Promise.all(steps.map((step) => stands(client, chainId, step)));
  return steps.filter((_step, index) => stand[index] === false);
}

/** What a unit of gas and a byte cost now. */
export interface Prices {
  /** wei a unit of gas: base fee and tip of now */
  readonly gasPrice: bigint;
  /** the most that a transaction of now would offer: twice the base fee, and the tip */
  readonly maxFeePerGas: bigint;
  /** absent: it could not be read */
  readonly dataFee?: DataFee;
  /** why not */
  readonly dataFeeFault?: string;
}

/** @throws BaseError RPC_UNREACHABLE, RPC_FAULT */
export async function readPrices(client: PublicClient, reader: DataFeeReader): Promise<Prices> {
  const [block, tip] = await withContext("read the fees", () =>
    Promise.all([client.getBlock(), client.estimateMaxPriorityFeePerGas()]),
  );
  const baseFee = block.baseFeePerGas ?? 0n;
  const prices = { gasPrice: baseFee + tip, maxFeePerGas: 2n * baseFee + tip };
  try {
    return { ...prices, dataFee: await reader.read() };
  } catch (error) {
    return { ...prices, dataFeeFault: (error as { shortMessage?: string }).shortMessage ?? String(error) };
  }
}

export interface Cost {
  /** wei for gas */
  readonly gasWei: bigint;
  /** wei for data, an upper bound; absent: it could not be read */
  readonly dataWei?: bigint;
}

export function costOf({ transactionGas, data }: Step, { gasPrice, dataFee }: Prices): Cost {
  const gasWei = transactionGas * gasPrice;
  return dataFee === undefined ? { gasWei } : { gasWei, dataWei: dataFeeOf(dataFee, size(data)) };
}

/** Steps that a transaction of the chain has no room for. */
export const tooLarge = (chainId: number, steps: readonly Step[]): Step[] =>
  steps.filter(({ transactionGas }) => transactionGas > BigInt(transactionGasOn(chainId)));
