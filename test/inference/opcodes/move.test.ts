import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { move, movedFrom, sourceMap } from "../../../inference/opcodes/move.ts";
import {
  type Coordinate,
  elementCount,
  NONE,
  type Step,
  type TensorType,
} from "../../../inference/program/form.ts";
import { bitsOf, newData } from "../../../inference/program/tensor.ts";
import { createRng } from "../../support/rng.ts";

const along = (view: number, a: number, p: number, b = 0, q = 0, c = 0): Coordinate => ({
  view,
  a,
  p,
  b,
  q,
  c,
});

/** Moves by what they are for, with the last axis long, where whole runs are copied, and short. */
const cases = fc.record({
  type: fc.constantFrom<TensorType>("u8", "s32", "f32"),
  channels: fc.constantFrom(1, 3, 16, 200),
  side: fc.integer({ min: 1, max: 5 }),
  stride: fc.integer({ min: 1, max: 2 }),
  pad: fc.integer({ min: -2, max: 2 }),
  hasOther: fc.boolean(),
  seed: fc.nat(),
});

describe("move", () => {
  it("behavior: windows with padding or a second operand, element by element as defined", () => {
    fc.assert(
      fc.property(cases, ({ type, channels, side, stride, pad, hasOther, seed }) => {
        // [y, x, ky, kx, channel] of a map [side, side, channels]
        const dims = [side, side, 2, 2, channels];
        const coordinates = [
          along(1, 0, 0),
          along(side, stride, 0, 1, 2, pad),
          along(side, stride, 1, 1, 3, pad),
          along(channels, 1, 4),
        ];
        const k = type === "u8" ? 77 : 0x7fc00001;
        const step: Step = {
          opcode: "move",
          variant: 0,
          type,
          dims,
          a: 0,
          b: hasOther ? 1 : NONE,
          c: NONE,
          k: hasOther ? 0 : k,
          coordinates,
        };
        const rng = createRng(seed);
        const filled = (count: number) => {
          const data = newData(type, count);
          const bits = type === "u8" ? data : bitsOf(data);
          for (let i = 0; i < count; i++) bits[i] = rng.u32();
          return { data, bits };
        };
        const source = filled(side * side * channels);
        const other = filled(elementCount(dims));
        const out = newData(type, elementCount(dims));
        const operand = { type, dims: [side, side, channels] };
        const kernel = move.prepare(step, [operand, hasOther ? { type, dims } : undefined, undefined]);
        kernel(out, source.data, hasOther ? other.data : undefined, undefined);
        const expected = Array.from(other.bits, (theirs, i) => {
          const channel = i % channels;
          const kx = Math.floor(i / channels) % 2;
          const ky = Math.floor(i / channels / 2) % 2;
          const x = Math.floor(i / channels / 4) % side;
          const y = Math.floor(i / channels / 4 / side);
          const [sy, sx] = [stride * y + ky + pad, stride * x + kx + pad];
          if (sy >= 0 && sy < side && sx >= 0 && sx < side)
            return source.bits[(sy * side + sx) * channels + channel];
          return hasOther ? theirs : k;
        });
        expect(Array.from(type === "u8" ? out : bitsOf(out))).toEqual(expected);
      }),
      { numRuns: 80 },
    );
  });

  it("behavior: the map of lines is what each element comes from, over random coordinates", () => {
    const rng = createRng(5);
    let [inside, outside] = [0, 0];
    for (let round = 0; round < 3_000; round++) {
      const dims = Array.from({ length: rng.int(1, 6) }, () => rng.pick([1, 1, 2, 3, 7]));
      const factor = () => rng.pick([0, 1, 1, -1, 2, -3, 7, 2 ** 31 - 1, -(2 ** 31)]);
      const coordinates = Array.from({ length: 4 }, () => {
        const [a, b] = [factor(), rng.chance(0.3) ? factor() : 0];
        const axis = (by: number) => (by === 0 ? 0 : rng.int(0, dims.length - 1));
        const c = rng.chance(0.1) ? rng.pick([2 ** 31 - 1, -(2 ** 31)]) : rng.int(-4, 9);
        return along(rng.pick([1, 3, 8, 40, 200]), a, axis(a), b, axis(b), c);
      });
      const step: Step = {
        ...{ opcode: "move", variant: 0, type: "u8", dims, a: 0, b: NONE, c: NONE, k: 0, coordinates },
      };
      const map = sourceMap(step);
      const expected = Array.from(map, (_, element) => movedFrom(step, element) ?? -1);
      expect([...map], JSON.stringify(step)).toEqual(expected);
      for (const from of expected) from < 0 ? outside++ : inside++;
    }
    expect(Math.min(inside, outside)).toBeGreaterThan(1_000);
  });
});
