import { describe, expect, test } from "vitest";
import { SILENT } from "../../base/log.ts";
import { type DisputeParts, Disputes } from "../../challenger/disputes.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { hashOf } from "../support/batches.ts";

const CLAIM = hashOf(1) as ClaimId;

/** Disputes that ask a node which answers when it is told to. */
function open() {
  const waiting: (() => void)[] = [];
  const chain = {
    game: {},
    deployment: { contracts: {} },
    constants: { answerSeconds: 10 },
    client: {
      readContract: () =>
        new Promise((_, reject) => waiting.push(() => reject(new Error("the node is gone")))),
    },
  };
  const parts = {
    ...{ chain, sender: { address: "0x", stop: async () => {} }, log: SILENT },
    store: { index: { claimAndRequest: () => ({ claim: {}, request: {} }) } },
    verdicts: { get: () => undefined },
  };
  const disputes = new Disputes(parts as unknown as DisputeParts);
  disputes.see({ number: 1n, hash: hashOf(2), timestamp: 3 } as never);
  return { disputes, waiting };
}

describe("Disputes", () => {
  test("behavior: what is seen while a step is under way is looked at by another one", async () => {
    const { disputes, waiting } = open();
    disputes.step(CLAIM);
    disputes.step(CLAIM);
    expect(waiting).toHaveLength(1);
    waiting[0]?.();
    await expect.poll(() => waiting.length).toBe(2);
    waiting[1]?.();
    await disputes.stop();
    expect(disputes.isIdle).toBe(true);
  });

  test("behavior: stopping waits for the step and begins no other, which would find the database closed", async () => {
    const { disputes, waiting } = open();
    disputes.step(CLAIM);
    disputes.step(CLAIM);
    const stopped = disputes.stop();
    waiting[0]?.();
    await stopped;
    disputes.step(CLAIM);
    expect(waiting).toHaveLength(1);
    expect(disputes.isIdle).toBe(true);
  });
});
