/** What a model's folder says of text: a language model's conversations, or a classifier's word pieces. */
import { ModelText, textLengths } from "./model-text.ts";
import { PieceText } from "./piece-text.ts";
import { havePieces } from "./pieces-file.ts";
import type { TokenizerFiles } from "./tokenizer-file.ts";

/** One of the two, or none. */
export interface FolderText {
  /** of a language model whose folder has a tokenizer */
  readonly text?: ModelText;
  /** of a classifier whose folder has one */
  readonly pieces?: PieceText;
}

/** @param io `assay` section of the model's manifest @throws TOKENIZER_INVALID, FILE_NOT_JSON */
export function folderText(
  files: TokenizerFiles | undefined,
  io: Parameters<typeof textLengths>[0],
): FolderText {
  if (files === undefined) return {};
  const lengths = textLengths(io);
  return havePieces(files)
    ? { pieces: new PieceText(files, lengths.prompt) }
    : { text: new ModelText(files, lengths) };
}
