/** Steps of one form that read the same have the same bounds, and the same of them is needed: compared with what the
 *  definitions give of each step on its own. */
import { describe, expect, it } from "vitest";
import { neededElements } from "../../../inference/executor/rows/needed.ts";
import { programBounds } from "../../../inference/profile/causality/bounds.ts";
import { operandAt, SLOTS } from "../../../inference/profile/causality/forms.ts";
import { Interned } from "../../../inference/profile/causality/interned.ts";
import { KnownRanges } from "../../../inference/profile/causality/known.ts";
import {
  boundsAt,
  type ElementReads,
  type ReadForm,
  zerosOf,
} from "../../../inference/profile/causality/reads.ts";
import { StepRanges } from "../../../inference/profile/context.ts";
import { READS } from "../../../inference/profile/generated/reads.ts";
import { analyse } from "../../../inference/profile/intervals.ts";
import type { Range } from "../../../inference/profile/range.ts";
import {
  elementCount,
  isBelow,
  isClaimed,
  isStep,
  type Model,
  NONE,
  operandDims,
  type Step,
} from "../../../inference/program/form.ts";
import { createRng } from "../../support/rng.ts";
import { rowProgram } from "../../support/row-programs.ts";
import { scaled } from "../../support/scale.ts";
import { sequenceProgram } from "../../support/sequence-programs.ts";

const LINES = scaled(600, 4_000, 20_000);
const SEQUENCES = scaled(20, 100, 500);

function* programs(): Generator<readonly [name: string, model: Model]> {
  for (let seed = 0; seed < LINES; seed++) {
    const rng = createRng(seed);
    yield [`lines ${seed}`, rowProgram(rng, rng.int(1, 6))];
  }
  for (let seed = 0; seed < SEQUENCES; seed++) {
    const rng = createRng(seed);
    const shape = {
      prompt: rng.int(1, 3),
      tokens: rng.int(2, 5),
      heads: rng.int(1, 2),
      width: rng.int(1, 3),
    };
    yield [`sequence ${seed}`, sequenceProgram(rng, { ...shape, layers: 3 })];
  }
}

interface Plain {
  readonly bounds: readonly (readonly number[])[];
  /** by step, whether an element is needed */
  readonly needed: readonly (readonly boolean[])[];
}

/** By the definitions, each step by itself. */
function plainly(model: Model, ranges: readonly Range[]): Plain {
  const { program } = model;
  const { steps } = program;
  const known = new KnownRanges(model, ranges, new Map());
  const bounds: number[][] = [];
  const reads: ElementReads[] = [];
  for (const [index, step] of steps.entries()) {
    const range = known.next();
    const ctx = new StepRanges(model, step, index, known, new Map(), () => {});
    const dims = SLOTS.map((slot) =>
      operandAt(step, slot) === NONE ? undefined : operandDims(program, operandAt(step, slot)),
    );
    const asked = isBelow(step) && step.c !== NONE ? ["c"] : [];
    const asksZeros = step.opcode === "select" ? ["a"] : step.opcode === "dot" ? ["a", "b"] : asked;
    const zeros = (["a", "b", "c"] as const).map((name) =>
      asksZeros.includes(name) && (name === "a" || step.opcode !== "dot" || isStep(step.b))
        ? zerosOf(ctx.operand(name).range)
        : undefined,
    );
    const read = READS[step.opcode]({ step, dims, zeros } satisfies ReadForm);
    reads.push(read);
    const count = elementCount(step.dims);
    const isOne = (element: number): boolean => {
      const [low, high] = boundsAt(range, element);
      return step.type !== "bool" && step.type !== "f32" && low === high;
    };
    const boundOf = (element: number): number => {
      if (isClaimed(step)) return Math.floor(element / (count / (step.dims[0] as number))) + 1;
      if (isOne(element)) return 0;
      let bound = 0;
      read(element, (slot, from, length) => {
        const operand = operandAt(step, slot);
        if (!isStep(operand)) return;
        for (let i = from; i < from + length; i++) bound = Math.max(bound, bounds[operand]?.[i] as number);
      });
      return bound;
    };
    bounds.push(Array.from({ length: count }, (_, element) => boundOf(element)));
  }
  const needed = steps.map(({ dims }) => new Array<boolean>(elementCount(dims)).fill(false));
  const isBound = (index: number): boolean => bounds[index]?.some((bound) => bound > 0) as boolean;
  const last = steps.length - 1;
  if (isBound(last)) needed[last]?.fill(true);
  for (let index = last; index >= 0; index--) {
    for (const [element, isNeeded] of (needed[index] as boolean[]).entries()) {
      if (!isNeeded) continue;
      reads[index]?.(element, (slot, from, length) => {
        const operand = operandAt(steps[index] as Step, slot);
        if (isStep(operand) && isBound(operand)) needed[operand]?.fill(true, from, from + length);
      });
    }
  }
  return { bounds, needed };
}

