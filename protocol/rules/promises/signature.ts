/** Signatures of provers' keys, in the one form that cannot be changed into another (docs/PROMISES.md, section 7). */
import { type Address, type Hex, hexToBigInt, recoverAddress, size, slice } from "viem";
import { BaseError } from "../../../base/errors.ts";
import type { Digest } from "./signed-claim.ts";

const BYTES = 65;
const V_AT = 64;
/** Half of the order of secp256k1, rounded down. */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Address of the key that signed.
 *  @param signature r, s and v, 65 bytes
 *  @throws BaseError SIGNATURE_INVALID for whatever the contract refuses */
export async function signerOf(digest: Digest, signature: Hex): Promise<Address> {
  if (size(signature) !== BYTES) throw invalid(`has ${size(signature)} bytes, must have ${BYTES}`);
  const v = Number(hexToBigInt(slice(signature, V_AT)));
  if (v !== 27 && v !== 28) throw invalid(`is refused: its v is ${v}, must be 27 or 28`);
  const s = slice(signature, 32, V_AT);
  if (hexToBigInt(s) > MAX_S) throw invalid(`has the s ${s}, which is above half of the order`);
  try {
    return await recoverAddress({ hash: digest, signature });
  } catch (cause) {
    throw invalid("is of no key", cause);
  }
}

const invalid = (why: string, cause?: unknown): BaseError =>
  new BaseError({
    code: "SIGNATURE_INVALID",
    shortMessage: `The signature ${why}.`,
    nextStep: "Ask for the signature as the prover's key made it: r, s and v, 65 bytes.",
    cause,
  });
