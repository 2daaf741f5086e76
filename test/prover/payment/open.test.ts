import { describe, expect, it } from "vitest";
import { RULES } from "../../../protocol/rules/machine.ts";
import { OWN_REQUEST_SECONDS } from "../../../prover/payment/file-request.ts";
import { validSecondsOf } from "../../../prover/payment/open.ts";
import { models, serveForTests } from "../../support/http-prover.ts";

serveForTests();

describe("validSecondsOf", () => {
  it("default: a payment outlasts a dispute that begins and is drawn out as late as the rules allow", () => {
    const depths = [0, ...[...models.values()].map(({ depth }) => depth)];
    for (const depth of depths) {
      for (const answerSeconds of [1, 60, 3_600]) {
        const windowEnd = OWN_REQUEST_SECONDS + 4 * answerSeconds;
        // The last ticket comes a second before the window's end, and the last answer as late as it may.
        const hardEnd = windowEnd - 1 + RULES.disputeSeconds(depth, answerSeconds);
        const word = { windowEnd, lastEvent: hardEnd, hardEnd } as Parameters<typeof RULES.finalAt>[0];
        const final = RULES.finalAt(word, answerSeconds);
        expect(validSecondsOf(depth, { answerSeconds }, { maxWaitSeconds: 1 })).toBeGreaterThanOrEqual(
          final + 60,
        );
      }
    }
  });

  it("args: a caller may wait longer than that", () => {
    expect(validSecondsOf(0, { answerSeconds: 1 }, { maxWaitSeconds: 3_600 })).toBe(3_660);
  });
});
