/** What finding the output of a program that reads it takes, and what is refused before it is computed. */
import { describe, expect, it, vi } from "vitest";
import { claimedOutput, shifted } from "../../../conformance/generate/running-model.ts";
import { rawInput, step, weight } from "../../../conformance/generate/small-programs.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { checkOutput, execute } from "../../../inference/executor/execute.ts";
import { findByPasses, findByRows, findOutput } from "../../../inference/executor/find-output.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { RowPlan } from "../../../inference/executor/rows/plan.ts";
import { proveProfile } from "../../../inference/profile/prove.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import type { Model, Step } from "../../../inference/program/form.ts";
import { outputLength } from "../../../inference/program/shape.ts";
import { packChannel } from "../../../inference/program/weights.ts";
import { modelOf, plain, transposed } from "../../support/claimed-models.ts";

const selector = Uint8Array.of(1, 2, 3, 4);
const INPUT = Uint8Array.of(5);
const MAX = variantCode("reduce", "max");
const NOTHING = {
  ...{ scaleBits: 0, zeroPoint: 0, lower: 0, upper: 0 },
  ...{ weightOffset: 0, bias: 0, addend: 0n },
};
/** A coordinate: `view` long, along axis `a` by `p`, from `c`. */
const at = (view: number, a = 0, p = 0, c = 0) => ({ view, a, p, b: 0, q: 0, c });
const calldataOf = ({ program }: Model) => encodeInput(program, selector, { codec: "raw", bytes: INPUT });

/** Each row of the output is the largest one before it, plus 1: `steps` gets from the claimed rows, each moved to the
 *  next (step 2), to rows of bytes. */
function counting(rows: number, steps: readonly Step[], lines = 1): Model {
  const first = [rawInput("u8", [1, 1]), claimedOutput("u8", [rows, 1]), shifted(1, "u8", [rows, 1], -1)];
  const last = first.length + steps.length;
  const most = step({ opcode: "reduce", variant: MAX, type: "u8", dims: [rows, 1], a: last - 1 });
  const next = step({ opcode: "table", type: "u8", dims: [rows, 1], a: last, b: weight(0) });
  const table = plain(
    [256],
    Uint8Array.from({ length: 256 }, (_, i) => (i + 1) & 255),
  );
  const zeros = plain([lines, 1], new Uint8Array(lines));
  return modelOf({ inputSize: 1, steps: [...first, ...steps, most, next] }, [table, zeros]);
}

/** The claimed rows lie along the last axis of a step of `lines` lines. */
const onLastAxis = (rows: number, lines: number): Model =>
  counting(
    rows,
    [
      transposed(2, "u8", [rows, 1]),
      step({
        ...{ opcode: "arith", variant: variantCode("arith", "max"), type: "u8" },
        ...{ dims: [lines, rows], a: 3, b: weight(1) },
      }),
      transposed(4, "u8", [lines, rows]),
    ],
    lines,
  );

describe("findOutput", () => {
  it("error: a program of which each row is a run again, before it is run", () => {
    const model = onLastAxis(2_048, 64);
    expect(() => proveProfile(model)).not.toThrow();
    const prepared = prepare(model, selector);
    const plan = prepared.rowPlan() as RowPlan;
    expect(plan.costliest).toBe(4);
    const refused = expect.objectContaining({
      code: "OUTPUT_TOO_COSTLY",
      shortMessage: expect.stringMatching(
        /as long as \d+ runs of the program, at most 32 are made: most of all step 4 \(arith max u8 \[64, 2048\]\) is computed again for each row\.$/,
      ),
    });
    prepared.run = () => expect.fail("it is run");
    prepared.pass = () => expect.fail("it is run");
    expect(() => execute(prepared, calldataOf(model))).toThrow(refused);
    // A claim on it is checked.
    const { isRight } = checkOutput(
      prepare(model, selector),
      calldataOf(model),
      new Uint8Array(outputLength(model.program)),
    );
    expect(isRight).toBe(false);
  });

  it("behavior: a small one is not refused", () => {
    const model = onLastAxis(100, 4);
    const prepared = prepare(model, selector);
    const output = execute(prepared, calldataOf(model));
    expect(output.subarray(64, 164)).toEqual(Uint8Array.from({ length: 100 }, (_, row) => row + 1));
    expect(findByPasses(prepared, prepared.decode(calldataOf(model)))).toEqual(output);
  });

  it("error: a program without a plan that takes many long passes", () => {
    const model = onLastAxis(2_048, 64);
    const prepared = prepare(model, selector);
    prepared.rowPlan = () => undefined;
    expect(() => execute(prepared, calldataOf(model))).toThrow(
      "as long as 2049 runs of the program, at most 32 are made: it cannot be found row by row, and by passes 2049 are needed.",
    );
  });
});

/** Rows of which a byte is divided by the length of its own part: part 2 of the planes' row is 0 of any whole run, and not
 *  of one that has its new number and the length of the one before. With a product that each pass takes long for. */
