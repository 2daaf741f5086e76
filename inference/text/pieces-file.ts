/** tokenizer.json and tokenizer_config.json of a classifier's folder, in the form of Hugging Face's: word pieces, as BERT's
 *  uncased models have them. What a text becomes hangs on them, so that nothing in them is taken that is not known. */
import { equalBytes } from "../../base/bytes.ts";
import { readJsonFile } from "../manifest/json-file.ts";
import {
  checkTokens,
  type FileForm,
  invalid,
  listOf,
  TOKENIZER_FILES,
  type TokenizerFiles,
  tokensOf,
  vocabularyJson,
} from "./tokenizer-file.ts";

export interface PieceParts {
  /** by id; one that does not begin a word begins with CONTINUES */
  readonly tokens: readonly string[];
  /** ids: in front of a text, behind it, and of a word without pieces */
  readonly first: number;
  readonly last: number;
  readonly unknown: number;
  /** ids of tokens that no text becomes, those three among them */
  readonly control: readonly number[];
}

const MODEL = "WordPiece";
export const CONTINUES = "##";
/** Characters of a word that is cut into pieces; a longer one is unknown. */
const MOST_WORD = 100;

const NORMALIZER = {
  type: "BertNormalizer",
  clean_text: true,
  handle_chinese_chars: true,
  strip_accents: null,
  lowercase: true,
} as const;

/** @returns whether the files have word pieces. @throws FILE_NOT_JSON */
export const havePieces = (files: TokenizerFiles): boolean =>
  (readJsonFile(files["tokenizer.json"], "tokenizer.json") as FileForm | null)?.model?.type === MODEL;

/** tokenizer.json without its added tokens. */
export function encoderParts({ tokens, unknown }: PieceParts) {
  const model = {
    type: MODEL,
    unk_token: tokens[unknown] as string,
    continuing_subword_prefix: CONTINUES,
    max_input_chars_per_word: MOST_WORD,
  };
  return { normalizer: NORMALIZER, pre_tokenizer: { type: "BertPreTokenizer" }, model };
}

/** The same parts give the same bytes. */
export function pieceFiles(parts: PieceParts): TokenizerFiles {
  const { tokens, first, last, unknown, control } = parts;
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  const { normalizer, pre_tokenizer, model } = encoderParts(parts);
  const [cls, sep] = [tokens[first] as string, tokens[last] as string];
  const special = (id: number, token: string) => ({ id: token, ids: [id], tokens: [token] });
  const head = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: control.map((id) => ({ id, content: tokens[id], ...flags })),
    ...{ normalizer, pre_tokenizer },
    post_processor: {
      type: "TemplateProcessing",
      single: [
        { SpecialToken: { id: cls, type_id: 0 } },
        { Sequence: { id: "A", type_id: 0 } },
        { SpecialToken: { id: sep, type_id: 0 } },
      ],
      pair: [],
      special_tokens: { [cls]: special(first, cls), [sep]: special(last, sep) },
    },
    decoder: { type: "WordPiece", prefix: CONTINUES, cleanup: true },
  };
  const settings = JSON.stringify(model).slice(0, -1);
  const config = {
    tokenizer_class: "PreTrainedTokenizerFast",
    ...{ cls_token: cls, sep_token: sep, unk_token: tokens[unknown] },
    do_lower_case: true,
  };
  const whole = `${JSON.stringify(head).slice(0, -1)},"model":${settings},"vocab":${vocabularyJson(tokens)}}}\n`;
  return {
    "tokenizer.json": new TextEncoder().encode(whole),
    "tokenizer_config.json": new TextEncoder().encode(`${JSON.stringify(config, undefined, 2)}\n`),
  };
}

interface ConfigForm {
  readonly cls_token?: unknown;
  readonly sep_token?: unknown;
  readonly unk_token?: unknown;
}

/** Only what `pieceFiles` writes is read. @throws TOKENIZER_INVALID naming what is wrong in them; FILE_NOT_JSON */
export function readPieceFiles(files: TokenizerFiles): PieceParts {
  const [file, config] = TOKENIZER_FILES.map((name) => readJsonFile(files[name], name) ?? {}) as [
    FileForm,
    ConfigForm,
  ];
  const tokens = tokensOf(file);
  const idOf = (token: unknown): number => tokens.indexOf(String(token));
  const added = listOf(file.added_tokens, "added_tokens") as readonly ({ readonly id?: number } | null)[];
  const parts: PieceParts = {
    tokens,
    first: idOf(config.cls_token),
    last: idOf(config.sep_token),
    unknown: idOf(config.unk_token),
    control: added.map((token) => token?.id ?? -1),
  };
  checkPieces(parts);
  const again = pieceFiles(parts);
  const changed = TOKENIZER_FILES.find((name) => !equalBytes(again[name], files[name]));
  if (changed !== undefined) throw invalid(`${changed} has something besides what a derivation writes`);
  return parts;
}

/** @throws TOKENIZER_INVALID */
export function checkPieces({ tokens, first, last, unknown, control }: PieceParts): void {
  checkTokens(tokens);
  for (const id of [...control, first, last, unknown])
    if (tokens[id] === undefined) throw invalid(`it names the token ${id}, and has ${tokens.length}`);
  const missing = [first, last, unknown].find((id) => !control.includes(id));
  if (missing !== undefined) throw invalid(`token ${missing} stands for no text, and is no control token`);
}
