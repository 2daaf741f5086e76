import { describe, expect, it } from "vitest";
import { claimedOutput, shifted } from "../../../conformance/generate/running-model.ts";
import { step, weight } from "../../../conformance/generate/small-programs.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { encodeOutput } from "../../../inference/codecs/output.ts";
import { execute, trace } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { proveProfile } from "../../../inference/profile/prove.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import type { Model, Step, Tensor } from "../../../inference/program/form.ts";
import { outputLength } from "../../../inference/program/shape.ts";
import { storedBytes } from "../../../inference/program/tensor.ts";
import { assertValid } from "../../../inference/program/validate.ts";
import { packDot } from "../../../inference/program/weights.ts";
import { modelOf, plain, running, transposed } from "../../support/claimed-models.ts";
import { createRng } from "../../support/rng.ts";

const T = 6;
const LINE = [T, 1] as const;
const selector = Uint8Array.of(1, 2, 3, 4);

/** 1 where row t takes from column s. */
type Mask = (t: number, s: number) => boolean;
const below: Mask = (t, s) => s < t;

const square = (value: Mask): Uint8Array =>
  Uint8Array.from({ length: T * T }, (_, i) => Number(value(Math.floor(i / T), i % T)));
const numbers = (values: readonly number[]) =>
  plain([values.length], storedBytes(Int32Array.from(values)), "s32");

/** What the steps before it give to each row, as one byte. @param a step, s32 [T, 1] of 0 and above */
const byteOf = (a: number, most: number): Step =>
  step({ opcode: "arith", variant: variantCode("arith", "min"), type: "u8", dims: LINE, a, b: weight(most) });

const reduced = (variant: "sum" | "max", a: number, type: Step["type"]): Step =>
  step({ opcode: "reduce", variant: variantCode("reduce", variant), type, dims: LINE, a });

const arith = (name: Parameters<typeof variantCode<"arith">>[1], fields: Partial<Step>): Step =>
  step({ opcode: "arith", variant: variantCode("arith", name), ...fields });

const input = step({ opcode: "codec", variant: 4, type: "u8", dims: LINE });

/** Row t is the largest claimed byte of the rows that the mask takes. */
const maskedMost = (mask: Mask): Model =>
  modelOf(
    {
      inputSize: T,
      steps: [
        claimedOutput("u8", LINE),
        transposed(0, "u8", LINE),
        step({ opcode: "select", type: "u8", dims: [T, T], a: weight(0), b: 1, c: weight(1) }),
        reduced("max", 2, "u8"),
      ],
    },
    [plain([T, T], square(mask), "bool"), plain([1], Uint8Array.of(7))],
  );

/** The same by an addend for what does not count, and a floor below which nothing does. */
const addedMask = (mask: Mask, addend: number): Model =>
  modelOf(
    {
      inputSize: T,
      steps: [
        claimedOutput("u8", LINE),
        transposed(0, "u8", LINE),
        arith("add", { dims: [T, T], a: 1, b: weight(0) }),
        arith("max", { dims: [T, T], a: 2, b: weight(1) }),
        reduced("sum", 3, "s32"),
        byteOf(4, 2),
      ],
    },
    [
      plain([T, T], storedBytes(Int32Array.from(square(mask), (takes) => (takes === 1 ? 0 : addend))), "s32"),
      numbers([0]),
      numbers([255]),
    ],
  );

/** An attention: `Σ_s p[t, s] · v[s]` with p masked. */
const attention = (mask: Mask): Model =>
  modelOf(
    {
      inputSize: T,
      steps: [
        claimedOutput("u8", LINE),
        transposed(0, "u8", LINE),
        step({ opcode: "select", type: "u8", dims: [T, T], a: weight(0), b: 1, c: weight(1) }),
        step({ opcode: "dot", variant: variantCode("dot", "activations"), dims: LINE, a: 2, b: 1, k: T }),
        byteOf(3, 2),
      ],
    },
    [plain([T, T], square(mask), "bool"), plain([1], Uint8Array.of(0)), numbers([255])],
  );

