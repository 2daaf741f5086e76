/** Compares what stands on a chain with what should stand there: an address alone proves nothing. */
import { type Address, type Hex, keccak256, type PublicClient, size } from "viem";
import { BaseError } from "../../../base/errors.ts";
import { withContext } from "../errors.ts";
import { chainName } from "../presets.ts";
import type { Rehearsed } from "./rehearsal.ts";

/** Whether a contract stands: as it should, or not at all.
 *  @throws BaseError DEPLOY_CODE_DIFFERS */
export async function stands(
  client: PublicClient,
  chainId: number,
  { name, address, code, made }: Rehearsed,
): Promise<boolean> {
  const wanted = [{ address, code }, ...made];
  const found = await withContext(`read the code of ${name}`, () =>
    Promise.all(wanted.map((one) => client.getCode({ address: one.address }))),
  );
  const isMissing = found.map((one) => one === undefined || one === "0x");
  // What a constructor made cannot be gone, nor be there before.
  if (isMissing.every(Boolean)) return false;
  for (const [index, one] of wanted.entries())
    if (found[index] !== one.code) throw differs(chainId, name, one.address, found[index], one.code);
  return true;
}

function differs(chainId: number, name: string, address: Address, found: Hex | undefined, wanted: Hex) {
  const shown = (code: Hex) => `${size(code)} bytes with the hash ${keccak256(code)}`;
  return new BaseError({
    code: "DEPLOY_CODE_DIFFERS",
    shortMessage: `On ${chainName(chainId)} other code stands at ${address} than ${name}'s: ${shown(found ?? "0x")} instead of ${shown(wanted)}.`,
    nextStep: "Use nothing at this address, and another node: no transaction can put other code there.",
    details: { name, address },
  });
}
