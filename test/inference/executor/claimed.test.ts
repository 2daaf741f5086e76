import { describe, expect, it } from "vitest";
import { claimedOutput, shifted } from "../../../conformance/generate/running-model.ts";
import { step } from "../../../conformance/generate/small-programs.ts";
import { fillClaimedTensor } from "../../../inference/codecs/claimed.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { decodeOutput, encodeOutput } from "../../../inference/codecs/output.ts";
import { emit } from "../../../inference/emit/emit.ts";
import { checkOutput, execute, trace } from "../../../inference/executor/execute.ts";
import { findByPasses } from "../../../inference/executor/find-output.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../../inference/executor/prepared-model.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import {
  elementCount,
  type Model,
  OUTPUT_CODECS,
  type OutputCodec,
  type Program,
  type Step,
  type Tensor,
} from "../../../inference/program/form.ts";
import { outputLength } from "../../../inference/program/shape.ts";
import { newData } from "../../../inference/program/tensor.ts";
import { validateProgram } from "../../../inference/program/validate.ts";
import { signalLayout } from "../../../protocol/rules/proof/public-signals.ts";
import { modelOf, running, runningOutput } from "../../support/claimed-models.ts";
import { createRng } from "../../support/rng.ts";

const selector = Uint8Array.of(1, 2, 3, 4);
const NUMBERS = ["u8", "s8", "s32"] as const;

/** Row t of the output: of each column the greatest byte of the rows up to t. */
function greatest(rows: number, columns: number): Model {
  const dims = [rows, columns] as const;
  const steps = [
    step({ opcode: "codec", variant: 4, type: "u8", dims }),
    claimedOutput("u8", dims),
    shifted(1, "u8", dims, -1),
    step({ opcode: "arith", variant: variantCode("arith", "max"), type: "u8", dims, a: 0, b: 2 }),
  ];
  return modelOf({ inputSize: rows * columns, steps });
}

/** The model, and how many passes were made since that was asked last. */
function counting(prepared: PreparedModel) {
  let passes = 0;
  const counted = {
    ...{ program: prepared.program, decode: prepared.decode.bind(prepared) },
    pass: (...args: Parameters<typeof prepared.pass>) => {
      passes += 1;
      return prepared.pass(...args);
    },
  } as PreparedModel;
  const since = (): number => {
    const made = passes;
    passes = 0;
    return made;
  };
  return { counted, passes: since };
}

const calldataOf = ({ program }: Model, bytes: Uint8Array): Uint8Array =>
  encodeInput(program, selector, { codec: "raw", bytes });

/** Only the last step counts. */
const programOf = (outputCodec: OutputCodec, type: Step["type"], dims: readonly number[]): Program =>
  modelOf({ inputSize: 1, outputCodec, steps: [claimedOutput(type, dims)] }).program;

const FORMS = OUTPUT_CODECS.flatMap((codec) =>
  NUMBERS.filter((type) => codec !== "int16s" || type === "s32").map((type) => ({ codec, type })),
);

describe("fillClaimedTensor", () => {
  const filled = (program: Program, output: Uint8Array): Tensor => {
    const { type, dims } = program.steps.at(-1) as Step;
    const data = newData(type, elementCount(dims));
    fillClaimedTensor(program, program.steps.at(-1) as Step, output, data);
    return { type, dims, data };
  };

  it.each(FORMS)("default: of what $codec makes of $type it is the tensor", ({ codec, type }) => {
    const rng = createRng(1);
    for (const dims of [[1], [3, 5], [17], [2, 2, 8]]) {
      const program = programOf(codec, type, dims);
      const data = newData(type, elementCount(dims));
      const [low, high] = codec === "int16s" ? [-32_768, 32_767] : [-(2 ** 31), 2 ** 31 - 1];
      for (let i = 0; i < data.length; i++) data[i] = type === "s32" ? rng.int(low, high) : rng.int(0, 255);
      const output = encodeOutput(program, { type, dims, data });
      expect(filled(program, output).data).toEqual(data);
      expect(filled(program, output)).toEqual(decodeOutput(program, output));
    }
  });

  it.each(FORMS)("behavior: any bytes of the length have a tensor: $codec of $type", ({ codec, type }) => {
    const rng = createRng(2);
    const program = programOf(codec, type, [5]);
    for (let round = 0; round < 50; round++) {
      const output = Uint8Array.from({ length: outputLength(program) }, () => rng.int(0, 255));
      const again = encodeOutput(program, filled(program, output));
      // What the elements are is kept, and the form around them is the codec's.
      expect(filled(program, again)).toEqual(filled(program, output));
    }
  });

  it("error: other lengths", () => {
    const program = programOf("words", "u8", [2]);
    expect(() => filled(program, new Uint8Array(63))).toThrow(
      "The claimed output has 63 bytes, the outputs of this model have 64.",
    );
  });
});

