/** Derived programs of random small language models, run on prompts of ids. */
import type { CodecInput } from "../../inference/codecs/input.ts";
import { decodeOutput } from "../../inference/codecs/output.ts";
import type { DerivedModel } from "../../inference/derive/derived.ts";
import { readGguf } from "../../inference/derive/gguf.ts";
import type { Lengths } from "../../inference/derive/llama/context.ts";
import { deriveLlama } from "../../inference/derive/llama/derive.ts";
import { findOutput } from "../../inference/executor/find-output.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import { variantCode } from "../../inference/program/codes.ts";
import type { Tensor } from "../../inference/program/form.ts";
import type { Measured } from "./llama-reference.ts";
import type { Rng } from "./rng.ts";
import type { SmallLlama } from "./small-llama.ts";

/** In the place of an id: nothing. */
export const NOTHING = 32_767;
const ID_OFFSET = 32_768;
/** The same as an id: above all ids. */
export const NO_ID = NOTHING + ID_OFFSET;
const SELECTOR = Uint8Array.of(1, 2, 3, 4);

export interface RunnableLlama {
  readonly derived: DerivedModel;
  readonly prepared: PreparedModel;
}

export const textOf = (rng: Rng, { vocabulary }: SmallLlama, length: number): number[] =>
  Array.from({ length }, () => rng.int(0, vocabulary - 1));

/** Texts that scales are measured on. */
export const textsOf = (rng: Rng, model: SmallLlama, length: number, texts = 24): number[][] =>
  Array.from({ length: texts }, () => textOf(rng, model, length));

export function derivedLlama(
  model: SmallLlama,
  scales: unknown,
  lengths: Lengths,
  only?: readonly number[],
): RunnableLlama {
  const derived = deriveLlama(readGguf(model.bytes), scales, lengths, only);
  return { derived, prepared: prepare(derived.model, SELECTOR) };
}

/** Calldata of a prompt of ids, with nothing in front of one that is shorter than the model's. */
export function promptInput({ prepared }: RunnableLlama, prompt: readonly number[]): CodecInput {
  return { codec: "int16s", int16s: promptNumbers(prompt, prepared.program.inputSize) };
}

/** What calldata say of ids. @param length of the model's prompt */
export const promptNumbers = (prompt: readonly number[], length: number): number[] => [
  ...new Array<number>(length - prompt.length).fill(NOTHING),
  ...prompt.map((id) => id - ID_OFFSET),
];

/** Ids of return data, NO_ID for nothing. */
export const idsOf = ({ prepared }: RunnableLlama, output: Uint8Array): number[] =>
  Array.from(decodeOutput(prepared.program, output).data, (number) => number + ID_OFFSET);

/** The answer to a prompt of ids. */
export const answerOf = (run: RunnableLlama, prompt: readonly number[]): number[] =>
  idsOf(run, findOutput(run.prepared, promptInput(run, prompt)));

/** What the program finds each id of the vocabulary to score at each place of the answer, as numbers.
 *  @param output return data that it reads */
export function scoresOf(
  { derived, prepared }: RunnableLlama,
  model: SmallLlama,
  { final }: Measured,
  input: CodecInput,
  output: Uint8Array,
): number[][] {
  const { steps } = derived.model.program;
  // Those of each part of the vocabulary are read by a step that takes the largest of each 256 of them.
  const most = variantCode("reduce", "max");
  const parts = steps.flatMap(({ opcode, variant, a }, i) => {
    const isChoice = derived.nodes[i] === "choice" && opcode === "reduce" && variant === most;
    return isChoice && steps[a]?.dims.length === 3 ? [a] : [];
  });
  const tensors = prepared.run(input, output);
  const head = model.tensors.get("output.weight") ?? model.tensors.get("token_embd.weight");
  const unit = ((largestOf(head?.values ?? []) / 127) * (final / 256)) / NOTHING;
  return Array.from({ length: steps.at(-1)?.dims[0] as number }, (_, place) =>
    parts.flatMap((part) => {
      const { dims, data } = tensors[part] as Tensor;
      const length = (dims[1] as number) * (dims[2] as number);
      return Array.from(data.subarray(place * length, (place + 1) * length), (score) => score * unit);
    }),
  );
}

const largestOf = (numbers: Iterable<number>): number => {
  let most = 0;
  for (const x of numbers) most = Math.max(most, Math.abs(x));
  return most;
};
