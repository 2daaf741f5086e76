import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeErrorResult, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import { decideRound, type RoundState } from "../../../agent/redundant/rounds.ts";
import { ROUNDS_SCHEMA, RoundStore } from "../../../agent/redundant/store.ts";
import { decodeRevertData } from "../../../protocol/chain/errors.ts";
import { iRedundantResultsAbi } from "../../../protocol/rules/generated/abis.ts";
import { openDatabase } from "../../../protocol/service/journal/database.ts";

const MINE = `0x${"11".repeat(32)}` as const;
const OTHER = `0x${"22".repeat(32)}` as const;
const RESULTS = "0x0000000000000000000000000000000000000011";
const ROUND: RoundState = { inputHash: MINE, exists: true, commitEnd: 100, finalAt: 0 };
const PLAIN = { revealSeconds: 50 };
const JUDGED = { revealSeconds: 50, truth: RESULTS } as const;

describe("decideRound", () => {
  it("default: commits, reveals, and is done", () => {
    expect(decideRound(ROUND, PLAIN, undefined, 99)).toBe("commit");
    expect(decideRound(ROUND, PLAIN, MINE, 99)).toBe("commit");
    expect(decideRound(ROUND, PLAIN, MINE, 100)).toBe("reveal");
    expect(decideRound({ ...ROUND, revealed: MINE }, PLAIN, MINE, 110)).toBe("wait");
    expect(decideRound({ ...ROUND, revealed: MINE, agreed: MINE }, PLAIN, MINE, 110)).toBe("over");
  });

  it("behavior: dissent is revealed after an agreement, agreement is not repeated", () => {
    expect(decideRound({ ...ROUND, agreed: OTHER }, PLAIN, MINE, 110)).toBe("reveal");
    expect(decideRound({ ...ROUND, agreed: MINE }, PLAIN, MINE, 110)).toBe("over");
  });

  it("behavior: too late for either, and a round that is gone", () => {
    expect(decideRound(ROUND, PLAIN, undefined, 100)).toBe("wait");
    expect(decideRound(ROUND, PLAIN, MINE, 150)).toBe("over");
    expect(decideRound({ ...ROUND, exists: false }, PLAIN, MINE, 10)).toBe("over");
  });

  it("behavior: with a truth it judges until the result is final", () => {
    const agreed = { ...ROUND, revealed: MINE, agreed: MINE, finalAt: 900 };
    expect(decideRound(agreed, JUDGED, MINE, 899)).toBe("judge");
    expect(decideRound(agreed, JUDGED, MINE, 900)).toBe("over");
    expect(decideRound({ ...ROUND, revealed: MINE }, JUDGED, MINE, 149)).toBe("judge");
    expect(decideRound({ ...ROUND, revealed: MINE }, JUDGED, MINE, 150)).toBe("over");
  });
});

describe("decodeRevertData", () => {
  /** A lost race must read as done, not as a refusal. */
  it("default: knows the contract's errors by name", () => {
    for (const errorName of ["MovedAlready", "NotContradicted"] as const) {
      const data = encodeErrorResult({ abi: iRedundantResultsAbi, errorName, args: [MINE, RESULTS] });
      expect(decodeRevertData(data).name).toBe(errorName);
    }
  });
});

describe("RoundStore", () => {
  const withStore = (work: (path: string) => void) => {
    const folder = mkdtempSync(join(tmpdir(), "assay-rounds-"));
    try {
      work(join(folder, "a.sqlite"));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const block = (number: bigint) => ({ number, hash: MINE });
  const blocks = (roundId: Hex, number: bigint) => ({
    kind: "blocks" as const,
    from: number,
    to: { ...block(number), timestamp: 1 },
    head: { ...block(number), timestamp: 1 },
    events: [{ roundId, data: "0x12" as const, block: block(number) }],
    cursor: [block(number)],
  });

  it("behavior: rounds and answers survive a restart; a rollback takes rounds back, never answers", () => {
    withStore((path) => {
      const first = openDatabase(path, [ROUNDS_SCHEMA]);
      const store = new RoundStore(first, RESULTS);
      store.take(blocks(MINE, 5n));
      store.take(blocks(OTHER, 6n));
      store.keep(OTHER, { output: "0xab", salt: MINE });
      first.close();
      const second = openDatabase(path, [ROUNDS_SCHEMA]);
      const again = new RoundStore(second, RESULTS);
      expect(again.cursor()).toEqual([block(6n)]);
      expect(again.open().map(({ roundId }) => roundId)).toEqual([MINE, OTHER]);
      again.take({ kind: "rollback", ancestor: 5n, gone: [], cursor: [block(5n)] });
      expect(again.open()).toHaveLength(1);
      expect(again.answer(OTHER)).toEqual({ output: "0xab", salt: MINE });
      expect(() => again.keep(OTHER, { output: "0xcd", salt: OTHER })).toThrow("UNIQUE");
      again.close(OTHER);
      expect(again.answer(OTHER)).toBeUndefined();
      expect(new RoundStore(second, MINE as never).cursor()).toBeUndefined();
      second.close();
    });
  });
});
