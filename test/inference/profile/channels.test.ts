import fc from "fast-check";
import { expect, it } from "vitest";
import { eachByChannel } from "../../../inference/profile/channels.ts";
import type { ChannelParameters } from "../../../inference/program/weights.ts";

/** Channels that make different numbers of the same bound. */
const channels = (count: number): ChannelParameters[] =>
  Array.from({ length: count }, (_, bias) => ({ bias }) as ChannelParameters);

const apply = (bound: number, { bias }: ChannelParameters): number => 7 * bound + bias;

it("behavior: eachByChannel gives every bound what its channel makes of it, however rows are alike", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.constantFrom(-1, 0, 1, Number.NaN), { maxLength: 40 }),
      (count, bounds) => {
        const all = channels(count);
        const expected = bounds.map((bound, i) => apply(bound, all[i % count] as ChannelParameters));
        expect([...eachByChannel(Float64Array.from(bounds), all, apply)]).toEqual(expected);
      },
    ),
  );
});

it("behavior: rows that are alike are computed once", () => {
  let calls = 0;
  const count = (bound: number): number => {
    calls += 1;
    return bound;
  };
  eachByChannel(Float64Array.of(1, 2, 1, 2, 1, 3), channels(2), count);
  expect(calls).toBe(3);
});
