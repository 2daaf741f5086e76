/** A prover on a chain of the OP stack's kind: what it asks, and what it does while the chain's oracle fails. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { fileCase } from "../support/cases.ts";
import { OP_PRICES, placeDataFee } from "../support/data-fee.ts";
import { ROLES, type System, startSystem } from "../support/system.ts";

const SOON = { timeout: 120_000, interval: 200 };
let system: System;
let set: Awaited<ReturnType<typeof placeDataFee>>;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: 30 });
  set = await placeDataFee(system, "OpGasPriceOracle");
  await set("setUpgrade", true);
});
afterAll(() => system?.stop());

async function quoteOf(url: string) {
  const response = await fetch(`${url}/v1/quote?model=${system.model("sentiment").modelId}&callbackGas=1`);
  const body = (await response.json()) as Record<string, string>;
  const amount = (name: string) => BigInt(body[name] ?? 0);
  return {
    status: response.status,
    fee: amount("leastFee"),
    delivery: amount("leastDeliveryFee"),
    bond: amount("bond"),
  };
}

describe("a prover on a chain with a data fee", () => {
  test("default: asks for it, bonds for it, and claims nothing while it cannot be read", async () => {
    const prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]);
    const url = String((await prover.logged("prover is up")).url);
    const lines = (text: string) => readFileSync(prover.log, "utf8").split(text).length - 1;
    const before = await vi.waitFor(async () => {
      const quoted = await quoteOf(url);
      expect(quoted.status).toBe(200);
      return quoted;
    }, SOON);
    // Dear enough that a defence's data outweighs the floor of the gas price.
    const [base, blob, scalar, blobScalar] = OP_PRICES;
    await set("setPrices", 20_000n * base, 20_000n * blob, scalar, blobScalar);
    await vi.waitFor(async () => {
      const quoted = await quoteOf(url);
      expect(quoted.fee).toBeGreaterThan(2n * before.fee);
      expect(quoted.delivery).toBeGreaterThan(before.delivery);
      expect(quoted.bond).toBeGreaterThan(before.bond);
    }, SOON);
    await set("setPrices", 0n, 0n, 0n, 0n);
    await set("setFails", true);
    await prover.logged("nothing new is claimed, settled or delivered: the data fee is not known");
    // It is said before the prover goes by it.
    await vi.waitFor(async () => expect(await quoteOf(url)).toMatchObject({ status: 503 }), SOON);
    const { requestId, claimed } = await fileCase(system, ROLES.prover);
    expect(await prover.logged("skipping a request")).toMatchObject({
      request: requestId,
      code: "DATA_FEE_UNKNOWN",
    });
    await system.passTime(5);
    expect(system.events.all("Claimed", (event) => event.requestId === requestId)).toEqual([]);
    expect(lines("the data fee is not known")).toBe(1);
    await set("setFails", false);
    await claimed();
    expect(lines("the data fee can be read again")).toBe(1);
  });
});
