import { concatHex, type Hex, keccak256, size, slice } from "viem";
import { describe, expect, it } from "vitest";
import { toHex } from "../../../base/bytes.ts";
import { decodeOrder, encodeOrder } from "../../../protocol/rules/orders.ts";
import { type ModelId, type Request, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import { accountAt } from "../../support/anvil.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const MODEL = `0x${"a5".repeat(32)}` as ModelId;

function randomRequest(rng: Rng, input: Hex): Request {
  const address = () => (rng.chance(0.5) ? ZERO_ADDRESS : accountAt(rng.int(0, 9)).address);
  const amount = () => (rng.chance(0.5) ? 0n : BigInt(toHex(rng.bytes(12))));
  return {
    requester: accountAt(1).address,
    modelId: MODEL,
    inputHash: keccak256(input),
    lanes: rng.int(0, 255),
    fee: amount(),
    deliveryFee: amount(),
    minBond: amount(),
    window: rng.int(0, 2 ** 31) * 2 + rng.int(0, 1),
    expiry: rng.int(0, 2 ** 40 - 1),
    exclusiveProver: address(),
    exclusiveUntil: rng.chance(0.5) ? 0 : rng.int(0, 2 ** 40 - 1),
    callback: address(),
    callbackGas: rng.chance(0.5) ? 0 : rng.int(0, 2 ** 31),
    salt: BigInt(toHex(rng.bytes(8))),
  };
}

describe("decodeOrder", () => {
  it("default: gives back every request and input", () => {
    const rng = createRng(5);
    const lengths = new Set<number>();
    for (let i = 0; i < 500; i += 1) {
      const input = toHex(rng.bytes(rng.int(0, 70)));
      const request = randomRequest(rng, input);
      const order = encodeOrder(request, input);
      lengths.add(size(order) - size(input));
      expect(decodeOrder(MODEL, concatHex([request.requester, order]))).toEqual({ request, input });
    }
    // The head, and each combination of the three parts behind it.
    expect([...lengths].sort((a, b) => a - b)).toEqual([31, 43, 56, 67, 68, 79, 92, 104]);
  });

  it("error: an order that ends within its parts, or names unknown ones", () => {
    const input = "0x";
    const request = { ...randomRequest(createRng(1), input), minBond: 1n };
    const filed = concatHex([request.requester, encodeOrder(request, input)]);
    for (let length = 0; length < size(filed); length += 1) {
      expect(() => decodeOrder(MODEL, length === 0 ? "0x" : slice(filed, 0, length))).toThrow(
        expect.objectContaining({ code: "ORDER_MALFORMED" }),
      );
    }
    const unknown = concatHex([slice(filed, 0, 20), "0x08", slice(filed, 21)]);
    expect(() => decodeOrder(MODEL, unknown)).toThrow(expect.objectContaining({ code: "ORDER_MALFORMED" }));
  });
});

describe("encodeOrder", () => {
  it("error: another input than the request's", () => {
    const request = randomRequest(createRng(2), "0x01");
    expect(() => encodeOrder(request, "0x02")).toThrow(expect.objectContaining({ code: "INPUT_MISMATCH" }));
  });
});
