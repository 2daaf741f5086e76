/** tokenizer.json and tokenizer_config.json of a model's folder, in the form of Hugging Face's. What a text becomes hangs on
 *  them, so that nothing in them is taken that is not known. */
import { equalBytes } from "../../base/bytes.ts";
import { readJsonFile } from "../manifest/json-file.ts";
import { fail } from "../onnx/fail.ts";
import { BYTE_CHARACTERS, tokenBytes } from "./byte-level.ts";
import { SPLITTING_NAMES, splittingOf } from "./splitting.ts";

export const TOKENIZER_FILES = ["tokenizer.json", "tokenizer_config.json"] as const;
/** Content by name. */
export type TokenizerFiles = Readonly<Record<(typeof TOKENIZER_FILES)[number], Uint8Array>>;

export interface TokenizerParts {
  /** by id */
  readonly tokens: readonly string[];
  /** pairs of tokens, the first one comes first */
  readonly merges: readonly (readonly [string, string])[];
  /** ids of tokens that no text becomes, such as the end of a turn */
  readonly control: readonly number[];
  /** one of SPLITTING_NAMES */
  readonly splitting: string;
  /** id that ends an answer */
  readonly end: number;
  /** id in front of a text; absent where the file names none */
  readonly begin?: number;
  /** Jinja; absent where the model is not for conversations */
  readonly template?: string;
}

/** More are not read. Tokens: what 16 bits hold, but the one that stands for nothing. A token and the template in UTF-16 units. */
export const MOST = { tokens: 2 ** 16 - 1, merges: 2 ** 18, token: 2 ** 10, template: 2 ** 16 } as const;

/** The same parts give the same bytes. */
export function tokenizerFiles(parts: TokenizerParts): TokenizerFiles {
  const { tokens, merges, control, splitting, end, begin, template } = parts;
  const special = (id: number | undefined) => (id === undefined ? null : (tokens[id] as string));
  const head = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: addedTokens(tokens, control),
    normalizer: null,
    pre_tokenizer: splittingOf(splitting),
    post_processor: null,
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
  };
  const settings = { type: "BPE", ...BPE_SETTINGS, merges };
  const model = `${JSON.stringify(settings).slice(0, -1)},"vocab":${vocabularyJson(tokens)}}`;
  const config = {
    tokenizer_class: "PreTrainedTokenizerFast",
    ...{ bos_token: special(begin), eos_token: special(end) },
    clean_up_tokenization_spaces: false,
    ...(template === undefined ? {} : { chat_template: template }),
  };
  return {
    "tokenizer.json": bytesOf(`${JSON.stringify(head).slice(0, -1)},"model":${model}}\n`),
    "tokenizer_config.json": bytesOf(`${JSON.stringify(config, undefined, 2)}\n`),
  };
}

const CONTROL = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };

/** Control tokens, as tokenizer.json has them. @param control ids */
export const addedTokens = (tokens: readonly string[], control: readonly number[]) =>
  control.map((id) => ({ id, content: tokens[id], ...CONTROL }));

/** Written one by one: an object would put names that are numbers in front, and lose __proto__. */
export const vocabularyJson = (tokens: readonly string[]): string =>
  `{${tokens.map((token, id) => `${JSON.stringify(token)}:${id}`).join()}}`;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const BPE_SETTINGS = {
  dropout: null,
  unk_token: null,
  continuing_subword_prefix: null,
  end_of_word_suffix: null,
  fuse_unk: false,
  byte_fallback: false,
  ignore_merges: false,
} as const;

export interface FileForm {
  readonly added_tokens?: unknown;
  readonly pre_tokenizer?: unknown;
  readonly model?: {
    readonly vocab?: Readonly<Record<string, number>>;
    readonly merges?: unknown;
  };
}

interface ConfigForm {
  readonly chat_template?: unknown;
  readonly bos_token?: unknown;
  readonly eos_token?: unknown;
}

/** Only what `tokenizerFiles` writes is read. @throws TOKENIZER_INVALID naming what is wrong in them; FILE_NOT_JSON */
export function readTokenizerFiles(files: TokenizerFiles): TokenizerParts {
  const [file, config] = TOKENIZER_FILES.map((name) => readJsonFile(files[name], name) ?? {}) as [
    FileForm,
    ConfigForm,
  ];
  const tokens = tokensOf(file);
  const idOf = (token: unknown): number | undefined =>
    token === null || token === undefined ? undefined : tokens.indexOf(String(token));
  const splitting = SPLITTING_NAMES.find(
    (name) => JSON.stringify(splittingOf(name)) === JSON.stringify(file.pre_tokenizer),
  );
  if (splitting === undefined)
    throw invalid(`its pre_tokenizer is none of those of ${SPLITTING_NAMES.join(", ")}`);
  const { chat_template: template, bos_token, eos_token } = config;
  const begin = idOf(bos_token);
  const parts: TokenizerParts = {
    tokens,
    merges: listOf(file.model?.merges, "merges") as TokenizerParts["merges"],
    control: controlOf(file),
    splitting,
    end: idOf(eos_token) ?? -1,
    ...(begin === undefined ? {} : { begin }),
    ...(template === undefined ? {} : { template: String(template) }),
  };
  checkParts(parts);
  requireWritten(files, tokenizerFiles(parts));
  return parts;
}

