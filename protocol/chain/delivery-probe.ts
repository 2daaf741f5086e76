/** What a delivery would do now, found out by one call that changes nothing.
 *
 *  `deliver` succeeds whether the callback does or not, and nodes describe a call that ran out of gas each in words of
 *  their own. So a probe delivers inside the call, as anybody may, through Assay and its courier with exactly the gas
 *  that the request names, and then reads the request's word: there stands what happened. Return data of the callback,
 *  however much, never leaves the node. */
import { concatHex, encodeFunctionData, type Hex, hexToBigInt, pad, size, slice } from "viem";
import { iAssayAbi } from "../rules/generated/abis.ts";
import { requestIdOf } from "../rules/ids.ts";
import type { Claim, Request } from "../rules/types.ts";
import { decodeRequestWord } from "../rules/words.ts";
import { Actions } from "./actions.ts";
import { decodeRevertData, type Revert, withContext } from "./errors.ts";
import type { SigningChain } from "./sender.ts";

export type ProbedDelivery =
  | { readonly kind: "delivers" }
  /** the callback fails; gas of the whole delivery, and whether that is all that the callback may use */
  | { readonly kind: "fails"; readonly gasUsed: bigint; readonly usesItsGas: boolean }
  /** Assay or its courier takes no such delivery now */
  | { readonly kind: "refused"; readonly revert: Revert };

/** Where the probe's code stands during the call: the last 20 bytes of keccak256("assay delivery probe"). Nobody has a
 *  key or a contract there. */
const PROBE = "0xb459e3c49708bfc14b80f6871fe4f0154da5960f" as const;

/** Calldata is Assay's address in 32 bytes, 36 bytes that read the request's word, and the delivery. Returns whether the
 *  delivery was taken, the gas that it used, the word behind it, and the delivery's return data. */
const PROBE_CODE = concatHex([
  "0x604436038060445f37", // memory 0 = delivery, of CALLDATASIZE - 68 bytes
  "0x5a90", // gas before
  "0x5f5f825f5f5f355af1", // CALL(gas, Assay, 0, 0, length, 0, 0)
  "0x5a8303602052", // memory 32 = gas before - gas now
  "0x5f52", // memory 0 = success
  "0x3d5f60603e", // memory 96 = return data
  "0x3d602460208260600137", // behind it: what reads the word
  "0x60206040602483606001", // STATICCALL(gas, Assay, there, 36, 64, 32)
  "0x5f355afa50",
  "0x6060015ff3", // return all of it
]);

/** Gas of a delivery besides the callback's: hashing request and claim, the courier and its reserve, the credit. */
const OVERHEAD_GAS = 400_000n;
/** A transaction's own gas, and the most that a byte of its calldata costs (EIP-7623). */
const BASE_GAS = 21_000n;
const BYTE_GAS = 40n;

/** @param claim the final claim; absent after truth without an agreeing claim
 *  @throws BaseError RPC_UNREACHABLE; RPC_FAULT where the node gives no answer, because the gas is more than it runs or
 *  it knows no state overrides */
export async function probeDelivery(
  chain: SigningChain,
  request: Request,
  claim: Claim | undefined,
  output: Hex,
): Promise<ProbedDelivery> {
  const { client, game, account } = chain;
  const read = encodeFunctionData({
    abi: iAssayAbi,
    functionName: "requestWord",
    args: [requestIdOf(game, request)],
  });
  const delivery = new Actions(game).deliver(request, claim, output).data;
  const data = concatHex([pad(game.assay), read, delivery]);
  const callbackGas = BigInt(request.callbackGas);
  // Two calls lie between the transaction and the courier, each of which keeps a 64th back.
  const gas = BASE_GAS + BYTE_GAS * BigInt(size(data)) + OVERHEAD_GAS + (callbackGas * 11n) / 10n;
  const answer = await withContext("try a delivery", async () => {
    const call = { account: account.address, to: PROBE, data, gas } as const;
    return (await client.call({ ...call, stateOverride: [{ address: PROBE, code: PROBE_CODE }] })).data;
  });
  return readAnswer(answer ?? "0x", callbackGas);
}

function readAnswer(answer: Hex, callbackGas: bigint): ProbedDelivery {
  const word = (index: number) => hexToBigInt(slice(answer, 32 * index, 32 * (index + 1)));
  if (word(0) === 0n) {
    const reason = size(answer) > 96 ? slice(answer, 96) : "0x";
    return { kind: "refused", revert: decodeRevertData(reason) };
  }
  if (decodeRequestWord(word(2)).delivered === "DELIVERED") return { kind: "delivers" };
  const gasUsed = word(1);
  return { kind: "fails", gasUsed, usesItsGas: gasUsed >= callbackGas };
}
