/** The end of claims: booking them as final, and bringing outputs to callbacks. */
import { encodeFunctionData, type Hex, hexToBytes, parseAbi } from "viem";
import { decodeRevert } from "../protocol/chain/errors.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import type { ClaimId, RequestId } from "../protocol/rules/types.ts";
import { type Context, carryOut } from "./context.ts";
import { again, DONE, type Outcome } from "./workers.ts";

export async function finalizeClaim(context: Context, id: ClaimId): Promise<Outcome> {
  const found = context.store.index.claimAndRequest(id);
  if (found?.claim.status !== "active") return DONE;
  const action = context.actions.finalize(found.request.request, found.claim.claim);
  return carryOut(context, action, { move: "finalize", claim: id });
}

/** Source: verifier-contracts/interfaces/IAssayCallback.sol. */
const CALLBACK_ABI = parseAbi([
  "function onAssayResult(bytes32 requestId, bytes output, uint8 lane, uint64 requestedAt, uint64 finalAt)",
]);
/** A callback that fails now may work later, but nobody pays for trying. */
const CALLBACK_FAILED_AFTER_MS = 60_000;

/** Delivers an output that this prover made final, once its callback would take it. */
export async function deliverOutput(context: Context, id: RequestId): Promise<Outcome> {
  const { store, actions, chain } = context;
  const entry = store.index.requests.get(id);
  if (entry?.status !== "done" || entry.delivered || entry.result === undefined) return DONE;
  const claim = entry.claimId === undefined ? undefined : store.index.claims.get(entry.claimId);
  const { output } = entry.result;
  const word = await new StateReader(chain).requestWord(id);
  if (word.delivered !== "PENDING") return DONE;
  const refusal = await callbackRefusal(context, {
    callback: entry.request.callback,
    callbackGas: entry.request.callbackGas,
    data: encodeFunctionData({
      abi: CALLBACK_ABI,
      functionName: "onAssayResult",
      args: [id, output, word.lane, BigInt(word.requestedAt), BigInt(word.settledAt)],
    }),
  });
  if (refusal !== undefined) return again(`the callback refuses: ${refusal}`, CALLBACK_FAILED_AFTER_MS);
  return carryOut(context, actions.deliver(entry.request, claim?.claim, output), {
    move: "deliver",
    request: id,
  });
}

/** Calls the callback as the courier would. The fee is paid only for a success, so a failure is not worth its gas. */
async function callbackRefusal(
  { chain }: Context,
  { callback, callbackGas, data }: { callback: Hex; callbackGas: number; data: Hex },
): Promise<string | undefined> {
  const { courier } = chain.deployment.contracts;
  const code = await chain.client.getCode({ address: callback });
  if (code === undefined || code === "0x") return `there is no contract at ${callback}`;
  try {
    await chain.client.call({
      ...(courier === undefined ? {} : { account: courier }),
      to: callback,
      data,
      gas: BigInt(callbackGas) + intrinsicGas(data),
    });
    return undefined;
  } catch (error) {
    const revert = decodeRevert(error);
    if (revert !== undefined) return revert.message;
    if (/out of gas|gas required exceeds|intrinsic gas/i.test(String(error)))
      return `${callbackGas} gas is too little`;
    throw error;
  }
}

/** Gas of a transaction before its first instruction: 16 a byte of calldata, 4 a zero one. Source: EIP-2028. */
const intrinsicGas = (data: Hex): bigint =>
  hexToBytes(data).reduce((gas, byte) => gas + (byte === 0 ? 4n : 16n), 21_000n);
