/** The tokenizer of a GGUF file as tokenizer.json and tokenizer_config.json, so that a derived model's folder has text without the file. */
import { CONTINUES, checkPieces, type PieceParts, pieceFiles } from "../text/pieces-file.ts";
import { SPLITTING_NAMES } from "../text/splitting.ts";
import {
  checkParts,
  invalid,
  type TokenizerFiles,
  type TokenizerParts,
  tokenizerFiles,
} from "../text/tokenizer-file.ts";
import type { Gguf } from "./gguf.ts";

/** The files, or why there are none: the model then reads and gives ids alone. */
export type DerivedText = { readonly files: TokenizerFiles } | { readonly without: string };

const MODEL = "gpt2";
/** Of `tokenizer.ggml.token_type`. */
const KINDS = { normal: 1, control: 3, unused: 5 } as const;

/** @param vocabulary ids that the model has
 *  @throws TOKENIZER_INVALID for a tokenizer of a known kind that is not whole, naming the token, the merge or the entry */
export function derivedText({ metadata }: Gguf, vocabulary: number): DerivedText {
  const entry = (name: string) => metadata.get(`tokenizer.ggml.${name}`);
  const [model, splitting] = [entry("model"), entry("pre")];
  if (model !== MODEL)
    return { without: `the file's tokenizer.ggml.model is ${shown(model)}, only ${MODEL} is read` };
  if (!SPLITTING_NAMES.includes(String(splitting)))
    return {
      without: `the file's tokenizer.ggml.pre is ${shown(splitting)}, only ${SPLITTING_NAMES.join(" and ")} are read`,
    };
  const types = list(entry("token_type"), "number", "token_type") as number[];
  const tokens = list(entry("tokens"), "string", "tokens") as string[];
  if (tokens.length !== vocabulary || types.length !== vocabulary)
    throw invalid(
      `it has ${tokens.length} tokens and the types of ${types.length}, the model has ${vocabulary} ids`,
    );
  const strange = types.findIndex((type) => !(Object.values(KINDS) as number[]).includes(type));
  if (strange !== -1)
    return {
      without: `token ${strange} of the file has the type ${types[strange]}, only ${Object.values(KINDS).join(", ")} are read`,
    };
  const [begin, template] = [entry("bos_token_id"), metadata.get("tokenizer.chat_template")];
  const parts: TokenizerParts = {
    tokens,
    merges: (list(entry("merges"), "string", "merges") as string[]).map(pairOf),
    control: [...types.keys()].filter((id) => types[id] === KINDS.control),
    splitting: String(splitting),
    end: Number(entry("eos_token_id")),
    ...(begin === undefined ? {} : { begin: Number(begin) }),
    ...(template === undefined ? {} : { template: String(template) }),
  };
  checkParts(parts);
  return { files: tokenizerFiles(parts) };
}

const PIECES = "bert";
/** In GGUF files a piece that begins a word has this in front, and one that does not has nothing. */
const BEGINS = "\u2581";

/** The same of a classifier's word pieces. Source: how llama.cpp writes BERT's tokens.
 *  @param vocabulary ids that the model has
 *  @throws TOKENIZER_INVALID for a tokenizer of that kind that is not whole, naming the token or the entry */
export function derivedPieces({ metadata }: Gguf, vocabulary: number): DerivedText {
  const entry = (name: string) => metadata.get(`tokenizer.ggml.${name}`);
  const model = entry("model");
  if (model !== PIECES)
    return { without: `the file's tokenizer.ggml.model is ${shown(model)}, only ${PIECES} is read` };
  const types = list(entry("token_type"), "number", "token_type") as number[];
  const stored = list(entry("tokens"), "string", "tokens") as string[];
  if (stored.length !== vocabulary || types.length !== vocabulary)
    throw invalid(
      `it has ${stored.length} tokens and the types of ${types.length}, the model has ${vocabulary} ids`,
    );
  const isControl = (id: number) => types[id] !== KINDS.normal;
  const named = (token: string, id: number): string => {
    if (isControl(id)) return token;
    return token.startsWith(BEGINS) ? token.slice(BEGINS.length) : `${CONTINUES}${token}`;
  };
  const parts: PieceParts = {
    tokens: stored.map(named),
    first: Number(entry("cls_token_id") ?? entry("bos_token_id")),
    last: Number(entry("seperator_token_id") ?? entry("separator_token_id")),
    unknown: Number(entry("unknown_token_id")),
    control: [...types.keys()].filter(isControl),
  };
  checkPieces(parts);
  return { files: pieceFiles(parts) };
}

/** @throws TOKENIZER_INVALID */
function list(value: unknown, type: "number" | "string", name: string): readonly unknown[] {
  if (Array.isArray(value) && value.every((element) => typeof element === type)) return value;
  throw invalid(`its entry tokenizer.ggml.${name} is no list of ${type}s`);
}

/** @throws TOKENIZER_INVALID */
function pairOf(merge: string, i: number): readonly [string, string] {
  const [left, right, ...rest] = merge.split(" ");
  if (left !== undefined && right !== undefined && rest.length === 0) return [left, right];
  throw invalid(`merge ${i}, ${shown(merge)}, is no pair of tokens with a space between them`);
}

const shown = (value: unknown): string =>
  value === undefined ? "absent" : JSON.stringify(String(value).slice(0, 40));
