import { describe, expect, it } from "vitest";
import { type Executor, keyOf } from "../../support/differential.ts";
import { compareTargets } from "../../support/differential-suite.ts";
import { TARGETS } from "../../support/directed-program.ts";
import {
  halfEven,
  halfUp,
  multiplyAdd,
  requantization,
  rounding,
  withKernel,
} from "../../support/planted.ts";

/** Differences that the programs of executor.test.ts find in an executor, by what it compares. */
async function differences(executor: Executor, names: readonly string[]): Promise<Record<string, number>> {
  const targets = TARGETS.filter((target) => names.includes(keyOf(target)));
  expect(targets.map(keyOf)).toEqual(names);
  const tally = await compareTargets(executor, targets);
  return Object.fromEntries(names.map((name) => [name, tally.of(name).different]));
}

const none = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 0]));

describe("a fault planted in the executor", () => {
  const requantized = ["dot.binary32 u8", "dot.binary32 s8", "requant.binary32 u8", "requant.binary32 s8"];
  const rounded = ["float.round f32", "float.quant u8", "float.quant s8"];
  const sums = ["float.add f32", "float.sub f32"];

  it.each([
    ["requantization that rounds half up", requantized, requantization(halfUp), requantization(halfEven)],
    ["rounding half up", rounded, rounding(halfUp), rounding(halfEven)],
    ["fused multiply-add", sums, multiplyAdd(true), multiplyAdd(false)],
  ])(
    "behavior: %s is found, and nothing without it",
    async (name, keys, fault, control) => {
      const found = await differences(withKernel(fault), keys);
      process.stdout.write(`${name}: ${JSON.stringify(found)}\n`);
      for (const key of keys) expect(found[key], key).toBeGreaterThan(0);
      expect(await differences(withKernel(control), keys)).toEqual(none(keys));
    },
    120_000,
  );
});
