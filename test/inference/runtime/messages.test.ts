import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Frame, frameReader, toFrame, viewAt } from "../../../inference/runtime/messages.ts";

const frames = fc.array(
  fc.record({
    ids: fc.array(fc.nat(), { maxLength: 5 }),
    value: fc.double({ noNaN: true }),
    parts: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 }),
  }),
  { maxLength: 6 },
);

describe("frameReader", () => {
  it("default: gives every frame once, however the stream is cut", () => {
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (list, cuts) => {
        const stream = Buffer.concat(list.map(({ ids, value, parts }) => toFrame(ids, value, parts)));
        const read = frameReader();
        const found: Frame[] = [];
        for (let at = 0, i = 0; at < stream.length; i++) {
          const length = cuts[i % cuts.length] as number;
          found.push(...read(stream.subarray(at, at + length)));
          at += length;
        }
        expect(found.map(({ data, ...rest }) => ({ ...rest, data: [...data] }))).toEqual(
          list.map(({ ids, value, parts }) => ({ ids, value, data: parts.flatMap((part) => [...part]) })),
        );
      }),
    );
  });
});

describe("viewAt", () => {
  const block = Uint8Array.from({ length: 16 }, (_, i) => i);

  it("default: shares the block's memory", () => {
    expect(viewAt({ name: "x", type: "u8", dims: [3] }, block, 5)).toMatchObject({
      buffer: block.buffer,
      byteOffset: 5,
      length: 3,
    });
    expect(viewAt({ name: "x", type: "s32", dims: [2] }, block, 8)).toEqual(
      Int32Array.of(0x0b0a0908, 0x0f0e0d0c),
    );
  });

  it("behavior: words that are not aligned are copied", () => {
    const found = viewAt({ name: "x", type: "s32", dims: [2] }, block, 5);
    expect(found).toEqual(Int32Array.of(0x08070605, 0x0c0b0a09));
    expect(found.buffer).not.toBe(block.buffer);
  });
});