function dividedByParts(rows: number): Model {
  const shifts = [0, 0, 8, 8].map((shift) => ({ ...NOTHING, multiplier: 1, shift }));
  const arith = (variant: "add" | "cast") =>
    ({ opcode: "arith", variant: variantCode("arith", variant) }) as const;
  const claimed = 1;
  const steps = [
    rawInput("u8", [rows, 1]),
    claimedOutput("u8", [rows, 1]),
    // [[0, c0], [c0, c1]]
    step({
      ...{ opcode: "move", type: "u8", dims: [2, 2], a: claimed },
      coordinates: [at(1), at(1), at(1), { ...at(rows, 1, 0, -1), b: 1, q: 1 }],
    }),
    step({ ...arith("cast"), type: "s32", dims: [2, 2], a: 2 }),
    step({ opcode: "reduce", variant: variantCode("reduce", "norm"), type: "s32", dims: [2], a: 3, k: 1 }),
    step({
      ...{ opcode: "rescale", variant: variantCode("rescale", "planes"), type: "u8", dims: [1, 8] },
      ...{ a: 3, b: weight(0), c: 4, k: 100 },
    }),
    step({ opcode: "reduce", variant: variantCode("reduce", "sum"), type: "s32", dims: [1], a: 5 }),
    step({
      ...{ opcode: "move", type: "s32", dims: [rows, 1], a: 6 },
      coordinates: [at(1), at(1), at(1), at(1, 1, 0, -1)],
    }),
    shifted(claimed, "u8", [rows, 1], -1),
    step({ ...arith("add"), type: "s32", dims: [rows, 1], a: 0, b: 7 }),
    step({ ...arith("add"), type: "s32", dims: [rows, 1], a: 9, b: 8 }),
    step({
      ...{ opcode: "move", type: "u8", dims: [rows, rows], a: 0 },
      coordinates: [at(1), at(1), at(1), { ...at(rows), b: 1, q: 1 }],
    }),
    step({
      ...{ opcode: "dot", variant: variantCode("dot", "activations"), type: "s32", dims: [rows, rows] },
      ...{ a: 11, b: 11, k: rows },
    }),
    step({
      opcode: "lookup",
      variant: variantCode("lookup", "each"),
      type: "u8",
      dims: [rows, 1],
      a: 10,
      b: weight(1),
    }),
  ];
  const table = Uint8Array.from({ length: 1_024 }, (_, i) => (37 * i + 11) & 255);
  return modelOf({ inputSize: rows, steps }, [
    { descriptor: { layout: "channel", type: "u8", dims: [4] }, bytes: packChannel(shifts) },
    plain([1_024, 1], table),
  ]);
}

describe("a plan that rows do not suffice for", () => {
  const inputOf = (rows: number) => ({ codec: "raw", bytes: new Uint8Array(rows).fill(50) }) as const;

  it("behavior: what rows find is compared, and what passes find is right", () => {
    const model = dividedByParts(3);
    const prepared = prepare(model, selector);
    const right = findByPasses(prepare(model, selector), inputOf(3));
    expect(findByRows(prepared, prepared.rowPlan() as RowPlan, inputOf(3))).not.toEqual(right);
    expect(findOutput(prepared, inputOf(3))).toEqual(right);
  });

  it("attack: passes that take as long as hundreds of runs are refused then, too", () => {
    const prepared = prepare(dividedByParts(512), selector);
    const pass = vi.spyOn(prepared, "pass");
    expect(() => findOutput(prepared, inputOf(512))).toThrow(
      "as long as 513 runs of the program, at most 32 are made: it cannot be found row by row, and by passes 513 are needed.",
    );
    expect(pass).toHaveBeenCalledTimes(1);
  });
});

describe("planRows", () => {
  it("behavior: elements that follow one another are one run, however many they are", () => {
    const [rows, parts, length] = [16, 14, 100];
    const move = (a: number, source: readonly (readonly [number, number?, number?])[]): Step =>
      step({
        ...{ opcode: "move", type: "u8", dims: [rows, parts, length], a },
        coordinates: source.map(([view, factor, axis]) => at(view, factor, axis)),
      });
    const model = counting(rows, [
      move(2, [[1], [1], [rows, 1, 0], [1]]),
      move(3, [[1], [rows, 1, 0], [parts, 1, 1], [length, 1, 2]]),
      step({ opcode: "reduce", variant: MAX, type: "u8", dims: [rows, parts], a: 4 }),
    ]);
    const prepared = prepare(model, selector);
    const plan = prepared.rowPlan() as RowPlan;
    // Two moves of 22,400 elements are one run each in each of 15 stages; the other steps have fewer elements.
    expect(plan.runs).toBeLessThan(20 * rows);
    const output = findByRows(prepared, plan, prepared.decode(calldataOf(model)));
    expect(output.subarray(64, 64 + rows)).toEqual(Uint8Array.from({ length: rows }, (_, row) => row + 1));
  });
});
