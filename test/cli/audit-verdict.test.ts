import { describe, expect, test } from "vitest";
import { verdictOf } from "../../cli/audit.ts";

type Report = Parameters<typeof verdictOf>[0];

describe("verdictOf", () => {
  const exact = { held: 5n, booked: 5n };
  const short = { held: 4n, booked: 5n };
  const promises = {} as NonNullable<Report["promises"]>;
  const breach = {} as NonNullable<Report["breach"]>;
  const whole = { isWhole: true, balance: exact, promises, promisesBalance: exact };

  test.each<[string, Report, string]>([
    ["all is as booked", whole, "in-order"],
    ["somebody forced ether upon it", { ...whole, balance: { held: 9n, booked: 5n } }, "in-order"],
    ["there are no promises", { isWhole: true, balance: exact }, "in-order"],
    ["it is a part", { isWhole: false }, "in-order"],
    ["Promises could not be read", { isWhole: true, balance: exact, promises }, "not-compared"],
    ["Assay could not be read", { isWhole: true, promises, promisesBalance: exact }, "not-compared"],
    ["neither could", { isWhole: true, promises }, "not-compared"],
    [
      "one is short, and the other could not be read",
      { isWhole: true, balance: short, promises },
      "not-in-order",
    ],
    ["Promises is short", { ...whole, promisesBalance: short }, "not-in-order"],
    ["a rule is broken, and nothing was compared", { isWhole: true, promises, breach }, "not-in-order"],
  ])("default: %s", (_name, report, verdict) => expect(verdictOf(report)).toBe(verdict));
});