/** The same of several heads, of which the largest counts: more elements than have intervals of their own. */
const attentions = (heads: number, tokens: number, mask: Mask): Model => {
  const [line, scores] = [[tokens, 1] as const, [heads, tokens, tokens]];
  const bits = Uint8Array.from({ length: tokens ** 2 }, (_, i) =>
    Number(mask(Math.floor(i / tokens), i % tokens)),
  );
  const byHead = [heads * tokens, 1];
  return modelOf(
    {
      inputSize: 1,
      steps: [
        claimedOutput("u8", line),
        transposed(0, "u8", line),
        step({ opcode: "select", type: "u8", dims: scores, a: weight(0), b: 1, c: weight(1) }),
        step({
          ...{ opcode: "dot", variant: variantCode("dot", "activations") },
          ...{ dims: byHead, a: 2, b: 1, k: heads * tokens },
        }),
        transposed(3, "s32", [heads, tokens]),
        step({ opcode: "reduce", variant: variantCode("reduce", "max"), dims: line, a: 4 }),
        arith("min", { type: "u8", dims: line, a: 5, b: weight(2) }),
      ],
    },
    [plain([tokens, tokens], bits, "bool"), plain([1], Uint8Array.of(0)), numbers([255])],
  );
};

/** A masked attention to as many columns as there are rows, each of which holds all that is claimed. */
const wideAttention = (rows: number, mask: Mask): Model => {
  const [line, all] = [[rows, 1] as const, [rows, rows] as const];
  const bits = Uint8Array.from({ length: rows ** 2 }, (_, i) => Number(mask(Math.floor(i / rows), i % rows)));
  const at = (view: number, a = 0, p = 0) => ({ view, a, p, b: 0, q: 0, c: 0 });
  const repeated = [at(1), at(1), at(1), at(rows, 1, 1)];
  return modelOf(
    {
      inputSize: 1,
      steps: [
        claimedOutput("u8", line),
        step({ opcode: "move", type: "u8", dims: all, a: 0, coordinates: repeated }),
        step({ opcode: "select", type: "u8", dims: all, a: weight(0), b: 1, c: weight(1) }),
        step({ opcode: "dot", variant: variantCode("dot", "activations"), dims: all, a: 2, b: 1, k: rows }),
        step({ opcode: "move", dims: line, a: 3, coordinates: [at(1), at(1), at(rows, 1, 0), at(rows)] }),
        arith("min", { type: "u8", dims: line, a: 4, b: weight(2) }),
      ],
    },
    [plain(all, bits, "bool"), plain([1], Uint8Array.of(0)), numbers([255])],
  );
};

/** Two moves along the first axis, then one that brings them together with the input. */
const movedTwice = (first: number, second: number): Model =>
  modelOf(
    {
      inputSize: T,
      steps: [
        input,
        claimedOutput("u8", LINE),
        shifted(1, "u8", LINE, first),
        shifted(2, "u8", LINE, second),
        arith("max", { type: "u8", dims: LINE, a: 0, b: 3 }),
      ],
    },
    [],
  );

const reducedOverTime = (): Model =>
  modelOf({
    inputSize: T,
    steps: [
      input,
      claimedOutput("u8", LINE),
      shifted(1, "u8", LINE, -1),
      transposed(2, "u8", LINE),
      step({ opcode: "reduce", variant: variantCode("reduce", "max"), type: "u8", dims: [1, 1], a: 3 }),
      arith("max", { type: "u8", dims: LINE, a: 0, b: 4 }),
    ],
  });

const dotOverTime = (): Model => {
  const channel = { bias: 0, multiplier: 0, addend: 0n, shift: 0, scaleBits: 0 };
  const channels = Array.from({ length: T }, () => ({
    ...channel,
    ...{ zeroPoint: 0, lower: 0, upper: 255, weightOffset: 0 },
  }));
  const weights = Uint8Array.from({ length: T * T }, (_, i) => Number(i % T < Math.floor(i / T)));
  return modelOf(
    {
      inputSize: T,
      steps: [
        claimedOutput("u8", LINE),
        transposed(0, "u8", LINE),
        step({ opcode: "dot", variant: variantCode("dot", "s32"), dims: [1, T], a: 1, b: weight(0), k: 1 }),
        transposed(2, "s32", [1, T]),
        byteOf(3, 1),
      ],
    },
    [
      {
        descriptor: { layout: "dot", type: "u8", dims: [T, T] },
        bytes: packDot(weights, T, channels),
      },
      numbers([255]),
    ],
  );
};

