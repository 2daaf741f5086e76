/** Decisions where the chain charges for data. */
import { describe, expect, test } from "vitest";
import { type DataFee, NO_DATA_FEE } from "../../protocol/chain/data-fee.ts";
import { BYTES, defenceDataFee } from "../../protocol/chain/move-costs.ts";
import { MAX_AMOUNT } from "../../protocol/rules/money.ts";
import { type ModelId, ZERO_HASH } from "../../protocol/rules/types.ts";
import { leastFee } from "../../prover/costs.ts";
import { quote } from "../../prover/quote.ts";
import { codeOf, decideOne, ETHER, least, policy, requested, state, terms } from "../support/decisions.ts";

describe("decideRequests, with a data fee", () => {
  const perByte = (wei: bigint): DataFee => ({ kind: "op-stack", least: 0n, base: 0n, perByte: wei });
  const fees = (dataFee: DataFee | undefined) => ({ dataFee, balance: 2n ** 200n });
  const rich = { ...policy, maxBonds: 2n ** 90n, maxBond: 2n ** 90n };

  test("default: the fee must pay for the data of claim and end", () => {
    const dataFee = perByte(10n ** 6n);
    const asked = leastFee(terms, { gasPrice: state.gasPrice, dataFee }, policy);
    expect(asked).toBeGreaterThan(least);
    expect(codeOf(requested({ fee: asked }), { dataFee })).toBe("claim");
    expect(codeOf(requested({ fee: asked - 1n }), { dataFee })).toBe("FEE_TOO_LOW");
  });

  test("behavior: the bond rises until half of a ticket pays for a defence; where none does, nothing is claimed", () => {
    const cheap = { baseFee: 10n ** 7n, gasPrice: 10n ** 7n };
    const bondAt = (wei: bigint) => {
      const decision = decideOne(requested({ fee: ETHER }), { ...cheap, ...fees(perByte(wei)) }, rich);
      return decision?.kind === "claim"
        ? decision.bond
        : decision?.kind === "skip"
          ? decision.code
          : undefined;
    };
    const [usual, raised] = [bondAt(0n), bondAt(50n * 10n ** 9n)];
    expect(raised).toBeGreaterThan(usual as bigint);
    expect(bondAt(100n * 10n ** 9n)).toBe("DEFENCE_UNPAID");
    const entry = requested({ fee: ETHER, minBond: ETHER });
    expect(codeOf(entry, { ...cheap, ...fees(perByte(100n * 10n ** 9n)) }, rich)).toBe("claim");
  });

  test("behavior: one that could not be read stops claims and settlements, never is it zero", () => {
    expect(codeOf(requested(), fees(undefined))).toBe("DATA_FEE_UNKNOWN");
    expect(codeOf(requested({ modelId: ZERO_HASH as ModelId }), fees(undefined))).toBe("MODEL_NOT_SERVED");
    const { reason } = decideOne(requested(), fees(undefined)) as { reason: string };
    expect(reason).toContain("could not be read");
    expect(() =>
      quote(terms, { callbackGas: 0, minBond: 0n }, { ...state, dataFee: undefined }, policy),
    ).toThrow("could not be read");
  });

  test("behavior: the greatest that a chain can ask is refused, and nothing overflows", () => {
    const dataFee = { kind: "op-stack", least: MAX_AMOUNT, base: MAX_AMOUNT, perByte: MAX_AMOUNT } as const;
    expect(codeOf(requested({ fee: MAX_AMOUNT }), fees(dataFee), rich)).toBe("FEE_TOO_LOW");
    const { leastFee: asked } = quote(terms, { callbackGas: 9, minBond: 0n }, { ...state, dataFee }, rich);
    expect(asked).toBeGreaterThan(MAX_AMOUNT);
  });

  test("behavior: a claim needs balance for the data of a defence", () => {
    const dataFee = perByte(10n ** 6n);
    const needed = (fee: DataFee): bigint => {
      let [low, high] = [0n, 10n * ETHER];
      while (high - low > 1n) {
        const middle = (low + high) / 2n;
        const code = codeOf(requested({ fee: ETHER }), { dataFee: fee, balance: middle });
        if (code === "claim") high = middle;
        else low = middle;
      }
      return high;
    };
    expect(needed(dataFee) - needed(NO_DATA_FEE)).toBe(
      defenceDataFee(dataFee, terms.depth) + 10n ** 6n * BigInt(BYTES.claim + terms.outputLength),
    );
  });
});
