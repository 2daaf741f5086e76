/** Openings and outputs of committed traces, as they are and with one bit turned. */
import { toHex } from "../../base/bytes.ts";
import { encodeOutput, outputElement, outputFault } from "../../inference/codecs/output.ts";
import { type Opening, open, outputRead } from "../../inference/commit/openings.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { OPCODES, type Tensor } from "../../inference/program/form.ts";
import { bitsOf, storedBytes, storedElement } from "../../inference/program/tensor.ts";
import { type Area, refusedCase, wordCase } from "../case.ts";
import { commitLastStep } from "../generate/committed-step.ts";
import { randomProgram } from "../generate/random-program.ts";
import { randomTensor } from "../generate/random-values.ts";
import { createRng, type Rng } from "../generate/rng.ts";
import { joined, type Line, packed } from "../lines.ts";

const COMPUTING = OPCODES.filter((opcode) => opcode !== "codec");

/** The same words with one bit of one of them turned. */
export function turned(rng: Rng, words: readonly Uint8Array[]): Uint8Array[] {
  const [at, bit] = [rng.int(0, words.length - 1), rng.int(0, 255)];
  return words.map((word, i) =>
    i === at ? word.map((byte, j) => (j === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)) : word,
  );
}

const openingWords = (openings: readonly Opening[]): string[] =>
  openings.flatMap(({ words, path }) => [joined(words), joined(path)]);

/** Flips a bit of about every fourth element. */
function corrupt(rng: Rng, { type, data }: Tensor): void {
  const stored = type === "f32" || type === "s32" ? bitsOf(data) : data;
  for (let i = 0; i < stored.length; i++) {
    if (rng.chance(0.25))
      stored[i] = (stored[i] as number) ^ (1 << rng.int(0, stored.BYTES_PER_ELEMENT * 8 - 1));
  }
}

export const OPENINGS: Area = {
  name: "openings",
  about:
    "single elements from openings of lying traces, as a conviction judges them, and openings with a bit turned",
  lines: ["element"],
  *cases(seed) {
    const rng = createRng(seed);
    const opcode = COMPUTING[seed % COMPUTING.length] as (typeof COMPUTING)[number];
    const program = randomProgram(rng, { opcode, hostile: rng.chance(0.7), steps: rng.int(0, 2) });
    const honest = commitLastStep(rng, program, rng.chance(0.5));
    const last = honest.tensors[honest.step] as Tensor;
    const claimed: Tensor = { ...last, data: last.data.slice() };
    corrupt(rng, claimed);
    const committed = commitLastStep(rng, program, false, [...honest.tensors.slice(0, -1), claimed]);
    const head = [
      toHex(encodeProgram(program.model.program)),
      toHex(committed.weights.root),
      toHex(committed.trace.root),
      packed(committed.step, 2),
    ];
    for (let i = 0; i < 3; i++) {
      const element = rng.int(0, last.data.length - 1);
      const openings = committed.openings(element);
      const ask = (given: readonly Opening[]): Line => [
        "element",
        ...head,
        packed(element, 4),
        ...openingWords(given),
      ];
      const stored = [storedElement(claimed.data, element), honest.expected(element)];
      yield wordCase(
        ask(openings),
        stored.map((value) => packed(value, 4)),
        [`the trace's element ${element} of ${opcode}`, `the computed element ${element} of ${opcode}`],
      );
      const wrong = rng.int(0, openings.length - 1);
      yield refusedCase(
        ask(openings.map((one, at) => (at === wrong ? { ...one, words: turned(rng, one.words) } : one))),
      );
      yield refusedCase(ask([...openings, openings[0] as Opening]));
      if (openings.length > 1) yield refusedCase(ask(openings.slice(0, -1)));
    }
  },
};

export const OUTPUTS: Area = {
  name: "outputs",
  about:
    "return data of tensors of any bytes, and what an output with a bit turned is: a wrong form or element",
  lines: ["output", "returned"],
  *cases(seed) {
    const rng = createRng(seed);
    const program = randomProgram(rng, { hostile: true, steps: rng.int(0, 1) });
    const form = program.model.program;
    const honest = commitLastStep(rng, program, false);
    const { type, dims } = honest.tensors[honest.step] as Tensor;
    const tensor = randomTensor(rng, type, dims, true);
    const {
      trace: committed,
      weights,
      step,
    } = commitLastStep(rng, program, false, [...honest.tensors.slice(0, -1), tensor]);
    const bytes = toHex(encodeProgram(form));
    const output = encodeOutput(form, tensor);
    yield {
      line: ["output", bytes, toHex(storedBytes(tensor.data))],
      expected: [toHex(output)],
      elements: tensor.data.length,
      parts: ["return data"],
    };
    const last = 8 * output.length - 1;
    const bits = [0, 255, 511, last - 7, last, ...Array.from({ length: 4 }, () => rng.int(0, last))];
    for (const bit of bits.filter((one) => one <= last)) {
      const wrong = output.map((byte, i) => (i === bit >> 3 ? byte ^ (0x80 >> (bit & 7)) : byte));
      const fault = outputFault(form, output, wrong);
      const element = typeof fault === "number" ? fault : 0;
      const opening = open(outputRead(form, step, element), committed, weights);
      const where = [bytes, toHex(committed.root), toHex(wrong), packed(element, 4)];
      const line: Line = ["returned", ...where, ...openingWords([opening])];
      const item = (data: Uint8Array) => toHex(outputElement(form, data, element));
      const names = [`element ${element} that is returned`, `element ${element} of the trace`];
      yield fault === "form" ? refusedCase(line) : wordCase(line, [item(wrong), item(output)], names);
    }
  },
};
