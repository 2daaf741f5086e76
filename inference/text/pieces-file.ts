/** tokenizer.json and tokenizer_config.json of a classifier's folder, in the form of Hugging Face's: word pieces, as BERT's
 *  uncased models have them. What a text becomes hangs on them, so that nothing in them is taken that is not known. */
import { readJsonFile } from "../manifest/json-file.ts";
import {
  addedTokens,
  checkTokens,
  controlOf,
  type FileForm,
  invalid,
  requireWritten,
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

/** @returns whether the files have word pieces, by the smaller one. @throws FILE_NOT_JSON */
export const havePieces = (files: TokenizerFiles): boolean =>
  (readJsonFile(files["tokenizer_config.json"], "tokenizer_config.json") as ConfigForm | null)?.cls_token !==
  undefined;

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
  const { normalizer, pre_tokenizer, model } = encoderParts(parts);
  const [cls, sep] = [tokens[first] as string, tokens[last] as string];
  const special = (id: number, token: string) => ({ id: token, ids: [id], tokens: [token] });
  const head = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: addedTokens(tokens, control),
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
  const parts: PieceParts = {
    tokens,
    first: idOf(config.cls_token),
    last: idOf(config.sep_token),
    unknown: idOf(config.unk_token),
    control: controlOf(file),
  };
  checkPieces(parts);
  requireWritten(files, pieceFiles(parts));
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