describe("execute, findByPasses", () => {
  it.each(["raw", "words"] as const)("default: finds the output that is right, codec %s", (codec) => {
    for (const tokens of [1, 2, 7, 40]) {
      const model = running(tokens, codec);
      const rng = createRng(tokens);
      const bytes = Uint8Array.from({ length: tokens }, () => rng.int(0, 255));
      const { data } = decodeOutput(
        model.program,
        execute(prepare(model, selector), calldataOf(model, bytes)),
      );
      expect(data).toEqual(runningOutput(bytes));
    }
  });

  it("behavior: as many passes as rows, and one that changes nothing, whatever is in a row", () => {
    for (const rows of [1, 5, 12])
      for (const columns of [1, 3]) {
        const model = greatest(rows, columns);
        const { counted, passes } = counting(prepare(model, selector));
        // The largest comes first, and a further row learns of it in each pass.
        const bytes = new Uint8Array(rows * columns).fill(9, 0, columns);
        const input = counted.decode(calldataOf(model, bytes));
        expect(decodeOutput(model.program, findByPasses(counted, input)).data).toEqual(
          new Uint8Array(rows * columns).fill(9),
        );
        expect(passes()).toBe(rows + 1);
      }
  });

  it("error: no output is found where the program is not causal", () => {
    const dims = [4];
    // y = (y = 0), of the same row: with 0 it is 1, with 1 it is 0.
    const steps = [
      claimedOutput("u8", dims),
      step({ opcode: "arith", variant: 8, type: "bool", dims, a: 0, b: 0x8000 }),
      step({ opcode: "arith", variant: 9, type: "u8", dims, a: 1 }),
    ];
    const weights = [
      { descriptor: { layout: "plain", type: "u8", dims: [1] }, bytes: new Uint8Array(1) },
    ] as const;
    const model = modelOf({ inputSize: 1, steps }, weights);
    expect(() => execute(prepare(model, selector), calldataOf(model, new Uint8Array(1)))).toThrow(
      expect.objectContaining({ code: "OUTPUT_NOT_FOUND", details: { passes: 5 } }),
    );
  });
});

