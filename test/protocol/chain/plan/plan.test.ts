import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_DATA_FEE } from "../../../../protocol/chain/data-fee.ts";
import {
  type Estimate,
  LANE_OF,
  METHODS,
  type Offer,
  type PlanTerms,
  plan,
} from "../../../../protocol/chain/plan/plan.ts";
import { LANE } from "../../../../protocol/rules/types.ts";

const GWEI = 10n ** 9n;
const ESTIMATE: Estimate = {
  setupSeconds: 0,
  seconds: 1,
  memoryBytes: 0,
  keyBytes: 0,
  gasSetup: 0n,
  gasPerResult: 200_000n,
  bytesPerResult: [1_000, 500],
  gasOfLargest: 200_000n,
};
const costing = (gas: bigint, changes: Partial<Estimate> = {}): Estimate => ({
  ...ESTIMATE,
  gasPerResult: gas,
  gasOfLargest: gas,
  ...changes,
});
const NO: Offer = { unavailable: "the model has no program" };
const TERMS: PlanTerms = {
  modelLanes: 7,
  depth: 3,
  offers: {
    execution: costing(220_000n),
    "execution-compiled": costing(90_000n),
    groth16: costing(350_000n, { seconds: 0.5 }),
    ezkl: NO,
    bond: costing(180_000n, { seconds: 0.01 }),
  },
  constants: { answerSeconds: 60, gasPriceFloor: GWEI, gasBase: 125_000n, gasPerDemand: 150_000n },
  gasPrice: GWEI,
  value: 0n,
  window: 3_600,
  blockSeconds: 12,
  transactionGas: 16_777_216n,
  capitalPercent: 5,
};
const rowOf = (terms: PlanTerms, method: (typeof METHODS)[number]) => {
  const row = plan(terms).rows.find((one) => one.method === method);
  if (row === undefined) throw new Error(`no row ${method}`);
  return row;
};
const available = (terms: PlanTerms, method: (typeof METHODS)[number]) => {
  const row = rowOf(terms, method);
  if (!row.available) throw new Error(row.reason);
  return row;
};

describe("plan", () => {
  test("default: every method has a row, and the cheapest is chosen", () => {
    const { rows, choice } = plan(TERMS);
    expect(rows.map(({ method }) => method)).toEqual([...METHODS]);
    expect(choice).toBe("execution-compiled");
    expect(available(TERMS, "execution")).toMatchObject({
      lane: "EXECUTION",
      lockedWei: 0n,
      secondsToFinality: 0,
      costWei: 220_000n * GWEI,
    });
    expect(available(TERMS, "groth16").secondsToFinality).toBe(12.5);
    expect(rowOf(TERMS, "ezkl")).toEqual({
      lane: "PROOF",
      method: "ezkl",
      available: false,
      reason: "the model has no program",
    });
  });

  test("args: value: the bond outweighs what is at stake, and what it costs to lock decides", () => {
    const modest = available(TERMS, "bond");
    expect(modest.lockedWei).toBe(20n * (125_000n + 3n * 150_000n) * 5n * GWEI);
    const value = 10n ** 21n;
    const rich = available({ ...TERMS, value }, "bond");
    expect(rich.lockedWei).toBe(value + 1n);
    expect(rich.costWei).toBeGreaterThan(modest.costWei);
    expect(rich.lockedSeconds).toBe(3_624);
    const lanes = { acceptedLanes: LANE.PROOF | LANE.BOND, capitalPercent: 10 };
    expect(plan({ ...TERMS, ...lanes }).choice).toBe("bond");
    expect(plan({ ...TERMS, ...lanes, value }).choice).toBe("groth16");
  });

  test("args: dataFee: each transaction's data counts, and a bond that must pay for a defence's rises", () => {
    const dataFee = { kind: "op-stack", least: 0n, base: 5n, perByte: 10n ** 9n } as const;
    const [without, withData] = [available(TERMS, "groth16"), available({ ...TERMS, dataFee }, "groth16")];
    expect(withData.dataFeeWei).toBe(1_500n * 10n ** 9n + 10n);
    expect(withData.costWei - without.costWei).toBe(withData.dataFeeWei);
    expect(without.dataFeeWei).toBe(0n);
    const dear = { ...TERMS, gasPrice: GWEI / 10n, dataFee: { ...dataFee, perByte: 80n * GWEI } };
    expect(available(dear, "bond").lockedWei).toBeGreaterThan(
      available({ ...dear, dataFee: NO_DATA_FEE }, "bond").lockedWei,
    );
  });

  test("behavior: what a lane lacks is its reason", () => {
    expect(rowOf({ ...TERMS, modelLanes: LANE.BOND }, "groth16")).toMatchObject({
      reason: "the model has no lane PROOF",
    });
    expect(rowOf({ ...TERMS, acceptedLanes: LANE.PROOF }, "bond")).toMatchObject({
      reason: "the request does not accept lane BOND",
    });
    const large = { ...TERMS.offers, execution: costing(20_000_000n) };
    expect(rowOf({ ...TERMS, offers: large }, "execution")).toMatchObject({
      reason: "it needs a transaction of about 20000000 gas, the chain's limit is 16777216",
    });
  });

  test("behavior: a method with a caution are shown and never chosen", () => {
    const offers = {
      execution: NO,
      "execution-compiled": NO,
      groth16: costing(1n, { caution: "development keys" }),
      ezkl: NO,
      bond: NO,
    };
    const { rows, choice } = plan({ ...TERMS, offers });
    expect(choice).toBeUndefined();
    expect(rows[2]).toMatchObject({ available: true, usable: false });
  });

  test("behavior: the choice is usable, of an accepted lane, and no usable method is cheaper", () => {
    const offer = fc.oneof(
      fc.constant(NO),
      fc
        .tuple(fc.bigInt(1n, 2n ** 26n), fc.boolean())
        .map(([gas, weak]) => costing(gas, weak ? { caution: "weak" } : {})),
    );
    const offers = fc.record({
      execution: offer,
      "execution-compiled": offer,
      groth16: offer,
      ezkl: offer,
      bond: offer,
    });
    const bits = fc.integer({ min: 0, max: 7 });
    fc.assert(
      fc.property(offers, bits, bits, fc.bigInt(0n, 2n ** 80n), (made, modelLanes, acceptedLanes, value) => {
        const { rows, choice } = plan({ ...TERMS, offers: made, modelLanes, acceptedLanes, value });
        const usable = rows.flatMap((row) => (row.available && row.usable ? [row] : []));
        if (choice === undefined) return usable.length === 0;
        const chosen = usable.find(({ method }) => method === choice);
        return (
          chosen !== undefined &&
          (LANE[LANE_OF[choice]] & modelLanes & acceptedLanes) !== 0 &&
          usable.every(({ costWei }) => costWei >= chosen.costWei)
        );
      }),
    );
  });
});
