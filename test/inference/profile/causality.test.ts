import { describe, expect, it } from "vitest";
import { seededProgram } from "../../../conformance/generate/random-program.ts";
import { randomInteger } from "../../../conformance/generate/random-values.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { reshapeCoordinates } from "../../../inference/onnx/axes.ts";
import { ProgramBuilder } from "../../../inference/onnx/builder.ts";
import { programBounds } from "../../../inference/profile/causality/bounds.ts";
import { type ElementReads, type ReadForm, zerosOf } from "../../../inference/profile/causality/reads.ts";
import { READS } from "../../../inference/profile/generated/reads.ts";
import { analyse } from "../../../inference/profile/intervals.ts";
import { exactly, highest, lowest, type Range } from "../../../inference/profile/range.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import {
  elementCount,
  isActivationDot,
  isBelow,
  isEach,
  isRatio,
  lastDim,
  type Model,
  OPCODES,
  type Opcode,
  type Slot,
  type Step,
  type Tensor,
} from "../../../inference/program/form.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { rowProgram } from "../../support/row-programs.ts";

const PROGRAMS = 1_600;

type Reads = typeof READS;

interface Compared {
  /** by opcode: steps with an element that changed, and one that a later row was proven not to reach */
  readonly steps: Map<Opcode, number>;
  /** elements that changed though their bound says that they cannot */
  readonly wrong: string[];
}

/** Random programs one of whose inputs is taken for the claimed output: what its rows from some row on change is
 *  compared with the bounds, in every step. */
function compare(reads: Reads, opcodes: readonly Opcode[] = OPCODES, mostWrong = Infinity): Compared {
  const compared: Compared = { steps: new Map(), wrong: [] };
  for (let seed = 0; seed < PROGRAMS && compared.wrong.length < mostWrong; seed++) {
    const opcode = opcodes[seed % opcodes.length] as Opcode;
    const hostile = seed % 3 === 0;
    const { model, selector, calldata } = seededProgram(seed, { opcode, steps: 2, hostile });
    const { steps } = model.program;
    const rng = createRng(seed);
    const codecs = steps.flatMap((step, i) => (step.opcode === "codec" ? [i] : []));
    const fit = codecs.filter((i) => ["u8", "s8", "s32"].includes((steps[i] as Step).type));
    const claimed = fit.length === 0 ? undefined : rng.pick(fit);
    if (claimed === undefined) continue;
    const { ranges, problems } = analyse(model);
    // Nobody asks whether a program without its other proofs is causal.
    if (hostile && problems.length > 0) continue;
    const { of } = programBounds(marked(model, claimed), ranges, reads);
    const prepared = prepare(model, selector);
    const inputs = prepared.inputTensors(prepared.decode(calldata));
    const before = prepared.runTensors(inputs).map(({ data }) => data.slice());
    for (let round = 0; round < 3; round++) {
      const row = rng.int(0, ((steps[claimed] as Step).dims[0] as number) - 1);
      const place = codecs.indexOf(claimed);
      const other = changed(inputs[place] as Tensor, row, ranges[claimed] as Range, rng);
      const after = prepared.runTensors(inputs.with(place, other));
      steps.forEach((step, i) => {
        const [old, now] = [before[i], after[i]?.data];
        let [isChanged, isSpared] = [false, false];
        for (let element = 0; element < elementCount(step.dims); element++) {
          const bound = of[i]?.[element] ?? 0;
          isSpared ||= bound > 0 && bound <= row;
          if (Object.is(old?.[element], now?.[element])) continue;
          isChanged = true;
          if (bound > row) continue;
          compared.wrong.push(
            `seed ${seed}, step ${i} (${step.opcode}), element ${element}: bound ${bound}, row ${row}`,
          );
        }
        if (isChanged && isSpared && step.opcode !== "codec")
          compared.steps.set(step.opcode, (compared.steps.get(step.opcode) ?? 0) + 1);
      });
    }
  }
  return compared;
}

