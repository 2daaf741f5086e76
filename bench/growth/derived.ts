/** The derived models that this repository ships, as subjects of a dispute. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeInput } from "../../inference/codecs/input.ts";
import { readGguf } from "../../inference/derive/gguf.ts";
import { execute } from "../../inference/executor/execute.ts";
import { type PreparedModel, prepare } from "../../inference/executor/prepare.ts";
import { type LoadedModel, loadModelFolder } from "../../inference/model-folder.ts";
import { elementCount } from "../../inference/program/form.ts";
import { promptNumbers } from "../../inference/text/ids.ts";
import { PieceText } from "../../inference/text/piece-text.ts";
import type { TokenizerFiles } from "../../inference/text/tokenizer-file.ts";
import { smollm2Weights } from "../../test/support/smollm2.ts";
import { SELECTOR } from "../chain.ts";
import { LENGTH, TEXT } from "../sequences/classifier.ts";
import { LENGTHS, LONG_PROMPT } from "../sequences/language.ts";

export interface DerivedSubject {
  readonly name: string;
  /** of the file of weights */
  readonly parameters: number;
  readonly folder: string;
  readonly prepared: PreparedModel;
  readonly input: { readonly codec: "int16s"; readonly int16s: readonly number[] };
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

const languageModel = (weights: string): Shipped => ({
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
    execFileSync(process.execPath, derive, { stdio: ["ignore", "ignore", "inherit"] });
    const loaded = loadModelFolder(folder);
    const { model, selector, profile } = loaded;
    const prepared = prepare(model, SELECTOR, profile);
    const input = { codec: "int16s", int16s: int16s(loaded) } as const;
    const calldata = encodeInput(model.program, selector, input);
    const output = execute(prepared, encodeInput(model.program, SELECTOR, input));
    const { tensors } = readGguf(new Uint8Array(readFileSync(weights)));
    const parameters = [...tensors.values()].reduce((sum, { dims }) => sum + elementCount(dims), 0);
    return await measure({ name, parameters, folder, prepared, input, calldata, output });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
