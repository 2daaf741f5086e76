/** Derived models beside the figures that they should reach. */
import { smollm2Weights } from "../../test/support/smollm2.ts";
import type { Measured, Part } from "../report.ts";
import { measureClassifier } from "./classifier.ts";
import { measureLanguageModel } from "./language.ts";

async function run(): Promise<Measured> {
  const weights = smollm2Weights();
  const measured = [await measureClassifier()];
  if (weights !== undefined) measured.push(await measureLanguageModel(weights));
  const missing = {
    name: "SmolLM2-135M",
    value: "not measured: ASSAY_WEIGHTS names no file of weights (docs/DERIVE.md)",
  };
  return {
    figures: [...measured.flatMap(({ figures }) => figures), ...(weights === undefined ? [missing] : [])],
    rows: measured.flatMap(({ rows }) => rows),
  };
}

export const SEQUENCES_PART: Part = {
  name: "sequences",
  title: "Derived models",
  method:
    "models/sentiment-transformer, and SmolLM2-135M-Instruct from the file that ASSAY_WEIGHTS names or `npm run test:executor` installs. The classifier runs in one thread, and in onnxruntime in one and in two; the language model in two, in onnxruntime, too, as llama.cpp beside it, but for its commitment, which a node makes in as many threads as the machine has cores. The node is a process of its own; its memory is of loading, proving, checking and committing. Answers of both are found four times; the one whose first id was there the soonest is reported. How far a model is from floats is what its eval.json says (`assay model eval`). A dispute is over one wrong element of the last product of 16 bits, from the challenge to the conviction.",
  run,
};
