/** Key bytes of an ezkl model; their keccak256 is the model's vkHash (docs/PROTOCOL.md, Proofs). */
import { type Hex, keccak256 } from "viem";
import { concatBytes, fromHex, toHex, viewOf } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";

/** First byte of the key bytes. */
const EZKL_KIND = 2;

/** How the numbers of one tensor are to be read: value = number · 2^-scaleBits. */
export interface TensorScale {
  readonly elements: number;
  readonly scaleBits: number;
}

export interface EzklKey {
  /** keccak256 of the verifier contract's code, which holds ezkl's verification key */
  readonly codeHash: Hex;
  readonly inputs: readonly TensorScale[];
  readonly outputs: readonly TensorScale[];
}

export const elementsOf = (tensors: readonly TensorScale[]): number =>
  tensors.reduce((sum, { elements }) => sum + elements, 0);

/** kind u8, code hash, inputs u32, outputs u32; then for inputs and outputs: tensors u8 and for each elements u32 and
 *  fraction bits s8. */
export function encodeKey({ codeHash, inputs, outputs }: EzklKey): Uint8Array {
  const head = new Uint8Array(41);
  head[0] = EZKL_KIND;
  head.set(fromHex(codeHash), 1);
  viewOf(head).setUint32(33, elementsOf(inputs));
  viewOf(head).setUint32(37, elementsOf(outputs));
  return concatBytes(head, encodeTensors(inputs), encodeTensors(outputs));
}

function encodeTensors(tensors: readonly TensorScale[]): Uint8Array {
  const bytes = new Uint8Array(1 + 5 * tensors.length);
  bytes[0] = tensors.length;
  for (const [i, { elements, scaleBits }] of tensors.entries()) {
    viewOf(bytes).setUint32(1 + 5 * i, elements);
    viewOf(bytes).setInt8(5 + 5 * i, scaleBits);
  }
  return bytes;
}

/** @throws BaseError EZKL_KEY_INVALID */
export function decodeKey(bytes: Uint8Array): EzklKey {
  try {
    const codeHash = toHex(bytes.slice(1, 33));
    const inputs = decodeTensors(bytes, 41);
    const key = { codeHash, inputs, outputs: decodeTensors(bytes, 42 + 5 * inputs.length) };
    if (toHex(encodeKey(key)) === toHex(bytes)) return key;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new BaseError({
    code: "EZKL_KEY_INVALID",
    shortMessage: `The ${bytes.length} key bytes are not those of an ezkl model.`,
    nextStep: "Take the model's files from one release, or add the model again.",
  });
}

function decodeTensors(bytes: Uint8Array, offset: number): TensorScale[] {
  const view = viewOf(bytes);
  return Array.from({ length: view.getUint8(offset) }, (_, i) => ({
    elements: view.getUint32(offset + 1 + 5 * i),
    scaleBits: view.getInt8(offset + 5 + 5 * i),
  }));
}

export const keyHash = (key: EzklKey): Hex => keccak256(encodeKey(key));
