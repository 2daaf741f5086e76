import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { SourceHistory } from "../../../agent/feed/history.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";

const SOURCE: Address = "0x00000000000000000000000000000000000000aa";
type Round = readonly [answer: bigint, updatedAt: bigint];

/** A node of which a feed's rounds are read. */
function clientOf(rounds: Map<bigint, Round>, latest: () => bigint): Chain["client"] {
  const readContract = async ({ functionName, args }: { functionName: string; args?: readonly [bigint] }) => {
    if (functionName === "latestRoundData") return [latest()];
    const [answer, updatedAt] = rounds.get(args?.[0] ?? 0n) ?? [0n, undefined];
    // As a proxy answers an id of a phase that it never had.
    if (updatedAt === undefined) throw new Error("execution reverted");
    return [args?.[0], answer, updatedAt, updatedAt, args?.[0]];
  };
  return { readContract } as unknown as Chain["client"];
}

const idsSince = async (history: SourceHistory, second: number) =>
  (await history.since(second)).map(({ id }) => id);

describe("since", () => {
  it("behavior: rounds that the series refuses are left out, and hide none before them", async () => {
    const rounds = new Map<bigint, Round>([
      [1n, [10n, 100n]],
      [2n, [-5n, 200n]],
      [3n, [1n << 72n, 300n]],
      [4n, [(1n << 72n) - 1n, 400n]],
      [5n, [2n ** 255n - 1n, 500n]],
      [6n, [0n, 600n]],
    ]);
    const history = new SourceHistory(
      clientOf(rounds, () => 6n),
      SOURCE,
      1n,
    );
    expect(await idsSince(history, 0)).toEqual([4n, 1n]);
    expect(await idsSince(history, 300)).toEqual([4n]);
  });

  it("behavior: a price is compared in the series' unit", async () => {
    const rounds = new Map<bigint, Round>([
      [1n, [10n ** 10n * ((1n << 72n) - 1n), 100n]],
      [2n, [10n ** 10n - 1n, 200n]],
      [3n, [10n ** 10n, 300n]],
    ]);
    const history = new SourceHistory(
      clientOf(rounds, () => 3n),
      SOURCE,
      10n ** 10n,
    );
    expect(await idsSince(history, 0)).toEqual([3n, 1n]);
  });

  it("behavior: a proxy's phases end at the first id without a round", async () => {
    const phase = 1n << 64n;
    const rounds = new Map<bigint, Round>([
      [phase - 1n, [1n, 1n]],
      [phase + 1n, [10n, 100n]],
      [phase + 2n, [11n, 200n]],
    ]);
    const history = new SourceHistory(
      clientOf(rounds, () => phase + 2n),
      SOURCE,
      1n,
    );
    expect(await idsSince(history, 0)).toEqual([phase + 2n, phase + 1n]);
  });

  it("behavior: an id that had no round yet is asked again", async () => {
    const rounds = new Map<bigint, Round>([
      [1n, [10n, 100n]],
      [2n, [0n, 0n]],
    ]);
    let latest = 2n;
    const history = new SourceHistory(
      clientOf(rounds, () => latest),
      SOURCE,
      1n,
    );
    expect(await idsSince(history, 0)).toEqual([]);
    rounds.set(2n, [11n, 200n]);
    rounds.set(3n, [12n, 300n]);
    latest = 3n;
    expect(await idsSince(history, 0)).toEqual([3n, 2n, 1n]);
  });
});