describe("programBounds and neededElements", () => {
  it("behavior: of programs with many steps of one form they give what each step gives by itself", () => {
    let [shared, programsWithNeeds] = [0, 0];
    for (const [name, model] of programs()) {
      const { steps } = model.program;
      const { ranges, problems } = analyse(model);
      if (problems.length > 0) continue;
      const plain = plainly(model, ranges);
      const found = programBounds(model, ranges);
      const counts = steps.map(({ dims }) => elementCount(dims));
      expect(
        counts.map((count, i) => [...(found.of[i] ?? new Uint8Array(count))]),
        name,
      ).toEqual(plain.bounds);
      const needed = neededElements(steps, found);
      expect(
        counts.map((count, i) => Array.from(needed[i] ?? new Uint8Array(count), Boolean)),
        name,
      ).toEqual(plain.needed);
      const present = found.of.filter((bounds) => bounds !== undefined);
      shared += present.length - new Set(present).size;
      programsWithNeeds += Number(needed.some((own) => own !== undefined));
    }
    expect(shared).toBeGreaterThan(LINES);
    expect(programsWithNeeds).toBeGreaterThan(LINES / 4);
  });
});

describe("Interned", () => {
  it("behavior: equal arrays are one, others are not, and a key is asked for once", () => {
    const interned = new Interned<Uint16Array>();
    const [one, same, longer] = [Uint16Array.of(1, 2), Uint16Array.of(1, 2), Uint16Array.of(1, 2, 0)];
    expect(interned.one(one)).toBe(one);
    expect(interned.one(same)).toBe(one);
    expect(interned.one(longer)).toBe(longer);
    expect(interned.id(one)).not.toBe(interned.id(longer));
    expect(interned.id(undefined)).toBe(0);
    let made = 0;
    const make = () => {
      made += 1;
      return Uint16Array.of(1, 2);
    };
    expect([interned.get("a", make), interned.get("a", make), interned.get("b", make)]).toEqual([
      one,
      one,
      one,
    ]);
    expect(made).toBe(2);
  });

  it("behavior: arrays of one hash are told apart", () => {
    // FNV-1a of two elements: 2^32 differences of the second can make up for one of the first.
    const interned = new Interned<Uint32Array>();
    const prime = 0x01000193;
    const seed = 0x811c9dc5 ^ 2;
    const first = Uint32Array.of(0, 0);
    const mixed = (element: number): number => Math.imul(seed ^ element, prime);
    const second = Uint32Array.of(1, mixed(0) ^ mixed(1));
    expect(interned.one(first)).toBe(first);
    expect(interned.one(second)).toBe(second);
    expect(interned.one(Uint32Array.from(second))).toBe(second);
  });

  it("behavior: beyond its bytes arrays are as right, and not held", () => {
    const interned = new Interned<Uint8Array>(4);
    const [held, other] = [Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5)];
    expect(interned.one(held)).toBe(held);
    expect(interned.one(other)).toBe(other);
    const again = Uint8Array.from(other);
    expect(interned.one(again)).toBe(again);
    expect(interned.id(again)).not.toBe(interned.id(other));
    let made = 0;
    const make = () => {
      made += 1;
      return Uint8Array.of(9, 9);
    };
    expect([interned.get("k", make), interned.get("k", make)]).toEqual([make(), make()]);
    expect(made).toBe(4);
    expect(interned.get("h", () => Uint8Array.of(1, 2, 3))).toBe(held);
  });
});
