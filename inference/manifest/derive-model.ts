/** What `assay model derive` makes of a recipe and a file of weights. */

import { type Derivation, derive, type Recipe, recipeBytes } from "../derive/recipe.ts";
import type { ModelInterface } from "../onnx/import.ts";
import { proveProfile } from "../profile/prove.ts";
import type { Sha256 } from "./cid.ts";
import type { ToolDescription } from "./tool.ts";
import { type WrittenModel, writeModel } from "./write.ts";

export interface DeriveSource {
  readonly recipe: Recipe;
  /** content of the file that the recipe names */
  readonly weights: Uint8Array;
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
  const { recipe, weights, tool, companions } = source;
  const derived = derive(recipe, weights, sha256);
  proveProfile(derived.model, derived.nodes);
  const made = {
    model: derived.model,
    io: interfaceOf(recipe),
    requantizations: [],
    products: "auto",
    arithmetic: "integers",
  } as const;
  const { text } = derived;
  const extra = new Map([...companions, ...("files" in text ? Object.entries(text.files) : [])]);
  const written = writeModel(["recipe.json", recipeBytes(recipe)], made, tool, extra, sha256);
  return { derived, written };
}

/** Ids less 32,768. */
export function interfaceOf({ lengths: { prompt, answer } }: Recipe): ModelInterface {
  const ids = (name: string, count: number) => ({ name, type: "int32", dims: [count], offset: 0 }) as const;
  return {
    inputs: [ids("prompt", prompt)],
    outputs: [ids("answer", answer)],
    claimed: { name: "claimed answer", type: "int32", dims: [answer] },
  };
}