const computedMask = (): Model =>
  modelOf(
    {
      inputSize: T,
      steps: [
        input,
        claimedOutput("u8", LINE),
        transposed(1, "u8", LINE),
        arith("lt", { type: "bool", dims: [T, T], a: weight(0), b: 0 }),
        step({ opcode: "select", type: "u8", dims: [T, T], a: 3, b: 2, c: weight(1) }),
        reduced("max", 4, "u8"),
      ],
    },
    [
      plain(
        [T, T],
        square((t, s) => s >= t),
      ),
      plain([1], Uint8Array.of(0)),
    ],
  );

const TURNED = (byte: number) => Number(byte >= 128);
const table = (map: (byte: number) => number) =>
  plain(
    [256],
    Uint8Array.from({ length: 256 }, (_, i) => map(i)),
  );
/** What a byte of a bool other than 0 and 1 gives away. */
const SEVEN = table((byte) => (byte === 7 ? 9 : 5));

const tables = (first: (byte: number) => number): Model =>
  modelOf(
    {
      inputSize: T,
      steps: [
        claimedOutput("u8", LINE),
        step({ opcode: "table", type: "bool", dims: LINE, a: 0, b: weight(0) }),
        step({ opcode: "table", type: "u8", dims: LINE, a: 1, b: weight(1) }),
      ],
    },
    [table(first), SEVEN],
  );

/** Were their constants numbers of their types, each of these outputs would be one number, whatever is claimed. */
const HIDDEN: Readonly<Record<string, Model>> = {
  "a bool of a table that is 1 or 7": tables((byte) => (TURNED(byte) === 1 ? 7 : 1)),
  "a bool of a weight that is 1 or 7": modelOf(
    {
      inputSize: T,
      steps: [
        claimedOutput("u8", LINE),
        arith("le", { type: "bool", dims: LINE, a: 0, b: weight(0) }),
        step({ opcode: "select", type: "bool", dims: LINE, a: 1, b: weight(1), c: weight(2) }),
        step({ opcode: "table", type: "u8", dims: LINE, a: 2, b: weight(3) }),
      ],
    },
    [
      plain([1], Uint8Array.of(127)),
      plain([1], Uint8Array.of(1), "bool"),
      plain([1], Uint8Array.of(7), "bool"),
      SEVEN,
    ],
  ),
  "a NaN among numbers that are 5": modelOf(
    {
      inputSize: T,
      steps: [
        claimedOutput("u8", LINE),
        step({ opcode: "arith", variant: variantCode("arith", "cast"), dims: LINE, a: 0 }),
        step({
          opcode: "lookup",
          variant: variantCode("lookup", "pick"),
          ...{ type: "f32", dims: LINE, a: 1, b: weight(0) },
        }),
        step({ opcode: "float", variant: variantCode("float", "toint"), type: "u8", dims: LINE, a: 2 }),
      ],
    },
    [
      plain(
        [256, 1],
        storedBytes(Float32Array.from({ length: 256 }, (_, i) => (TURNED(i) === 1 ? Number.NaN : 5))),
        "f32",
      ),
    ],
  ),
};

const leak: Mask = (t, s) => s < t || (t === 2 && s === 4);

const ACCEPTED: Readonly<Record<string, Model>> = {
  "a line of bytes by a table": running(T),
  "a move by two rows": movedTwice(-1, -1),
  "a move that returns in part": movedTwice(-3, 2),
  "the largest of masked rows": maskedMost(below),
  "a mask that is added": addedMask(below, -255),
  "a masked attention": attention(below),
};

const REFUSED: Readonly<Record<string, readonly [Model, row: number, later: number]>> = {
  "the claimed row itself": [movedTwice(0, 0), 0, 0],
  "a row further on": [movedTwice(1, 0), 0, 1],
  "a move that goes back too far": [movedTwice(-1, 2), 0, 1],
  "a reduction along the rows": [reducedOverTime(), 0, 4],
  "weights along the rows": [dotOverTime(), 1, 5],
  "a mask that leaks one element": [maskedMost(leak), 2, 4],
  "a mask of the other side": [maskedMost((t, s) => s > t), 0, 5],
  "a mask that the input computes": [computedMask(), 0, 5],
  "an added mask that leaves one unit": [addedMask(below, -254), 0, 5],
  "an added mask that leaks one element": [addedMask(leak, -255), 2, 4],
  "an attention that leaks one element": [attention(leak), 2, 4],
  "an attention to the same row": [attention((t, s) => s <= t), 0, 0],
};

