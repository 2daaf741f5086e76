import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { equalBytes, toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { type CommittedStep, commitLastStep } from "../../../conformance/generate/committed-step.ts";
import { seededProgram } from "../../../conformance/generate/random-program.ts";
import { line, rawInput, rawProgram, step } from "../../../conformance/generate/small-programs.ts";
import { foldOpening, outputRead, readsOf } from "../../../inference/commit/openings.ts";
import {
  decodePosition,
  demandPath,
  encodePosition,
  isInside,
  type Position,
  TRACE_STEP,
} from "../../../inference/commit/positions.ts";
import {
  foldReveal,
  foldTops,
  type Reveal,
  revealAt,
  topsOf,
  traceShapes,
} from "../../../inference/commit/reveal.ts";
import { isWeight } from "../../../inference/program/form.ts";
import { demandDepth } from "../../../inference/program/shape.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const seeds = fc.integer({ min: 1, max: 2 ** 31 });

/** A trace with tensors above six levels and more than 64 steps. */
function tallTrace(rng: Rng): CommittedStep {
  const steps = [
    rawInput("u8", [300, 3]),
    step({ opcode: "arith", variant: 9, type: "s32", dims: [300, 3], a: 0 }),
    step({ opcode: "arith", variant: 9, type: "s32", dims: [20, 300, 3], a: 1 }),
    ...Array.from({ length: 70 }, (_, i) => line(i === 0 ? 0 : i + 2, "u8", i === 0 ? 900 : 40, 40)),
  ];
  const program = rawProgram(900, steps);
  const selector = rng.bytes(4);
  const calldata = new Uint8Array(4 + 64 + 928);
  calldata.set(selector);
  calldata.set([0, 32], 4 + 30);
  calldata.set([900 >> 8, 900 & 255], 4 + 62);
  calldata.set(rng.bytes(900), 4 + 64);
  return commitLastStep(rng, { model: { program, weights: [] }, selector, calldata, ranges: [] }, false);
}

/** All positions that can be demanded. */
function positionsOf(shapes: ReturnType<typeof traceShapes>): Position[] {
  const found = new Map<bigint, Position>();
  shapes.forEach(({ rows, words, rowHeight }, index) => {
    for (let row = 0; row < rows; row += 7) {
      for (let word = 0; word < words; word++) {
        for (const position of demandPath(shapes, index, row * 2 ** rowHeight + word))
          found.set(encodePosition(position), position);
      }
    }
  });
  return [...found.values()];
}

/** The trace root that a reveal proves, or undefined when it is refused. */
function folded(
  shapes: ReturnType<typeof traceShapes>,
  position: Position,
  reveal: Reveal,
): string | undefined {
  try {
    return toHex(foldReveal(shapes, position, reveal));
  } catch (error) {
    expect(error).toBeInstanceOf(BaseError);
    return undefined;
  }
}

function flip(rng: Rng, { content, path }: Reveal): Reveal {
  const parts = [...content, ...path].map((part) => part.slice());
  const part = rng.pick(parts);
  const at = rng.int(0, 31);
  part[at] = (part[at] as number) ^ (1 << rng.int(0, 7));
  return { content: parts.slice(0, content.length), path: parts.slice(content.length) };
}

describe("position", () => {
  test("behavior: encode and decode are inverses", () => {
    fc.assert(
      fc.property(fc.nat(0xffff), fc.nat(255), fc.nat(2 ** 31 - 1), (index, level, low) => {
        const position = { step: index, level, index: low * 512 };
        expect(decodePosition(encodePosition(position))).toEqual(position);
      }),
    );
    expect(encodePosition({ step: 0x1234, level: 6, index: 0xab }).toString(16)).toBe("12340600000000ab");
    expect(() => encodePosition({ step: 65_536, level: 0, index: 0 })).toThrow(/u16/);
  });

  test("behavior: a position is inside if and only if it lies on a demand path", () => {
    const rng = createRng(1);
    const { program } = tallTrace(rng);
    const shapes = traceShapes(program.model.program);
    const all = positionsOf(shapes);
    expect(all.every((position) => isInside(shapes, position))).toBe(true);
    expect(all.some((position) => position.step === TRACE_STEP)).toBe(true);
    const [small, tall] = [shapes[3], shapes[2]] as [(typeof shapes)[number], (typeof shapes)[number]];
    expect([small.height, tall.height]).toEqual([1, 13]);
    const inside = (index: number, level: number, at: number): boolean =>
      isInside(shapes, { step: index, level, index: at });
    expect([inside(3, 1, 0), inside(3, 1, 1), inside(3, 0, 0), inside(3, 6, 0)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect([
      inside(2, 13, 0),
      inside(2, 12, 0),
      inside(2, 12, 1),
      inside(2, 6, 93),
      inside(2, 6, 94),
      inside(2, 7, 0),
    ]).toEqual([true, true, true, true, false, false]);
    expect([
      inside(TRACE_STEP, 6, 0),
      inside(TRACE_STEP, 6, 1),
      inside(TRACE_STEP, 6, 2),
      inside(TRACE_STEP, 12, 0),
    ]).toEqual([true, true, false, false]);
    expect(inside(shapes.length, 1, 0)).toBe(false);
  });

  test("behavior: no demand path is longer than the depth", () => {
    const { program } = tallTrace(createRng(1)).program.model;
    const shapes = traceShapes(program);
    const longest = Math.max(...shapes.map((_, index) => demandPath(shapes, index, 0).length));
    expect(longest).toBe(demandDepth(program));
  });
});

describe("revealAt", () => {
  test("behavior: every reveal folds to the trace root, any other byte is refused", () => {
    const rng = createRng(9);
    const { trace, program } = tallTrace(rng);
    const shapes = traceShapes(program.model.program);
    const root = toHex(trace.root);
    const positions = positionsOf(shapes);
    expect(positions.length).toBeGreaterThan(150);
    for (const position of positions) {
      const reveal = revealAt(trace, position);
      expect(folded(shapes, position, reveal)).toBe(root);
      for (let i = 0; i < 4; i++) expect(folded(shapes, position, flip(rng, reveal))).not.toBe(root);
    }
  });

  test("behavior: a lying trace cannot hide bytes in padding", () => {
    const program = rawProgram(40, [rawInput("u8", [3, 40])]);
    const shapes = traceShapes({ ...program, inputSize: 120 });
    const position = { step: 0, level: 3, index: 0 };
    const honest = Array.from({ length: 8 }, () => new Uint8Array(32));
    expect(folded(shapes, position, { content: honest, path: [] })).toBeDefined();
    // Row 0: word 1 has 8 real bytes; row 3 is padding.
    const places: [number, number, boolean][] = [
      [0, 31, true],
      [1, 7, true],
      [1, 8, false],
      [5, 31, false],
      [6, 0, false],
      [7, 31, false],
    ];
    for (const [word, byte, real] of places) {
      const content = honest.map((w) => w.slice());
      (content[word] as Uint8Array)[byte] = 1;
      expect(folded(shapes, position, { content, path: [] }) !== undefined).toBe(real);
    }
  });

  test("error: content or path of another length, or a position outside", () => {
    const { trace, program } = tallTrace(createRng(2));
    const shapes = traceShapes(program.model.program);
    const position = { step: 0, level: 6, index: 0 };
    const { content, path } = revealAt(trace, position);
    expect(folded(shapes, position, { content: content.slice(1), path })).toBeUndefined();
    expect(folded(shapes, position, { content, path: path.slice(1) })).toBeUndefined();
    expect(folded(shapes, position, { content, path: [...path, new Uint8Array(32)] })).toBeUndefined();
    expect(() => revealAt(trace, { step: 3, level: 6, index: 0 })).toThrow(/outside a trace of 73 steps/);
  });

  test("behavior: random programs", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const rng = createRng(seed);
        const { trace, program } = commitLastStep(rng, seededProgram(seed, { hostile: true }), false);
        const shapes = traceShapes(program.model.program);
        for (const position of positionsOf(shapes)) {
          expect(folded(shapes, position, revealAt(trace, position))).toBe(toHex(trace.root));
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe("foldTops", () => {
  test("behavior: tops fold to the trace root, up to 64 steps and above", () => {
    const rng = createRng(5);
    for (const committed of [tallTrace(rng), commitLastStep(rng, seededProgram(3, { steps: 2 }), false)]) {
      const tops = topsOf(committed.trace);
      const steps = committed.tensors.length;
      expect(tops).toHaveLength(steps > 64 ? 2 : steps);
      expect(toHex(foldTops(steps, tops))).toBe(toHex(committed.trace.root));
      expect(() => foldTops(steps, tops.slice(1))).toThrow(/number of hashes/);
    }
  });

  test("error: padding above 64 steps must be canonical", () => {
    const tops = Array.from({ length: 4 }, () => new Uint8Array(32).fill(1));
    expect(() => foldTops(129, tops)).toThrow(/hash 3/);
  });
});

describe("foldOpening", () => {
  test("behavior: any other byte of an opening is refused", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const rng = createRng(seed);
        const committed = commitLastStep(
          rng,
          seededProgram(seed, { opcode: rng.pick(["dot", "lookup", "reduce", "arith"] as const) }),
          false,
        );
        const { program } = committed.program.model;
        const element = rng.int(0, (committed.tensors[committed.step]?.data.length as number) - 1);
        const openings = committed.openings(element);
        const reads = [
          outputRead(program, committed.step, element),
          ...readsOf(program, committed.step, element, committed.dataOf),
        ];
        reads.forEach((read, slot) => {
          const root = isWeight(read.operand) ? committed.weights.root : committed.trace.root;
          const { words, path } = openings[slot] as (typeof openings)[number];
          const changed = flip(rng, { content: words, path });
          expect(equalBytes(foldOpening(program, read, { words, path }), root)).toBe(true);
          expect(
            equalBytes(foldOpening(program, read, { words: changed.content, path: changed.path }), root),
          ).toBe(false);
          expect(() => foldOpening(program, read, { words: [...words, new Uint8Array(32)], path })).toThrow(
            /words/,
          );
          expect(() => foldOpening(program, read, { words, path: [...path, new Uint8Array(32)] })).toThrow(
            /siblings/,
          );
        });
      }),
      { numRuns: 40 },
    );
  });

  test("error: an element that does not exist", () => {
    const committed = commitLastStep(createRng(1), seededProgram(1, { opcode: "arith" }), false);
    expect(() => committed.openings(1e9)).toThrow(/element 1000000000 is none of them/);
  });
});