/** Ids of control tokens; -1 for one without. @throws TOKENIZER_INVALID */
export const controlOf = ({ added_tokens }: FileForm): number[] =>
  (listOf(added_tokens, "added_tokens") as readonly ({ readonly id?: unknown } | null)[]).map((token) =>
    Number.isInteger(token?.id) ? (token?.id as number) : -1,
  );

/** @param again what is written of all that was read @throws TOKENIZER_INVALID where that is not all that is there */
export function requireWritten(files: TokenizerFiles, again: TokenizerFiles): void {
  const changed = TOKENIZER_FILES.find((name) => !equalBytes(again[name], files[name]));
  if (changed !== undefined) throw invalid(`${changed} has something besides what a derivation writes`);
}

/** @returns by id @throws TOKENIZER_INVALID */
export function tokensOf({ model }: FileForm): string[] {
  const vocabulary = Object.entries(model?.vocab ?? {});
  if (vocabulary.length > MOST.tokens) throw tooMany("tokens", vocabulary.length, MOST.tokens);
  const tokens = new Array<string>(vocabulary.length);
  for (const [token, id] of vocabulary) {
    if (!Number.isInteger(id) || id < 0 || id >= tokens.length)
      throw invalid(`token ${shown(token)} has the id ${id}, must be one below ${tokens.length}`);
    if (tokens[id] !== undefined)
      throw invalid(`${shown(token)} and ${shown(tokens[id])} both have the id ${id}`);
    tokens[id] = token;
  }
  return tokens;
}

/** In no text that is well-formed: what stands in for characters of messages while a chat template is filled. */
const HALF = /\p{Surrogate}/u;

/** @returns ids by token @throws TOKENIZER_INVALID naming the token or the limit */
export function checkTokens(tokens: readonly string[]): ReadonlyMap<string, number> {
  if (tokens.length > MOST.tokens) throw tooMany("tokens", tokens.length, MOST.tokens);
  const ids = new Map<string, number>();
  for (const [id, token] of tokens.entries()) {
    if (token.length === 0 || token.length > MOST.token)
      throw invalid(`token ${id} has ${token.length} characters, must have 1 to ${MOST.token}`);
    if (HALF.test(token)) throw invalid(`token ${id} has half of a surrogate pair`);
    if (ids.has(token)) throw invalid(`tokens ${ids.get(token)} and ${id} are both ${shown(token)}`);
    ids.set(token, id);
  }
  return ids;
}

/** @throws TOKENIZER_INVALID naming the token, the merge or the limit */
export function checkParts({ tokens, merges, control, end, begin, template }: TokenizerParts): void {
  if (merges.length > MOST.merges) throw tooMany("merges", merges.length, MOST.merges);
  if ((template?.length ?? 0) > MOST.template)
    throw tooMany("characters of a chat template", template?.length ?? 0, MOST.template);
  if (template !== undefined && HALF.test(template))
    throw invalid("its chat template has half of a surrogate pair");
  const ids = checkTokens(tokens);
  const isControl = new Set(control);
  for (const id of [...control, end, ...(begin === undefined ? [] : [begin])])
    if (tokens[id] === undefined) throw invalid(`it names the token ${id}, and has ${tokens.length}`);
  if (!isControl.has(end))
    throw invalid(`token ${end}, ${shown(tokens[end])}, ends an answer and is no control token`);
  for (const [id, token] of tokens.entries()) {
    if (isControl.has(id) ? BYTE_CHARACTERS.includes(token) : tokenBytes(token) === undefined)
      throw invalid(
        isControl.has(id)
          ? `control token ${id} is the byte ${shown(token)}, so that a text could hold it`
          : `token ${id}, ${shown(token)}, has a character that stands for no byte`,
      );
  }
  const seen = new Set<string>();
  for (const [i, pair] of merges.entries()) {
    if (!Array.isArray(pair) || pair.length !== 2) throw invalid(`merge ${i} is no pair of tokens`);
    const [left, right] = pair as readonly [string, string];
    for (const token of [left, right, `${left}${right}`])
      if (!ids.has(token)) throw invalid(`merge ${i} names ${shown(token)}, which is no token`);
    if (isControl.has(ids.get(left + right) as number))
      throw invalid(
        `merge ${i} gives the control token ${shown(left + right)}, so that a text could hold it`,
      );
    const key = `${left} ${right}`;
    if (seen.has(key)) throw invalid(`merge ${i}, ${shown(key)}, is there twice`);
    seen.add(key);
  }
}

/** @throws TOKENIZER_INVALID */
function listOf(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid(`its ${name} are no list`);
}

const shown = (text: unknown): string => JSON.stringify(String(text).slice(0, 40));

const tooMany = (what: string, count: number, most: number) =>
  invalid(`it has ${count} ${what}, at most ${most} are read`);

/** @param what is wrong with it */
export const invalid = (what: string) =>
  fail(
    "TOKENIZER_INVALID",
    `The tokenizer cannot be used: ${what}.`,
    "Take the file that the model was derived from.",
  );
