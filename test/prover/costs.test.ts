import fc from "fast-check";
import { type Hex, size } from "viem";
import { describe, expect, test } from "vitest";
import { Actions } from "../../protocol/chain/actions.ts";
import { type DataFee, NO_DATA_FEE } from "../../protocol/chain/data-fee.ts";
import { BYTES, claimGasPrice, claimGasPriceFor, defenceDataFee } from "../../protocol/chain/move-costs.ts";
import { bondsOf, defenceGas, gasPriceRange } from "../../protocol/rules/money.ts";
import { type Claim, LANE, type ModelId, NO_CLAIM, type RequestId } from "../../protocol/rules/types.ts";
import { claimCost, claimGas, leastDeliveryFee, settleCost } from "../../prover/costs.ts";
import { accountAt } from "../support/anvil.ts";
import { tinyRequest } from "../support/deploy.ts";

const GWEI = 10n ** 9n;
const CONSTANTS = { answerSeconds: 60, gasPriceFloor: GWEI, gasBase: 122_000n, gasPerDemand: 147_000n };
const perByte = (wei: bigint): DataFee => ({ kind: "op-stack", least: 0n, base: 0n, perByte: wei });

describe("BYTES", () => {
  const modelId = `0x${"11".repeat(32)}` as ModelId;
  const actions = new Actions({ chainId: 1, assay: accountAt(9).address });
  const claim: Claim = { ...NO_CLAIM, requestId: `0x${"22".repeat(32)}` as RequestId, bond: 5n };
  const bytes = (length: number): Hex => `0x${"ff".repeat(length)}`;
  const words = (count: number): Hex[] => Array.from({ length: count }, () => bytes(32));
  const [input, output] = [bytes(500), bytes(200)];
  const request = tinyRequest(accountAt(1), modelId, input, 0);

  test.each([
    ["request", actions.request(request, input), BYTES.request + 500],
    ["claim", actions.claim(request, 0, accountAt(1).address, 1n, output, 1n), BYTES.claim + 200],
    ["finalize", actions.finalize(request, claim), BYTES.finalize],
    ["settle", actions.settle(request, claim, LANE.PROOF, input, output, bytes(256)), BYTES.settle + 956],
    ["deliver", actions.deliver(request, claim, output), BYTES.deliver + 200],
    ["commitTrace", actions.commitTrace(claim, words(64)), BYTES.commitTrace],
    ["reveal", actions.reveal(claim, 1n, words(64), words(33)), BYTES.reveal],
    ["end", actions.timeoutDemand(claim, 1n), BYTES.end],
  ])("behavior: %s is no longer, and not much shorter", (_name, { data }, most) => {
    expect(size(data)).toBeLessThanOrEqual(most);
    expect(size(data)).toBeGreaterThan(most - 128);
  });
});

describe("claimCost, settleCost, leastDeliveryFee", () => {
  test("behavior: gas and the data of each move; Arbitrum's is added once, for tables hold no gas of it", () => {
    const model = { outputLength: 96 };
    for (const kind of ["op-stack", "arbitrum"] as const) {
      const prices = { gasPrice: GWEI, dataFee: { kind, least: 0n, base: 1_000n, perByte: 7n } };
      const data = 7n * BigInt(BYTES.claim + 96 + BYTES.finalize) + 2_000n;
      expect(claimCost(model, prices)).toBe(claimGas(model) * GWEI + data);
      expect(settleCost({ gas: 5n, evidenceBytes: 256 }, model, 100, prices)).toBe(
        5n * GWEI + 7n * BigInt(BYTES.settle + 100 + 96 + 256) + 1_000n,
      );
    }
    const policy = { marginPercent: 100, maxBonds: 0n, maxBond: 0n, endingBudget: 0n, maxWindow: 0 };
    const terms = { callbackGas: 0, outputLength: 96 };
    const [with7, without] = [perByte(7n), NO_DATA_FEE].map((dataFee) =>
      leastDeliveryFee(terms, { gasPrice: GWEI, dataFee }, policy),
    ) as [bigint, bigint];
    expect(with7 - without).toBe(14n * BigInt(BYTES.deliver + 96));
  });
});

describe("claimGasPriceFor", () => {
  test("default: as without a data fee where that is nothing beside the floor", () => {
    const price = (fee: DataFee) => claimGasPriceFor(CONSTANTS, GWEI / 100n, fee, 3);
    expect(price(NO_DATA_FEE)).toBe(GWEI);
    expect(price(perByte(1_000n))).toBe(GWEI);
  });

  test("behavior: always one that the contract takes now, and when the base fee has moved by a quarter or a half", () => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, 2n ** 50n),
        fc.bigInt(0n, 2n ** 96n),
        fc.integer({ min: 0, max: 5 }),
        (baseFee, wei, depth) => {
          const price = claimGasPriceFor(CONSTANTS, baseFee, perByte(wei), depth);
          expect(price).toBeGreaterThanOrEqual(claimGasPrice(CONSTANTS, baseFee));
          for (const moved of [(baseFee * 3n) / 4n + 1n, baseFee, (baseFee * 3n) / 2n]) {
            const { least, greatest } = gasPriceRange(CONSTANTS, moved);
            expect(price).toBeGreaterThanOrEqual(least);
            expect(price).toBeLessThanOrEqual(greatest);
          }
        },
      ),
    );
  });

  test("behavior: half of a ticket's bond pays for gas and data of a defence, as far as the contract allows", () => {
    const baseFee = GWEI / 100n;
    const covers = (wei: bigint) => {
      const fee = perByte(wei);
      const gasPrice = claimGasPriceFor(CONSTANTS, baseFee, fee, 3);
      const { ticketBond } = bondsOf(CONSTANTS, { gasPrice, depth: 3, minBond: 0n, attempt: 0 });
      const cost = defenceGas(CONSTANTS, 3) * baseFee + defenceDataFee(fee, 3);
      return { gasPrice, covered: ticketBond / 2n >= cost };
    };
    expect(covers(10n)).toEqual({ gasPrice: GWEI, covered: true });
    const raised = covers(60n * GWEI);
    expect(raised.gasPrice).toBeGreaterThan(GWEI);
    expect(raised.covered).toBe(true);
    expect(covers(100n * GWEI)).toEqual({ gasPrice: 2n * GWEI, covered: false });
  });
});
