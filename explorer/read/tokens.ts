/** Tokens of a language model's prompts and answers, for readers: nothing on chain commits to what an id says. */
import type { Hex } from "viem";
import { fromHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import { Detokenizer, type StreamDecoder } from "../../inference/text/detokenizer.ts";
import { answerIds, numbersIn } from "../../inference/text/ids.ts";
import { pieceDecoder } from "../../inference/text/piece-decoder.ts";
import { havePieces, readPieceFiles } from "../../inference/text/pieces-file.ts";
import {
  readTokenizerFiles,
  TOKENIZER_FILES,
  type TokenizerFiles,
  type TokenizerParts,
} from "../../inference/text/tokenizer-file.ts";
import type { Token } from "../api/types.ts";
import type { Shelf, ShelvedModel } from "../shelf.ts";

interface Vocabulary {
  /** one after the other, from the first on */
  readonly decoder: () => StreamDecoder;
  /** by id, names of tokens that no text becomes */
  readonly control: ReadonlyMap<number, string>;
}

const read = new WeakMap<ShelvedModel, Promise<Vocabulary | undefined>>();

/** @throws BaseError for files that are not what the manifest names, or no tokenizer */
async function readVocabulary(library: Shelf, { id }: ShelvedModel): Promise<Vocabulary | undefined> {
  const texts = await Promise.all(TOKENIZER_FILES.map((name) => library.text(id, name)));
  if (texts.includes(undefined)) return undefined;
  const files = Object.fromEntries(
    TOKENIZER_FILES.map((name, i) => [name, new TextEncoder().encode(texts[i])]),
  ) as TokenizerFiles;
  if (havePieces(files)) {
    const parts = readPieceFiles(files);
    return { decoder: () => pieceDecoder(parts), control: controlOf(parts) };
  }
  const parts = readTokenizerFiles(files);
  const detokenizer = new Detokenizer(parts);
  return { decoder: () => detokenizer.decoder(), control: controlOf(parts) };
}

const controlOf = ({ tokens, control }: Pick<TokenizerParts, "tokens" | "control">) =>
  new Map(control.map((id) => [id, tokens[id] as string]));

function vocabularyOf(library: Shelf, model: ShelvedModel): Promise<Vocabulary | undefined> {
  const known = read.get(model);
  if (known !== undefined) return known;
  const reading = readVocabulary(library, model);
  read.set(model, reading);
  reading.catch(() => read.delete(model));
  return reading;
}

/** @param data return data, or calldata without their selector, that anybody may have sent
 *  @returns undefined for a model without a tokenizer here, and for data that hold no ids of it */
export async function tokensOf(
  library: Shelf,
  modelId: Hex,
  data: Hex,
  side: "inputs" | "outputs",
): Promise<Token[] | undefined> {
  const model = library.get(modelId);
  // A classifier gives scores.
  if (model?.manifest.assay.codec[side === "inputs" ? "input" : "output"] !== "int16s") return undefined;
  try {
    const vocabulary = await vocabularyOf(library, model);
    if (vocabulary === undefined) return undefined;
    const length = model.manifest.assay[side][0]?.dims[0] ?? 0;
    return named(vocabulary, numbersIn(fromHex(data), length));
  } catch (error) {
    if (isBaseError(error)) return undefined;
    throw error;
  }
}

/** A character whose bytes are parted among ids stands at the last of them. */
function named(vocabulary: Vocabulary, numbers: Int16Array): Token[] {
  const { control } = vocabulary;
  const decoder = vocabulary.decoder();
  return [...numbers].flatMap((number, place): Token[] =>
    answerIds([number]).map((id) => {
      const text = decoder.next(id);
      const name = control.get(id);
      return name === undefined ? { place, id, text } : { place, id, text: name, isControl: true };
    }),
  );
}
