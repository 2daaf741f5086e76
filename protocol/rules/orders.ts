/** Orders: what a requester sends, a request and its input without what follows from the rest
 *  (docs/PROTOCOL.md, section 2). */
import {
  type Address,
  checksumAddress,
  concatHex,
  encodePacked,
  type Hex,
  hexToBigInt,
  keccak256,
  size,
  slice,
} from "viem";
import { BaseError } from "../../base/errors.ts";
import { type ModelId, type Request, ZERO_ADDRESS } from "./types.ts";

const HEAD_BYTES = 31;
/** Bits of the first byte: the fields that follow the head. */
const PART = { BOND: 1, EXCLUSIVE: 2, DELIVERY: 4 } as const;
const REQUESTER_BYTES = 20;
const PART_BYTES = { [PART.BOND]: 12, [PART.EXCLUSIVE]: 25, [PART.DELIVERY]: 36 } as const;

/** @param input the model's calldata, selector included
 *  @throws BaseError INPUT_MISMATCH if the request is about another input: it would get another id */
export function encodeOrder(request: Request, input: Hex): Hex {
  const inputHash = keccak256(input);
  if (inputHash !== request.inputHash) {
    throw new BaseError({
      code: "INPUT_MISMATCH",
      shortMessage: `The input's hash is ${inputHash}, and the request names ${request.inputHash}.`,
      nextStep: "Set the request's inputHash to keccak256 of the input.",
    });
  }
  const { lanes, window, expiry, fee, salt, minBond, deliveryFee } = request;
  const { exclusiveProver, exclusiveUntil, callback, callbackGas } = request;
  let parts = 0;
  const optional: Hex[] = [];
  if (minBond !== 0n) {
    parts |= PART.BOND;
    optional.push(encodePacked(["uint96"], [minBond]));
  }
  if (exclusiveProver !== ZERO_ADDRESS || exclusiveUntil !== 0) {
    parts |= PART.EXCLUSIVE;
    optional.push(encodePacked(["address", "uint40"], [exclusiveProver, exclusiveUntil]));
  }
  if (callback !== ZERO_ADDRESS || callbackGas !== 0 || deliveryFee !== 0n) {
    parts |= PART.DELIVERY;
    optional.push(encodePacked(["address", "uint32", "uint96"], [callback, callbackGas, deliveryFee]));
  }
  const head = encodePacked(
    ["uint8", "uint8", "uint32", "uint40", "uint96", "uint64"],
    [parts, lanes, window, expiry, fee, salt],
  );
  return concatHex([head, ...optional, input]);
}

/** An order as the event Requested has it: the requester, then the order. @throws as `encodeOrder` */
export const encodeFiled = (request: Request, input: Hex): Hex =>
  concatHex([request.requester, encodeOrder(request, input)]);

/** What the contract makes of an order. Parts that are absent are zero.
 *  @param filed as the event Requested has it: the requester, then the order
 *  @throws BaseError ORDER_MALFORMED for an order that the contract refuses */
export function decodeOrder(
  modelId: ModelId,
  filed: Hex,
): { readonly request: Request; readonly input: Hex } {
  const length = size(filed) - REQUESTER_BYTES;
  const parts = length <= 0 ? 0 : Number(slice(filed, REQUESTER_BYTES, REQUESTER_BYTES + 1));
  const present = Object.values(PART).filter((part) => (parts & part) !== 0);
  const required = present.reduce((sum, part) => sum + PART_BYTES[part], HEAD_BYTES);
  if (length < required || parts > 7) {
    throw new BaseError({
      code: "ORDER_MALFORMED",
      shortMessage: `An order of ${length} bytes with parts  is malformed: parts are at most 7, these need ${required} bytes.`,
      nextStep: "Read it from an event of the Assay contract.",
    });
  }
  let at = 0;
  const take = (bytes: number): Hex => {
    at += bytes;
    return `0x${filed.slice(2 + 2 * (at - bytes), 2 + 2 * at)}`;
  };
  const takeNumber = (bytes: number): number => Number(take(bytes));
  const takeAmount = (): bigint => hexToBigInt(take(12));
  const takeAddress = (): Address => checksumAddress(take(20));
  const requester = takeAddress();
  takeNumber(1);
  const request: { -readonly [Field in keyof Request]: Request[Field] } = {
    requester,
    modelId,
    inputHash: "0x",
    lanes: takeNumber(1),
    window: takeNumber(4),
    expiry: takeNumber(5),
    fee: takeAmount(),
    salt: hexToBigInt(take(8)),
    deliveryFee: 0n,
    minBond: 0n,
    exclusiveProver: ZERO_ADDRESS,
    exclusiveUntil: 0,
    callback: ZERO_ADDRESS,
    callbackGas: 0,
  };
  if ((parts & PART.BOND) !== 0) request.minBond = takeAmount();
  if ((parts & PART.EXCLUSIVE) !== 0) {
    request.exclusiveProver = takeAddress();
    request.exclusiveUntil = takeNumber(5);
  }
  if ((parts & PART.DELIVERY) !== 0) {
    request.callback = takeAddress();
    request.callbackGas = takeNumber(4);
    request.deliveryFee = takeAmount();
  }
  const input: Hex = `0x${filed.slice(2 + 2 * at)}`;
  return { request: { ...request, inputHash: keccak256(input) }, input };
}