/** The program with an input taken for the claimed output; the structure rules do not count here. */
const marked = ({ program, weights }: Model, claimed: number): Model => ({
  weights,
  program: {
    ...program,
    steps: program.steps.map((step, i) =>
      i === claimed ? { ...step, variant: variantCode("codec", "claimed") } : step,
    ),
  },
});

/** Other numbers from a row of the first axis on. */
function changed({ type, dims, data }: Tensor, row: number, range: Range, rng: Rng): Tensor {
  const copy = data.slice();
  const offset = type === "s8" ? 128 : 0;
  const within = { low: lowest(range), high: highest(range), quantum: 0 };
  for (let i = (row * copy.length) / (dims[0] as number); i < copy.length; i++)
    copy[i] = randomInteger(rng, within) + offset;
  return { type, dims, data: copy };
}

/** READS with another one of an opcode. */
const planted = (opcode: Opcode, fault: (right: ElementReads, form: ReadForm) => ElementReads): Reads => ({
  ...READS,
  [opcode]: (form: ReadForm) => fault(READS[opcode](form), form),
});

/** Leaves one of the operands out. */
const without =
  (left: Slot) =>
  (right: ElementReads): ElementReads => {
    return (element, visit) =>
      right(element, (slot, from, count) => {
        if (slot !== left) visit(slot, from, count);
      });
  };

/** Reads the first element of each row alone. */
const firstOfRow = (right: ElementReads): ElementReads => {
  return (element, visit) => right(element, (slot, from) => visit(slot, from, 1));
};

const FAULTS: readonly { readonly what: string; readonly opcode: Opcode; readonly reads: Reads }[] = [
  {
    what: "a MOVE that forgets where it reads",
    opcode: "move",
    reads: planted("move", () => (_element, visit) => visit(0, 0, 1)),
  },
  { what: "a MOVE without its second operand", opcode: "move", reads: planted("move", without(1)) },
  { what: "the first id of a LOOKUP", opcode: "lookup", reads: planted("lookup", firstOfRow) },
  {
    what: "the id of a LOOKUP each",
    opcode: "lookup",
    reads: planted("lookup", (right, { step }) => (isEach(step) ? without(0)(right) : right)),
  },
  {
    what: "the numbers of a LOOKUP below",
    opcode: "lookup",
    reads: planted("lookup", (right, { step }) => (isBelow(step) ? without(0)(right) : right)),
  },
  {
    what: "the mask of a LOOKUP below",
    opcode: "lookup",
    reads: planted("lookup", (right, { step }) => (isBelow(step) ? without(2)(right) : right)),
  },
  { what: "the first element of a DOT", opcode: "dot", reads: planted("dot", firstOfRow) },
  {
    what: "a DOT that forgets its groups",
    opcode: "dot",
    reads: planted("dot", (right, { step }) =>
      isActivationDot(step)
        ? right
        : (element, visit) => right(element - (element % lastDim(step.dims)), visit),
    ),
  },
  {
    what: "the second operand of DOT activations",
    opcode: "dot",
    reads: planted("dot", (right, { step }) => (isActivationDot(step) ? without(1)(right) : right)),
  },
  {
    what: "the divisor of a ratio",
    opcode: "rescale",
    reads: planted("rescale", (right, { step }) => (isRatio(step) ? without(1)(right) : right)),
  },
  { what: "the element of a TABLE", opcode: "table", reads: planted("table", without(0)) },
  { what: "the second operand of ARITH", opcode: "arith", reads: planted("arith", without(1)) },
  { what: "the first operand of FLOAT", opcode: "float", reads: planted("float", without(0)) },
  { what: "the first element of a REDUCE", opcode: "reduce", reads: planted("reduce", firstOfRow) },
  { what: "the condition of a SELECT", opcode: "select", reads: planted("select", without(0)) },
  { what: "a side of a SELECT", opcode: "select", reads: planted("select", without(2)) },
];

