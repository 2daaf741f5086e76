/** A language model's folder with the text that its ids stand for. */
import { BaseError } from "../../base/errors.ts";
import { type LoadedModel, loadModelFolder } from "../model-folder.ts";
import { folderText } from "./folder-text.ts";
import type { ModelText } from "./model-text.ts";

export interface TextModel extends LoadedModel {
  readonly text: ModelText;
}

/** @throws MODEL_WITHOUT_TEXT; TOKENIZER_INVALID, FILE_NOT_JSON; as `loadModelFolder` */
export function loadTextModel(folder: string): TextModel {
  const loaded = loadModelFolder(folder);
  const { directory, manifest, modelId, tokenizer } = loaded;
  const { text } = folderText(tokenizer, manifest.assay);
  if (text !== undefined) return { ...loaded, text };
  throw new BaseError({
    code: "MODEL_WITHOUT_TEXT",
    shortMessage: `${manifest.name} in ${directory} takes no conversation: its folder has no tokenizer of a language model.`,
    nextStep:
      "Run it with `assay model run`. A language model has text where `assay model derive` knows its file's tokenizer, and says so if not.",
    details: { model: modelId },
  });
}
