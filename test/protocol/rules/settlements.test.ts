import { concatHex, type Hex, size, slice } from "viem";
import { describe, expect, it } from "vitest";
import { encodeClaim } from "../../../protocol/rules/ids.ts";
import { encodeOrder } from "../../../protocol/rules/orders.ts";
import { encodeSettlement } from "../../../protocol/rules/settlements.ts";
import { LANE, type ModelId, NO_CLAIM, type RequestId } from "../../../protocol/rules/types.ts";
import { accountAt } from "../../support/anvil.ts";
import { tinyRequest } from "../../support/deploy.ts";

const INPUT = "0x1234";
const OUTPUT = "0x56";
const EVIDENCE = "0x789a";
const modelId = `0x${"11".repeat(32)}` as ModelId;
const request = tinyRequest(accountAt(1), modelId, INPUT, 0, { lanes: LANE.PROOF });

describe("encodeSettlement", () => {
  const settlement = { request, input: INPUT, output: OUTPUT, evidence: EVIDENCE } as const;

  it("default: requester and order, no claim, output, evidence", () => {
    const order = concatHex([request.requester, encodeOrder(request, INPUT)]);
    expect(size(order)).toBe(53);
    const expected = concatHex(["0x000035", order, "0x000000", "0x000001", OUTPUT, EVIDENCE]);
    expect(encodeSettlement(settlement)).toBe(expected);
  });

  it("args: a claim is nine words between order and output", () => {
    const claim = { ...NO_CLAIM, requestId: `0x${"22".repeat(32)}` as RequestId, bond: 5n };
    const packed = encodeSettlement({ ...settlement, claim });
    const after: Hex = slice(packed, 3 + 53);
    expect(after).toBe(concatHex(["0x000120", encodeClaim(claim), "0x000001", OUTPUT, EVIDENCE]));
  });

  it("error: another input than the request's", () => {
    expect(() => encodeSettlement({ ...settlement, input: "0x12" })).toThrow(
      expect.objectContaining({ code: "INPUT_MISMATCH" }),
    );
  });
});
