/** The derived models that this repository ships, made by `assay model derive` for as long as they are measured. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeInput } from "../inference/codecs/input.ts";
import { readGguf } from "../inference/derive/gguf.ts";
import { execute } from "../inference/executor/execute.ts";
import type { PreparedModel } from "../inference/executor/prepared-model.ts";
import { type LoadedModel, loadModelFolder } from "../inference/model-folder.ts";
import { elementCount } from "../inference/program/form.ts";
import { prepareForRuns } from "../inference/runtime/two-threads.ts";
import { promptNumbers } from "../inference/text/ids.ts";
import { PieceText } from "../inference/text/piece-text.ts";
import type { TokenizerFiles } from "../inference/text/tokenizer-file.ts";
import { smollm2Weights } from "../test/support/smollm2.ts";
import { SELECTOR } from "./chain.ts";
import { timed } from "./sequences/measured.ts";

export const LENGTH = 48;
export const TEXT =
  "Shares of the chip maker fell 12 % after it cut its forecast for the quarter, while analysts at two banks kept their ratings and pointed to a record order book";

export const LENGTHS = { prompt: 256, answer: 32 };
/** "What is the capital of France?" by the chat template, with its own system prompt. */
const PROMPT = [
  1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 3365, 3511, 308, 34519, 28, 7018, 411, 407, 19712, 8182, 2,
  198, 1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198,
];
/** The same as long as a prompt can be: what stands in front of it is a text of its own. */
export const LONG_PROMPT = [
  ...Array.from({ length: LENGTHS.prompt - PROMPT.length }, (_, i) => PROMPT[i % PROMPT.length] as number),
  ...PROMPT,
];

export interface DerivedSubject {
  readonly name: string;
  /** of the file of weights */
  readonly parameters: number;
  readonly folder: string;
  readonly deriveSeconds: number;
  /** of planning what is computed row by row, once */
  readonly planSeconds: number;
  /** with the selector of the bench's chain; it has run */
  readonly prepared: PreparedModel;
  readonly input: { readonly codec: "int16s"; readonly int16s: readonly number[] };
  /** with the model's own selector */
  readonly calldata: Uint8Array;
  readonly output: Uint8Array;
}

interface Shipped {
  readonly name: string;
  readonly weights: string;
  /** of `assay model derive` */
  readonly args: readonly string[];
  int16s(loaded: LoadedModel): readonly number[];
}

const CLASSIFIER: Shipped = {
  name: "sentiment-transformer",
  weights: "models/sentiment-transformer/weights.gguf",
  args: ["--text", `${LENGTH}`],
  int16s: ({ tokenizer }) => new PieceText(tokenizer as TokenizerFiles, LENGTH).int16s(TEXT),
};

/** @param weights path of their file */
export const languageModel = (weights: string): Shipped => ({
  name: "smollm2",
  weights,
  args: ["--from", weights, "--prompt", `${LENGTHS.prompt}`, "--answer", `${LENGTHS.answer}`],
  int16s: () => promptNumbers(LONG_PROMPT, LENGTHS.prompt),
});

/** Those whose weights this machine has. */
export function shippedModels(): readonly Shipped[] {
  const weights = smollm2Weights();
  return weights === undefined ? [CLASSIFIER] : [CLASSIFIER, languageModel(weights)];
}

/** Derives a model for as long as it is measured. */
export async function withDerived<T>(
  { name, weights, args, int16s }: Shipped,
  measure: (subject: DerivedSubject) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
  try {
    const derive = ["bin/assay.js", "model", "derive", name, ...args, "--out", folder];
    const { seconds: deriveSeconds } = timed(() =>
      execFileSync(process.execPath, derive, { stdio: ["ignore", "ignore", "inherit"] }),
    );
    const loaded = loadModelFolder(folder);
    const { model, selector, profile } = loaded;
    const prepared = prepareForRuns(model, SELECTOR, profile);
    const { seconds: planSeconds } = timed(() => prepared.rowPlan());
    const input = { codec: "int16s", int16s: int16s(loaded) } as const;
    const calldata = encodeInput(model.program, selector, input);
    const output = execute(prepared, encodeInput(model.program, SELECTOR, input));
    const { tensors } = readGguf(new Uint8Array(readFileSync(weights)));
    const parameters = [...tensors.values()].reduce((sum, { dims }) => sum + elementCount(dims), 0);
    return await measure({
      ...{ name, parameters, folder, deriveSeconds, planSeconds, prepared, input, calldata, output },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
