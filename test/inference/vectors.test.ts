import { readFileSync } from "node:fs";
import { decodeAbiParameters, type Hex } from "viem";
import { describe, expect, test } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { judge } from "../../conformance/reference/judge.ts";
import { decodeInput } from "../../inference/codecs/input.ts";
import { tensorRoot } from "../../inference/commit/commitments.ts";
import { foldOpening, outputRead } from "../../inference/commit/openings.ts";
import { decodePosition } from "../../inference/commit/positions.ts";
import { foldReveal, foldTops, traceShapes } from "../../inference/commit/reveal.ts";
import { foldPath } from "../../inference/commit/tree.ts";
import { execute, trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { decodeProgram } from "../../inference/program/encode.ts";
import { OPCODES, type Program, type Step, type Tensor } from "../../inference/program/form.ts";
import { locate } from "../../inference/program/shape.ts";
import { readProgram } from "../../inference/program/validate.ts";
import { definedTensor, hasPadding } from "../support/claimed-vectors.ts";
import { VECTOR_ABIS } from "../support/vectors.ts";

/** The committed vectors say what the specification says: judged here by the exact reference, which shares no code
 *  with the executor that they came from. */
function read(name: string): Hex[] {
  const url = new URL(`../vectors/${name}.json`, import.meta.url);
  return (JSON.parse(readFileSync(url, "utf8")) as { vectors: Hex[] }).vectors;
}

const opening = ({ words, path }: { words: readonly Hex[]; path: readonly Hex[] }) => ({
  words: words.map(fromHex),
  path: path.map(fromHex),
});

describe.each(OPCODES.filter((opcode) => opcode !== "codec"))("%s.json", (opcode) => {
  test("behavior: the reference computes every expected value from the openings", () => {
    let cases = 0;
    let lies = 0;
    for (const blob of read(opcode)) {
      const [vector] = decodeAbiParameters(VECTOR_ABIS.element, blob);
      const program = readProgram(fromHex(vector.program));
      const step = Number(vector.step);
      for (const { element, expected, claimed, openings } of vector.cases) {
        const opened = openings.map(opening);
        expect(judge(program, step, Number(element), opened)).toBe(expected);
        const own = outputRead(program, step, Number(element));
        const [first] = opened;
        expect(toHex(foldOpening(program, own, first as NonNullable<typeof first>))).toBe(vector.traceRoot);
        expect(storedAt(program, step, Number(element), first?.words[0] as Uint8Array)).toBe(claimed);
        cases++;
        if (claimed !== expected) lies++;
      }
    }
    expect(cases).toBeGreaterThanOrEqual(60);
    expect(lies).toBeGreaterThan(5);
  });
});

function storedAt(program: Program, index: number, element: number, word: Uint8Array): bigint {
  const { type, dims } = program.steps[index] as Step;
  const { byte } = locate(type, dims, element);
  const size = type === "s32" || type === "f32" ? 4 : 1;
  return BigInt(toHex(word.subarray(byte, byte + size)));
}

describe("codec.json", () => {
  test("behavior: the tensor of each codec step has the root that is in the trace", () => {
    for (const blob of read("codec")) {
      const [vector] = decodeAbiParameters(VECTOR_ABIS.codec, blob);
      const program = readProgram(fromHex(vector.program));
      const step = Number(vector.step);
      const codecs = { ...program, steps: program.steps.filter((record) => record.opcode === "codec") };
      const prepared = prepare(
        { program: { ...codecs, outputCodec: "raw", weights: [] }, weights: [] },
        fromHex(vector.selector),
      );
      const at = program.steps.slice(0, step).filter((record) => record.opcode === "codec").length;
      const tensor = trace(prepared, fromHex(vector.input))[at] as Tensor;
      expect(toHex(tensorRoot(program.steps[step] as Step, tensor.data))).toBe(vector.tensorRoot);
      expect(toHex(foldPath(fromHex(vector.tensorRoot), step, vector.path.map(fromHex)))).toBe(
        vector.traceRoot,
      );
      expect(execute(prepared, fromHex(vector.input)).length).toBeGreaterThan(0);
    }
  });
});

describe("claimed.json", () => {
  test("behavior: the tensor of each claimed output, by the definition, has the root that is in the trace", () => {
    let padded = 0;
    for (const blob of read("claimed")) {
      const [vector] = decodeAbiParameters(VECTOR_ABIS.codec, blob);
      const program = readProgram(fromHex(vector.program));
      const step = Number(vector.step);
      const tensor = definedTensor(program, fromHex(vector.input));
      expect(toHex(tensorRoot(program.steps[step] as Step, tensor.data))).toBe(vector.tensorRoot);
      expect(toHex(foldPath(fromHex(vector.tensorRoot), step, vector.path.map(fromHex)))).toBe(
        vector.traceRoot,
      );
      padded += Number(hasPadding(tensor));
    }
    expect(padded).toBeGreaterThan(10);
  });
});

describe("calldata.json", () => {
  test("behavior: canonical or not, as said; both occur", () => {
    const verdicts = read("calldata").map((blob) => {
      const [vector] = decodeAbiParameters(VECTOR_ABIS.calldata, blob);
      const program = readProgram(fromHex(vector.program));
      const attempt = (): unknown => decodeInput(program, fromHex(vector.selector), fromHex(vector.input));
      if (vector.canonical) expect(attempt).not.toThrow();
      else expect(attempt).toThrow(BaseError);
      return vector.canonical;
    });
    expect(verdicts.filter(Boolean).length).toBeGreaterThan(10);
    expect(verdicts.filter((canonical) => !canonical).length).toBeGreaterThan(10);
  });
});

describe("program.json", () => {
  test("behavior: accepted or not, as said; both occur", () => {
    const verdicts = read("program").map((blob) => {
      const [vector] = decodeAbiParameters(VECTOR_ABIS.program, blob);
      const attempt = (): unknown => readProgram(fromHex(vector.program));
      if (vector.accepted) expect(attempt).not.toThrow();
      else expect(attempt).toThrow(BaseError);
      return vector.accepted;
    });
    expect(verdicts.filter(Boolean).length).toBeGreaterThan(20);
    expect(verdicts.filter((accepted) => !accepted).length).toBeGreaterThan(20);
  });
});

describe("reveal.json", () => {
  test("behavior: every reveal and the tops fold to the trace root", () => {
    for (const blob of read("reveal")) {
      const [vector] = decodeAbiParameters(VECTOR_ABIS.reveal, blob);
      const program = decodeProgram(fromHex(vector.program));
      const reveal = { content: vector.content.map(fromHex), path: vector.path.map(fromHex) };
      const position = decodePosition(vector.position);
      expect(toHex(foldReveal(traceShapes(program), position, reveal))).toBe(vector.traceRoot);
      expect(toHex(foldTops(program.steps.length, vector.tops.map(fromHex)))).toBe(vector.traceRoot);
    }
  });
});
