/** What `assay model derive` makes of a recipe and a file of weights. */

import type { Gguf } from "../derive/gguf.ts";
import { type Derivation, derive, type Recipe, recipeBytes } from "../derive/recipe.ts";
import type { ModelInterface } from "../onnx/import.ts";
import { proveProfile } from "../profile/prove.ts";
import { lastDim, type Program, type Step } from "../program/form.ts";
import type { Sha256 } from "./cid.ts";
import type { ToolDescription } from "./tool.ts";
import { type WrittenModel, writeModel } from "./write.ts";

export interface DeriveSource {
  readonly recipe: Recipe;
  /** that the recipe names, as `openWeights` gives it */
  readonly file: Gguf;
  readonly tool: ToolDescription;
  /** README.md and eval.json, where there are any */
  readonly companions: ReadonlyMap<string, Uint8Array>;
}

export interface DeriveResult {
  readonly derived: Derivation;
  readonly written: WrittenModel;
}

/** @throws as `derive`, `proveProfile` and `writeModel` do */
export function deriveModel(source: DeriveSource, sha256: Sha256): DeriveResult {
  const { recipe, file, tool, companions } = source;
  const derived = derive(recipe, file);
  proveProfile(derived.model, derived.nodes);
  const made = {
    model: derived.model,
    io: interfaceOf(recipe, derived.model.program),
    requantizations: [],
    products: "auto",
    arithmetic: "integers",
  } as const;
  const { text } = derived;
  const extra = new Map([...companions, ...("files" in text ? Object.entries(text.files) : [])]);
  const written = writeModel(["recipe.json", recipeBytes(recipe)], made, tool, extra, sha256);
  return { derived, written };
}

/** Ids less 32,768; of a classifier scores. */
export function interfaceOf(recipe: Recipe, { steps }: Pick<Program, "steps">): ModelInterface {
  const ids = (name: string, count: number) => ({ name, type: "int32", dims: [count], offset: 0 }) as const;
  if (recipe.family === "bert") {
    const scores = [lastDim((steps.at(-1) as Step).dims)];
    return {
      inputs: [ids("text", recipe.lengths.text)],
      outputs: [{ name: "scores", type: "int32", dims: scores, offset: 0 }],
    };
  }
  const { prompt, answer } = recipe.lengths;
  return {
    inputs: [ids("prompt", prompt)],
    outputs: [ids("answer", answer)],
    claimed: { name: "claimed answer", type: "int32", dims: [answer] },
  };
}
