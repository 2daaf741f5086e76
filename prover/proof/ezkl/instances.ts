/** Public values of an ezkl proof, in order: the inputs, the binding, the outputs. Calldata and return data hold the
 *  circuit's own fixed-point numbers, so nothing is rounded here. Source: docs/PROTOCOL.md, Proofs;
 *  verifier-contracts/proof/EzklProof.sol builds the same list. */
import { type Address, concatHex, type Hex } from "viem";
import { viewOf } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { decodeInput } from "../../../inference/codecs/input.ts";
import { writeInt16s } from "../../../inference/codecs/int16s.ts";

/** Codec lanes' limit. */
export const MAX_INPUTS = 4096;
/** Codec words' limit. */
export const MAX_OUTPUTS = 256;
/** Signed 16-bit numbers of the binding. */
export const BINDING_ELEMENTS = 16;

/** Public values of one proof. */
export const instanceCount = (model: { readonly inputs: number; readonly outputs: number }): number =>
  model.inputs + BINDING_ELEMENTS + model.outputs;

/** Order of the scalar field of BN254. */
export const FIELD_ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** Selector, offset and length before the lanes. */
const CALLDATA_HEAD_BYTES = 68;
const OUTPUT_LIMIT = 1n << 127n;

/** A binding signal as 16 signed 16-bit numbers, from the top of the word. */
export function bindingNumbers(binding: bigint): number[] {
  return Array.from({ length: BINDING_ELEMENTS }, (_, i) =>
    Number(BigInt.asIntN(16, binding >> BigInt(16 * (BINDING_ELEMENTS - 1 - i)))),
  );
}

/** Fixed-point inputs in canonical calldata of codec int16s.
 *  @param selector the model's 4 bytes @param inputs elements
 *  @throws BaseError as decodeInput does */
export function inputNumbers(selector: Uint8Array, calldata: Uint8Array, inputs: number): number[] {
  const input = decodeInput({ inputCodec: "int16s", inputSize: inputs }, selector, calldata);
  return input.codec === "int16s" ? Array.from(input.int16s) : [];
}

/** Signed value of a field element: the nearer to 0 of x and x − order. */
export const signedElement = (element: bigint): bigint =>
  element > FIELD_ORDER / 2n ? element - FIELD_ORDER : element;

/** Return data of codec words.
 *  @param values fixed-point outputs
 *  @throws BaseError EZKL_OUTPUT_OUT_OF_RANGE */
export function outputBytes(values: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(32 * values.length);
  const view = viewOf(bytes);
  for (const [i, value] of values.entries()) {
    if (value < -OUTPUT_LIMIT || value >= OUTPUT_LIMIT) {
      throw new BaseError({
        code: "EZKL_OUTPUT_OUT_OF_RANGE",
        shortMessage: `Output ${i} is ${value}, outside of 128 bits.`,
        nextStep: "Add the model again with fewer fraction bits (--scales).",
      });
    }
    for (let part = 0; part < 4; part++) {
      view.setBigInt64(32 * i + 8 * part, BigInt.asIntN(64, value >> BigInt(64 * (3 - part))));
    }
  }
  return bytes;
}

/** Fixed-point outputs in return data. */
export function outputNumbers(output: Uint8Array): bigint[] {
  const view = viewOf(output);
  return Array.from({ length: output.length / 32 }, (_, i) => view.getBigInt64(32 * i + 24)).map(
    (low, i) => (view.getBigInt64(32 * i + 16) << 64n) | BigInt.asUintN(64, low),
  );
}

/** Evidence that settles a request: the verifier contract's address, then the proof. */
export const encodeEvidence = (verifier: Address, proof: Hex): Hex => concatHex([verifier, proof]);

/** Canonical calldata of codec int16s. @param selector 4 bytes @param numbers within 16 bits */
export function encodeCalldata(selector: Uint8Array, numbers: readonly number[]): Uint8Array {
  const words = writeInt16s(numbers);
  const bytes = new Uint8Array(CALLDATA_HEAD_BYTES + words.length);
  bytes.set(selector);
  viewOf(bytes).setUint32(4 + 28, 32);
  viewOf(bytes).setUint32(36 + 28, words.length / 32);
  bytes.set(words, CALLDATA_HEAD_BYTES);
  return bytes;
}