describe("checkOutput", () => {
  it("behavior: one pass decides, whatever is stated, and finds the output where that is right", () => {
    const model = greatest(4, 2);
    const { counted, passes } = counting(prepare(model, selector));
    const rng = createRng(4);
    let rights = 0;
    for (let i = 0; i < 300; i++) {
      const calldata = calldataOf(model, rng.bytes(8));
      const right = execute(prepare(model, selector), calldata);
      const at = 64 + rng.int(0, 7);
      const stated = right.map((byte, j) => (j === at ? rng.int(byte - 1, byte + 1) & 255 : byte));
      const isRight = stated[at] === right[at];
      rights += Number(isRight);
      expect(checkOutput(counted, calldata, stated)).toEqual(
        isRight ? { isRight, output: right } : { isRight },
      );
      expect(passes()).toBe(1);
    }
    expect(rights).toBeGreaterThan(50);
  });

  it("behavior: no pass for what has another length, or other words around the elements", () => {
    const model = greatest(4, 2);
    const prepared = prepare(model, selector);
    const calldata = calldataOf(model, new Uint8Array(8));
    const right = execute(prepared, calldata);
    for (const stated of [new Uint8Array(0), right.subarray(1), Uint8Array.of(...right, 0)])
      expect(checkOutput(prepared, calldata, stated)).toEqual({ isRight: false });
    for (let at = 0; at < right.length; at++) {
      const stated = right.map((byte, i) => (i === at ? byte ^ 1 : byte));
      expect(checkOutput(prepared, calldata, stated)).toEqual({ isRight: false });
    }
  });

  it("behavior: of a program that does not read what is stated the output is found with it", () => {
    const dims = [3];
    const model = modelOf({
      ...{ inputSize: 3, steps: [step({ opcode: "codec", variant: 4, type: "u8", dims })] },
    });
    const prepared = prepare(model, selector);
    const calldata = calldataOf(model, Uint8Array.of(1, 2, 3));
    const output = execute(prepared, calldata);
    expect(checkOutput(prepared, calldata, output)).toEqual({ isRight: true, output });
    for (const stated of [new Uint8Array(0), output.map((byte) => byte ^ 1)])
      expect(checkOutput(prepared, calldata, stated)).toEqual({ isRight: false, output });
  });

  it("error: calldata that no request can hold", () => {
    const prepared = prepare(greatest(2, 1), selector);
    expect(() => checkOutput(prepared, new Uint8Array(3), new Uint8Array(96))).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/./) }),
    );
  });
});

describe("trace", () => {
  const model = running(6);
  const prepared = prepare(model, selector);
  const bytes = Uint8Array.of(3, 1, 4, 1, 5, 9);
  const calldata = calldataOf(model, bytes);
  const right = execute(prepared, calldata);

  it("default: without a claimed output it is the run of the right one", () => {
    expect(trace(prepared, calldata)).toEqual(trace(prepared, calldata, right));
    expect(encodeOutput(model.program, trace(prepared, calldata).at(-1) as Tensor)).toEqual(right);
  });

  it("args: claimed, whose first wrong row is the first one to which the program gives another", () => {
    for (let wrong = 0; wrong < 6; wrong++) {
      const output = right.slice();
      output[64 + wrong] = (output[64 + wrong] as number) ^ 1;
      const given = encodeOutput(model.program, trace(prepared, calldata, output).at(-1) as Tensor);
      const first = given.findIndex((byte, i) => byte !== output[i]);
      expect(first).toBe(64 + wrong);
      expect(given[first]).toBe(right[first]);
    }
  });
});

describe("validateProgram", () => {
  const problemsOf = (model: Model) =>
    validateProgram(model.program).map(({ field, limit }) => [field, limit]);
  const changed = (fields: Partial<Step>): Model => {
    const model = running(4);
    const steps = model.program.steps.map((one, i) => (i === 1 ? { ...one, ...fields } : one));
    return { ...model, program: { ...model.program, steps } };
  };

  it("error: another type, other dims, an attribute", () => {
    expect(problemsOf(running(4))).toEqual([]);
    expect(problemsOf(changed({ k: 1 }))).toEqual([["k", "0"]]);
    expect(problemsOf(changed({ dims: [4] }))).toEqual([["dims", "[4, 1], as the last step's"]]);
    expect(problemsOf(changed({ type: "s8" }))[0]).toEqual(["type", "u8, as the last step's"]);
  });

  it("error: a last step of bool or f32", () => {
    for (const type of ["bool", "f32"] as const) {
      const model = modelOf({ inputSize: 1, steps: [claimedOutput(type, [2])] });
      expect(problemsOf(model)).toEqual([["type", "u8 or s8 or s32"]]);
    }
  });
});

describe("lanes", () => {
  it("error: no ONNX file and no circuit", () => {
    expect(emit(running(4))).toEqual({
      refused: "step 1 (codec claimed): one pass does not find the output",
    });
    expect(() => signalLayout(running(4).program)).toThrow("Step 1 reads the claimed output");
  });
});
