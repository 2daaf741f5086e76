import { type Abi, type Address, createWalletClient, http } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SourceHistory } from "../../../agent/feed/history.ts";
import { loadArtifact } from "../../../cli/artifacts.ts";
import { ensureCompiled } from "../../../tools/compile.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";

let local: LocalChain;
beforeAll(async () => {
  ensureCompiled("all");
  local = await startLocalChain();
});
afterAll(() => local?.stop());

const wallet = () => createWalletClient({ account: accountAt(1), transport: http(local.rpcUrl) });

/** A price feed of its own on the chain. */
async function openSource(name: "TestSource" | "TestPhasedSource" = "TestSource") {
  const artifact = loadArtifact(name);
  const abi = artifact.abi as Abi;
  const created = await wallet().deployContract({ ...artifact, abi, args: [8], chain: null });
  const { contractAddress } = await local.client.waitForTransactionReceipt({ hash: created });
  const address = contractAddress as Address;
  const call = async (functionName: string, ...args: readonly unknown[]) => {
    const hash = await wallet().writeContract({ address, abi, functionName, args, chain: null });
    expect(await local.client.waitForTransactionReceipt({ hash })).toMatchObject({ status: "success" });
  };
  return {
    begin: (phase: number) => call("beginPhase", phase),
    complete: (id: number, answer: bigint, updatedAt: bigint) => call("complete", id, answer, updatedAt),
    push: (...rounds: readonly (readonly [answer: bigint, updatedAt: bigint])[]) =>
      call(
        "pushMany",
        rounds.map(([answer]) => answer),
        rounds.map(([, updatedAt]) => updatedAt),
      ),
    history: (unit = 1n) => new SourceHistory(local.client as never, address, unit),
  };
}
const idsSince = async (history: SourceHistory, second: number) =>
  (await history.since(second)).map(({ id }) => id);

describe("since", () => {
  it("behavior: rounds that the series refuses are left out, and hide none before them", async () => {
    const source = await openSource();
    await source.push(
      [10n, 100n],
      [-5n, 200n],
      [1n << 72n, 300n],
      [(1n << 72n) - 1n, 400n],
      [2n ** 255n - 1n, 500n],
      [0n, 600n],
    );
    const history = source.history();
    expect(await idsSince(history, 0)).toEqual([4n, 1n]);
    expect(await idsSince(history, 300)).toEqual([4n]);
  });

  it("behavior: a price is compared in the series' unit", async () => {
    const source = await openSource();
    await source.push([10n ** 10n * ((1n << 72n) - 1n), 100n], [10n ** 10n - 1n, 200n], [10n ** 10n, 300n]);
    expect(await idsSince(source.history(10n ** 10n), 0)).toEqual([3n, 1n]);
  });

  it("behavior: a proxy's phases end at the first id without a round, where feeds revert", async () => {
    const source = await openSource("TestPhasedSource");
    await source.push([1n, 1n]);
    await source.begin(1);
    await source.push([10n, 100n], [11n, 200n]);
    const phase = 1n << 64n;
    expect(await idsSince(source.history(), 0)).toEqual([phase + 2n, phase + 1n]);
  });

  it("behavior: an id that had no round yet is asked again", async () => {
    const source = await openSource();
    await source.push([10n, 100n], [0n, 0n]);
    const history = source.history();
    expect(await idsSince(history, 0)).toEqual([]);
    await source.complete(2, 11n, 200n);
    await source.push([12n, 300n]);
    expect(await idsSince(history, 0)).toEqual([3n, 2n, 1n]);
  });

  it("behavior: more rounds than are asked for at once, and of them those that are new", async () => {
    const source = await openSource();
    await source.push(...Array.from({ length: 70 }, (_, i) => [10n, BigInt(100 + i)] as const));
    const history = source.history();
    expect(await idsSince(history, 0)).toHaveLength(70);
    await source.push([11n, 300n]);
    expect((await idsSince(history, 0))[0]).toBe(71n);
    expect(history.reorgs).toBe(0);
  });

  it("behavior: rounds that a re-org took back are gone, also those below the newest", async () => {
    const source = await openSource();
    await source.push([10n, 100n]);
    const history = source.history();
    const before = await local.control.snapshot();
    await source.push([11n, 200n], [12n, 300n]);
    expect((await history.since(0)).map(({ price }) => price)).toEqual([12n, 11n, 10n]);
    await local.control.revert({ id: before });
    // The same height again, by another block.
    await source.push([21n, 250n], [22n, 350n]);
    expect((await history.since(0)).map(({ price }) => price)).toEqual([22n, 21n, 10n]);
    expect(history.reorgs).toBe(1);
    expect(await idsSince(history, 0)).toEqual([3n, 2n, 1n]);
    expect(history.reorgs).toBe(1);
  });

  it("behavior: a chain that became shorter is another one too", async () => {
    const source = await openSource();
    const before = await local.control.snapshot();
    await source.push([11n, 200n]);
    const history = source.history();
    expect(await idsSince(history, 0)).toEqual([1n]);
    await local.control.revert({ id: before });
    expect([await idsSince(history, 0), history.reorgs]).toEqual([[], 1]);
  });
});
