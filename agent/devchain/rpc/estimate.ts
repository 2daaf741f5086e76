/** Gas that a transaction needs. */
import { createTx } from "@ethereumjs/tx";
import type { CallRequest, DevChain } from "../dev-chain.ts";
import { rulesOf } from "../genesis.ts";
import { RpcFault } from "./fault.ts";

/** What is tried above the gas that was used: first a part in so many of it, then twice that, and so on. */
const FIRST_STEP = 16n;

/** Gas with which the transaction succeeds now. Calls inside hand on at most 63/64 of what they have, and the model is
 *  asked only for its longest answer's gas, so what was used says too little.
 *  @throws RpcFault if it fails with the most gas too */
export async function estimateGas(chain: DevChain, request: CallRequest, most: bigint): Promise<bigint> {
  const { data, to } = request;
  const shape = { data: data ?? "0x", ...(to === undefined ? {} : { to }) } as const;
  const intrinsic = createTx(shape, { common: rulesOf(Number(chain.chainId)) }).getIntrinsicGas();
  const limit = request.gas ?? most;
  const run = (gas: bigint) => chain.call({ ...request, gas: gas - intrinsic });
  if (limit <= intrinsic) throw RpcFault.params(`gas ${limit} does not pay for the transaction itself`);
  const first = await run(limit);
  if (!first.ok) throw RpcFault.reverted(first);
  const used = first.gasUsed + intrinsic;
  for (let more = 0n; used + more < limit; more = more === 0n ? used / FIRST_STEP : 2n * more) {
    if ((await run(used + more)).ok) return used + more;
  }
  return limit;
}
