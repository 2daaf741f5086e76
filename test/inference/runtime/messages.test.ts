import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Answered, answerFrame, answerReader } from "../../../inference/runtime/messages.ts";

const answers = fc.array(
  fc.record({
    done: fc.array(fc.nat(), { maxLength: 5 }),
    sessionMs: fc.double({ noNaN: true }),
    outputs: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 }),
  }),
  { maxLength: 6 },
);

describe("answerReader", () => {
  it("default: gives every frame once, however the stream is cut", () => {
    fc.assert(
      fc.property(answers, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (list, cuts) => {
        const stream = Buffer.concat(
          list.map(({ done, sessionMs, outputs }) => answerFrame(done, sessionMs, outputs)),
        );
        const read = answerReader();
        const found: Answered[] = [];
        for (let at = 0, i = 0; at < stream.length; i++) {
          const length = cuts[i % cuts.length] as number;
          found.push(...read(stream.subarray(at, at + length)));
          at += length;
        }
        expect(found.map(({ data, ...rest }) => ({ ...rest, data: [...data] }))).toEqual(
          list.map(({ done, sessionMs, outputs }) => ({
            done,
            sessionMs,
            data: outputs.flatMap((output) => [...output]),
          })),
        );
      }),
    );
  });
});