describe("programBounds", () => {
  it("behavior: in random programs nothing changes that a later row was proven not to reach", () => {
    const { steps, wrong } = compare(READS);
    expect(wrong.slice(0, 10)).toEqual([]);
    for (const opcode of OPCODES)
      if (opcode !== "codec") expect(steps.get(opcode) ?? 0, opcode).toBeGreaterThan(10);
  });

  it("behavior: the output's bounds are the same where what nothing reads any more is dropped", () => {
    let [bound, dropped] = [0, 0];
    for (let seed = 0; seed < 2_000; seed++) {
      const model = rowProgram(createRng(seed), 6);
      const { ranges } = analyse(model);
      const whole = programBounds(model, ranges);
      expect(whole.isWhole, `seed ${seed}`).toBe(true);
      // Each program has claimed bounds; of the others as many are held as some bytes take.
      for (const mostBytes of [0, 30]) {
        const found = programBounds(model, ranges, READS, mostBytes);
        expect(found.of.at(-1), `seed ${seed}`).toEqual(whole.of.at(-1));
        const lost = found.of.filter((own, step) => own === undefined && whole.of[step] !== undefined);
        if (found.isWhole) expect(lost, `seed ${seed}`).toEqual([]);
        dropped += lost.length;
      }
      bound += Number(whole.of.at(-1) !== undefined);
    }
    expect(bound).toBeGreaterThan(500);
    expect(dropped).toBeGreaterThan(2_000);
  });

  it.each(FAULTS)("behavior: a planted fault is found: $what", ({ opcode, reads }) => {
    expect(compare(reads, [opcode], 1).wrong.length).toBeGreaterThan(0);
  });
});

describe("lookupReads, of an element for each id", () => {
  it("default: its own id and no other, so each row is bound by its own", () => {
    const builder = new ProgramBuilder("raw", 1);
    const claimed = builder.codec("u8", [3, 2], 0);
    const ids = builder.arith("cast", "s32", claimed);
    const found = builder.each(
      ids,
      builder.plain(
        "u8",
        [300, 1],
        new Uint8Array(300).map((_, i) => i),
      ),
    );
    const model = marked(builder.model("raw"), claimed);
    const { of } = programBounds(model, analyse(model).ranges);
    expect(Array.from(of[found] ?? [])).toEqual([1, 1, 2, 2, 3, 3]);
  });

  it("behavior: of a table whose entries are one number nothing is bound", () => {
    const builder = new ProgramBuilder("raw", 1);
    const claimed = builder.codec("u8", [3, 2], 0);
    const ids = builder.arith("cast", "s32", claimed);
    const found = builder.each(ids, builder.plain("u8", [300, 1], new Uint8Array(300).fill(9)));
    const model = marked(builder.model("raw"), claimed);
    const { of } = programBounds(model, analyse(model).ranges);
    expect(Array.from(of[found] ?? [0])).toEqual([0]);
  });
});