/** One pass on a claimed output. */
function pass(model: Model, calldata: Uint8Array, output: Uint8Array): Uint8Array {
  const tensors = trace(prepare(model, selector), calldata, output);
  return encodeOutput(model.program, tensors.at(-1) as Tensor);
}

describe("proveProfile", () => {
  it.each(Object.entries(ACCEPTED))(
    "behavior: accepts %s, whose rows hang on earlier ones alone",
    (_, model) => {
      assertValid(model.program);
      expect(proveProfile(model).steps.length).toBe(model.program.steps.length);
      const rng = createRng(5);
      const bytes = Uint8Array.from({ length: T }, () => rng.int(0, 40));
      const calldata = encodeInput(model.program, selector, { codec: "raw", bytes });
      let changes = 0;
      for (let round = 0; round < 200; round++) {
        const output = new Uint8Array(outputLength(model.program));
        for (let t = 0; t < T; t++) output[64 + t] = rng.int(0, 255);
        const row = rng.int(0, T - 1);
        const other = output.slice();
        other[64 + row] = rng.int(0, 255);
        const [one, two] = [output, other].map((claim) => pass(model, calldata, claim).subarray(64, 64 + T));
        const first = one?.findIndex((byte, t) => byte !== two?.[t]) ?? -1;
        if (first === -1) continue;
        changes++;
        expect(first).toBeGreaterThan(row);
      }
      expect(changes).toBeGreaterThan(5);
      const right = execute(prepare(model, selector), calldata);
      expect(pass(model, calldata, right)).toEqual(right);
    },
  );

  it.each(Object.entries(REFUSED))("error: refuses %s", (_, [model, row, later]) => {
    assertValid(model.program);
    expect(() => proveProfile(model)).toThrow(
      expect.objectContaining({
        code: "CAUSALITY_UNPROVEN",
        shortMessage: expect.stringContaining(
          `Row ${row} of the output can depend on row ${later} of the claimed output`,
        ),
      }),
    );
  });

  it("behavior: masks of more elements than have intervals of their own", () => {
    const [heads, tokens] = [5, 256];
    expect(heads * tokens ** 2).toBeGreaterThan(2 ** 18);
    const accepted = attentions(heads, tokens, below);
    assertValid(accepted.program);
    expect(() => proveProfile(accepted)).not.toThrow();
    const leaking = attentions(heads, tokens, (t, s) => s < t || (t === 99 && s === 200));
    expect(() => proveProfile(leaking)).toThrow("Row 99 of the output can depend on row 200");
  });

  it("behavior: a step of more products than are looked at each", () => {
    const rows = 512;
    expect(rows ** 3).toBeGreaterThan(2 ** 26);
    const accepted = wideAttention(rows, below);
    assertValid(accepted.program);
    expect(() => proveProfile(accepted)).not.toThrow();
    const leaking = wideAttention(rows, (t, s) => s < t || (t === 99 && s === 200));
    expect(() => proveProfile(leaking)).toThrow("Row 99 of the output can depend on row 200");
  });

  it.each(Object.entries(HIDDEN))("error: refuses %s", (_, model) => {
    assertValid(model.program);
    expect(() => proveProfile(model)).toThrow(expect.objectContaining({ code: "PROFILE_UNPROVEN" }));
    const calldata = encodeInput(model.program, selector, { codec: "raw", bytes: new Uint8Array(T) });
    const output = new Uint8Array(outputLength(model.program));
    expect(pass(model, calldata, output.fill(200, 64))).not.toEqual(
      pass(model, calldata, output.fill(0, 64)),
    );
  });

  it("error: names the way by which a later row comes in", () => {
    expect(() => proveProfile(movedTwice(-1, 2))).toThrowErrorMatchingInlineSnapshot(`
      [BaseError: Row 0 of the output can depend on row 1 of the claimed output, must be on rows below 0 alone:
      step 4 (arith max u8 [6, 1]), element 0
      step 3 (move u8 [6, 1]), element 0
      step 2 (move u8 [6, 1]), element 2
      step 1 (codec claimed u8 [6, 1]), element 1 Let the steps in this list read earlier rows alone: a MOVE that shifts the claimed output by a row along its first axis, or a SELECT by a constant mask of what later rows give.]
    `);
  });
});
