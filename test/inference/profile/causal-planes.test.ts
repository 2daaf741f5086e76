/** Bounds of RESCALE planes: what numbers are changed by has rows of its own, which are not those of the numbers. */
import { describe, expect, it } from "vitest";
import { claimedOutput, shifted } from "../../../conformance/generate/running-model.ts";
import { step, weight } from "../../../conformance/generate/small-programs.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { divisorsOfRow } from "../../../inference/opcodes/planes.ts";
import { programBounds } from "../../../inference/profile/causality/bounds.ts";
import type { ElementReads, ReadForm } from "../../../inference/profile/causality/reads.ts";
import { READS } from "../../../inference/profile/generated/reads.ts";
import { analyse } from "../../../inference/profile/intervals.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import { isPlanes, type Model, type Step, type Tensor } from "../../../inference/program/form.ts";
import { storedBytes } from "../../../inference/program/tensor.ts";
import { packChannel } from "../../../inference/program/weights.ts";
import { modelOf, plain, transposed } from "../../support/claimed-models.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const PROGRAMS = 300;
const NOTHING = { bias: 0, addend: 0n, scaleBits: 0, zeroPoint: 0, lower: 0, upper: 0, weightOffset: 0 };
const CHANNEL = packChannel([{ ...NOTHING, multiplier: 1, shift: 0 }]);

const partsOf = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => i + 1).filter((part) => count % part === 0);

/** Planes of claimed bytes by claimed bytes, both turned or not, in rows of any length. */
function planesModel(rng: Rng): Model {
  const dims = [rng.int(2, 5), rng.int(1, 6)] as const;
  const count = dims[0] * dims[1];
  const steps: Step[] = [claimedOutput("u8", dims)];
  const add = (made: Step): number => steps.push(made) - 1;
  const arith = (name: "cast" | "max", from: number, fields: Partial<Step>): number =>
    add(step({ opcode: "arith", variant: variantCode("arith", name), type: "s32", a: from, ...fields }));
  const numbers = arith("cast", 0, { dims });
  const either = (): number => {
    const rows = rng.pick(partsOf(count));
    return rng.chance(0.4) ? numbers : add(transposed(numbers, "s32", [rows, count / rows]));
  };
  const length = rng.pick(partsOf(count));
  const fields = { variant: variantCode("rescale", "planes"), type: "u8", b: weight(0) } as const;
  const made = { ...fields, dims: [count / length, 2 * length], a: either() };
  if (rng.chance(0.4)) add(step({ opcode: "rescale", ...made, c: either() }));
  else {
    const parts = rng.pick(partsOf(length));
    const divisors = (count / length) * parts;
    const nothing = { view: 1, a: 0, p: 0, b: 0, q: 0, c: 0 };
    const every = { ...nothing, view: count, a: length / parts };
    const coordinates = [nothing, nothing, nothing, every];
    const some = add(step({ opcode: "move", type: "s32", dims: [divisors], a: either(), coordinates }));
    const c = arith("max", some, { dims: [divisors], b: weight(1) });
    add(step({ opcode: "rescale", ...made, c, k: 200 }));
  }
  // A program that reads what is claimed ends with its dims.
  steps.push(shifted(0, "u8", dims, -1));
  return modelOf({ inputSize: 1, steps }, [
    { descriptor: { layout: "channel", type: "u8", dims: [1] }, bytes: CHANNEL },
    plain([1], storedBytes(Int32Array.of(1)), "s32"),
  ]);
}

interface Compared {
  readonly wrong: string[];
  /** elements that a later row changed, and those that one was proven not to reach */
  changed: number;
  spared: number;
}

/** What claimed bytes from a row on change is compared with the bounds. */
function compare(reads: typeof READS): Compared {
  const compared: Compared = { wrong: [], changed: 0, spared: 0 };
  for (let seed = 0; seed < PROGRAMS; seed++) {
    const rng = createRng(seed);
    const model = planesModel(rng);
    const { ranges, problems } = analyse(model);
    expect(problems, `seed ${seed}`).toEqual([]);
    const bounds = programBounds(model, ranges, reads).of.at(-2);
    const prepared = prepare(model, new Uint8Array(4));
    const run = (claimed: Tensor) => (prepared.runTensors([claimed]).at(-2) as Tensor).data.slice();
    const { dims } = model.program.steps[0] as Step;
    const [rows, columns] = dims as [number, number];
    const bytes = () => rng.bytes(rows * columns).map((byte) => (rng.chance(0.5) ? byte : byte >> 5));
    for (let round = 0; round < 3 * rows; round++) {
      const row = round % rows;
      const data = bytes();
      const other = Uint8Array.from([...data.subarray(0, row * columns), ...bytes().subarray(row * columns)]);
      const [before, after] = [run({ type: "u8", dims, data }), run({ type: "u8", dims, data: other })];
      for (const [element, byte] of before.entries()) {
        const bound = bounds?.[element] ?? 0;
        if (bound <= row) compared.spared++;
        if (byte === after[element]) continue;
        compared.changed++;
        if (bound <= row) compared.wrong.push(`seed ${seed}, element ${element}: bound ${bound}, row ${row}`);
      }
    }
  }
  return compared;
}

/** READS of planes with another one. */
const planted = (fault: (right: ElementReads, form: ReadForm) => ElementReads): typeof READS => ({
  ...READS,
  rescale: (form) => (isPlanes(form.step) ? fault(READS.rescale(form), form) : READS.rescale(form)),
});

const FAULTS: readonly (readonly [what: string, reads: typeof READS])[] = [
  [
    "operand c is not read",
    planted((right) => (element, visit) => {
      right(element, (slot, from, count) => (slot === 2 ? undefined : visit(slot, from, count)));
    }),
  ],
  [
    "the divisors of a row are its first one",
    planted((right, { step: own, dims: [, , by] }) => {
      const parts = own.k === 0 ? 1 : divisorsOfRow(own, by as readonly number[]);
      return (element, visit) =>
        right(element, (slot, from, count) => visit(slot, slot === 2 ? from - (from % parts) : from, count));
    }),
  ],
  [
    "a factor is that of another place",
    planted((right, { step: own }) => (element, visit) => {
      const another = own.k === 0 ? 0 : undefined;
      right(element, (slot, from, count) => visit(slot, slot === 2 ? (another ?? from) : from, count));
    }),
  ],
];

describe("programBounds, of planes by what is claimed", () => {
  it("behavior: no element changes that a later row was proven not to reach", () => {
    const { wrong, changed, spared } = compare(READS);
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(Math.min(changed, spared)).toBeGreaterThan(5_000);
  });

  it.each(FAULTS)("behavior: a planted fault is found: %s", (_, reads) => {
    expect(compare(reads).wrong.length).toBeGreaterThan(10);
  });
});