describe("lookupReads, by distances", () => {
  /** Bounds of what is looked up of [3, 3] numbers, each row those of the claimed rows. @param mask of [3, 3] */
  function boundsOf(mask?: readonly number[]): (number[] | undefined)[] {
    const builder = new ProgramBuilder("raw", 1);
    const claimed = builder.codec("u8", [3, 1], 0);
    const turned = builder.move(claimed, [1, 3], reshapeCoordinates([1, 3]));
    const numbers = builder.arith("add", "s32", turned, builder.plain("s32", [3, 1], new Int32Array(3)));
    const table = builder.plain(
      "u8",
      [300, 1],
      new Uint8Array(300).map((_, i) => i),
    );
    const counts = mask && builder.plain("bool", [3, 3], Uint8Array.from(mask));
    const found = builder.below(numbers, table, counts);
    const model = marked(builder.model("raw"), claimed);
    const bounds = programBounds(model, analyse(model).ranges).of[found];
    return [0, 1, 2].map((row) => bounds && Array.from(bounds.subarray(3 * row, 3 * row + 3)));
  }

  it("behavior: an element is bound by the places of its row that can count, one that cannot by none", () => {
    expect(boundsOf([1, 0, 0, 1, 1, 0, 0, 1, 1])).toEqual([
      [1, 0, 0],
      [2, 2, 0],
      [0, 3, 3],
    ]);
  });

  it("behavior: places that count need not be beside each other", () => {
    expect(boundsOf([1, 0, 1, 0, 0, 0, 0, 1, 0])).toEqual([
      [3, 0, 3],
      [0, 0, 0],
      [0, 2, 0],
    ]);
  });

  it("behavior: in a step of many elements each reads the beginning of its row up to the last place that can count, at once", () => {
    const visitsOf = (rows: number): string[] => {
      const zeros = zerosOf(exactly(Array.from({ length: 1024 }, (_, i) => Number(i % 2 === 1 && i < 600))));
      const step = {
        opcode: "lookup",
        variant: variantCode("lookup", "below"),
        type: "u8",
        k: 0,
        coordinates: [],
      } as const;
      const dims = [rows, 1024];
      const form: ReadForm = {
        step: { ...step, dims },
        dims: [dims, [9, 1], [1024]],
        zeros: [undefined, undefined, zeros],
      };
      const visits: string[] = [];
      READS.lookup(form)(1024 + 5, (slot, from, count) => visits.push(`${slot}: ${from} ${count}`));
      return visits;
    };
    const mask = ["2: 5 1", "2: 0 1024"];
    expect(visitsOf(65)).toEqual([...mask, "0: 1024 600"]);
    expect(visitsOf(64)).toEqual([...mask, ...Array.from({ length: 300 }, (_, i) => `0: ${1025 + 2 * i} 1`)]);
  });

  it("default: without a mask each row is bound by all", () => {
    expect(boundsOf()).toEqual([
      [3, 3, 3],
      [3, 3, 3],
      [3, 3, 3],
    ]);
  });
});

describe("dotReads, of activations", () => {
  /** Pairs of elements of a and b that an element of the output is computed from. */
  function pairs(form: ReadForm, element: number): string[] {
    const of = new Map<number, number[]>([
      [0, []],
      [1, []],
    ]);
    READS.dot(form)(element, (slot, from, count) => {
      for (let i = 0; i < count; i++) of.get(slot)?.push(from + i);
    });
    const [a, b] = [of.get(0) as number[], of.get(1) as number[]];
    expect(a.length).toBe(b.length);
    return a.map((left, i) => `${left} ${b[i]}`);
  }

  it("behavior: of random operands with zeros it names the products that can be other than 0, and no others", () => {
    let spared = 0;
    for (let seed = 0; seed < 3_000; seed++) {
      const rng = createRng(seed);
      const [matrices, k, n, length] = [rng.int(1, 3), rng.int(1, 4), rng.int(1, 4), rng.int(1, 9)];
      const rows = matrices * k;
      const operand = (count: number, zeros: number) => {
        const low = Float64Array.from({ length: count }, () => (rng.chance(zeros) ? 0 : -rng.int(0, 1)));
        const high = low.map((number) => (number === 0 && rng.chance(zeros) ? 0 : rng.int(0, 2)));
        return { type: "u8", dims: [count / length, length], range: { low, high, tiny: 1 } } as const;
      };
      const left = operand(rows * length, rng.pick([0, 0.5, 0.9]));
      const right = operand(matrices * n * length, rng.pick([0, 0.5, 0.9]));
      const fields = {
        opcode: "dot",
        variant: variantCode("dot", "activations"),
        dims: [rows, n],
        k,
      };
      const zeros = [left, right].map(({ range }) => zerosOf(range));
      const form = { step: fields, dims: [left.dims, right.dims], zeros };
      const isZero = ({ range }: typeof left, i: number) => range.low[i] === 0 && range.high[i] === 0;
      for (let element = 0; element < rows * n; element++) {
        const row = Math.floor(element / n);
        const expected: string[] = [];
        for (let i = 0; i < length; i++) {
          const [one, other] = [row * length + i, (Math.floor(row / k) * n + (element % n)) * length + i];
          if (!isZero(left, one) && !isZero(right, other)) expected.push(`${one} ${other}`);
        }
        spared += length - expected.length;
        expect(pairs(form as unknown as ReadForm, element), `seed ${seed}`).toEqual(expected);
      }
    }
    expect(spared).toBeGreaterThan(10_000);
  });
});
