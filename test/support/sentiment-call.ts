/** Calls of a model that takes one text. */
import { fromHex, toHex } from "../../base/bytes.ts";
import { checkFunction } from "../../inference/manifest/model-files.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import type { ModelFunction } from "../../protocol/rules/abi.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";

export function sentimentFunction({ model, manifest, selector }: LoadedModel): ModelFunction {
  return { ...checkFunction(model.program, manifest.abi, selector), selector: toHex(selector) };
}

/** Calldata of a text. */
export const encodeText = (model: LoadedModel, text: string): Uint8Array =>
  fromHex(encodeCall(sentimentFunction(model), { text }));
