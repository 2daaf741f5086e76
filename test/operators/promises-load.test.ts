/** The load of `npm run bench -- promises-load`, small: what it counts, at no speed. */
import { describe, expect, it } from "vitest";
import { WRONG_LEAVES, wholeWay } from "../../bench/promises/whole-way.ts";
import { scaled } from "../support/scale.ts";

const ANSWERS = scaled(800, 2_000);
const [BATCHES, LEAVES, CLAIMS] = [2, 64, 6];

describe("wholeWay", () => {
  it("default: all answers are signed, posted and checked; what was planted falls, and nothing else", async () => {
    const whole = await wholeWay({
      ...{ answers: ANSWERS, cheatBatches: BATCHES, cheatLeaves: LEAVES, cheatClaims: CLAIMS },
      heapMib: 128,
    });
    expect(whole.signed.refused).toBe(0);
    expect(whole.posted.leaves).toBe(ANSWERS);
    expect(whole.leaves).toBe(ANSWERS + BATCHES * LEAVES);
    expect([whole.watched.right, whole.watched.wrong]).toEqual([
      whole.leaves - BATCHES * WRONG_LEAVES,
      BATCHES * WRONG_LEAVES,
    ]);
    expect([whole.leavesFallen, whole.claimsFallen]).toEqual([BATCHES * WRONG_LEAVES, CLAIMS / 2]);
    expect(whole.rightAccused).toBe(0);
  });
});
