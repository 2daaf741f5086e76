/** A fee spike raises bonds with the gas price: a prover waits until a claim takes no more than its operator allows. */
import { readFileSync } from "node:fs";
import { parseGwei } from "viem";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { fileCase } from "../support/cases.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { longTest } from "../support/long-test.ts";
import { ROLES, type System, startSystem } from "../support/system.ts";

const SOON = { timeout: 120_000, interval: 200 };
/** Of empty blocks: each has seven eighths of the one before. */
const SPIKE = parseGwei("50");
let system: System;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: 30 });
});
afterAll(() => system?.stop());

const skippedOf = async (url: string): Promise<number | undefined> =>
  (await fetchMetrics(url)).get('assay_prover_requests_skipped{code="BOND_ABOVE_LIMIT"}');

/** The next block has it, so that whoever sends afterwards pays for it. */
async function spike(baseFeePerGas: bigint): Promise<void> {
  await system.control.setNextBlockBaseFeePerGas({ baseFeePerGas });
  await system.control.mine({ blocks: 1 });
}

describe("a prover while gas is dear", () => {
  test("default: leaves the request, says so once, and claims it when the bond fits", async () => {
    const prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]);
    const url = String((await prover.logged("prover is up")).url);
    await spike(SPIKE);
    const { requestId, claimed } = await fileCase(system, ROLES.prover);
    const skipped = await prover.logged("skipping a request");
    expect(skipped).toMatchObject({
      request: requestId,
      code: "BOND_ABOVE_LIMIT",
      reason: expect.stringMatching(/^its bond would be [1-9]\.\d+ ether at .*, and --max-bond is 1 ether$/),
    });
    await vi.waitFor(async () => expect(await skippedOf(url)).toBe(1), SOON);
    const { claim } = await claimed();
    expect(claim.bond).toBeLessThanOrEqual(10n ** 18n);
    expect(claim.bond).toBeGreaterThan(10n ** 17n);
    const lines = readFileSync(prover.log, "utf8").split("\n");
    expect(lines.filter((line) => line.includes("skipping a request"))).toHaveLength(1);
    await vi.waitFor(async () => expect(await skippedOf(url)).toBe(0), SOON);
  });

  longTest("args: --max-bond: bonds what a spike asks for where that is allowed", async () => {
    const prover = system.daemon("rich", ROLES.cheat, ["prover", "--port", "0", "--max-bond", "100 ether"]);
    await prover.logged("prover is up");
    // For some twenty blocks it is above what the limit is without the flag.
    await spike(10n * SPIKE);
    const { claimed } = await fileCase(system, ROLES.cheat);
    const { claim } = await claimed();
    expect(claim.bond).toBeGreaterThan(10n ** 18n);
  });
});
