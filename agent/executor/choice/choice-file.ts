/** What a FinalChoiceExecutor is made of, written in words: a JSON file, and the model's tokenizer. */
import { type Address, encodeAbiParameters, type Hex, isAddress, zeroAddress } from "viem";
import { z } from "zod";
import { toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { tokenBytes } from "../../../inference/text/byte-level.ts";
import type { Tokenizer } from "../../../inference/text/tokenizer.ts";
import { readToolInput, TOOL_INPUT } from "../engine/tool-input.ts";
import type { Tool } from "../tool.ts";

/** In the order of the contract's enum. */
export const CHOICE_KINDS = ["TOOL", "TOOL_WITH_QUESTION", "ANSWER", "ANSWER_WITH_RESULT"] as const;

const address = z.custom<Address>((value) => isAddress(value as string, { strict: false }), "is no address");
const CHOICE = z.strictObject({
  /** the text of one token */
  token: z.string(),
  kind: z.enum(CHOICE_KINDS),
  text: z.string(),
  tool: address.optional(),
  /** of TOOL: values by the names of the tool's parameters, as an action input */
  input: z.array(z.strictObject({ name: z.string(), value: z.json() })).optional(),
  recall: z.string().default(""),
});
const CHOICE_FILE = z.strictObject({
  opening: z.string(),
  closing: z.string(),
  questionBytes: z.int().min(0).max(65_535),
  resultBytes: z.int().min(0).max(65_535),
  refusal: z.string(),
  choices: z.array(CHOICE).min(1).max(16),
});

/** In opening, closing and recall, names of control tokens, such as `<|end|>`, stand for these. */
export type ChoiceFile = z.infer<typeof CHOICE_FILE>;

/** @param path for the message @throws BaseError CHOICES_INVALID */
export function parseChoiceFile(value: unknown, path: string): ChoiceFile {
  const parsed = CHOICE_FILE.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(`${path}: $${issue?.path.map((part) => `.${String(part)}`).join("")} ${issue?.message}`);
}

/** The constructor's arguments after the first two of its terms.
 *  @param tools that the file names, as they say of themselves
 *  @throws BaseError CHOICES_INVALID, TEXT_NOT_ENCODABLE, ACTION_INPUT_INVALID */
export function encodeChoices(file: ChoiceFile, tokenizer: Tokenizer, tools: readonly Tool[]) {
  const ids = (text: string): Hex => packed(fixedIds(tokenizer, text));
  const { questionBytes, resultBytes, refusal } = file;
  const choices = file.choices.map((choice, index) => {
    const { kind, text } = choice;
    const tool = tools.find((each) => each.address.toLowerCase() === choice.tool?.toLowerCase());
    if (kind.startsWith("TOOL") !== (tool !== undefined))
      throw invalid(`choice ${index}, ${kind}, ${tool ? "takes no tool" : "needs a tool"}`);
    if ((kind === "TOOL") !== (choice.input !== undefined))
      throw invalid(`choice ${index}, ${kind}, ${choice.input ? "takes no input" : "needs an input"}`);
    const takesText = tool?.params.length === 1 && tool.params[0]?.type === "STRING";
    if (kind === "TOOL_WITH_QUESTION" && !takesText)
      throw invalid(`choice ${index}: ${tool?.name} takes something else than one text`);
    const input =
      tool === undefined || choice.input === undefined
        ? "0x"
        : encodeAbiParameters([TOOL_INPUT], [readToolInput(tool, JSON.stringify(choice.input)).input]);
    const id = oneId(tokenizer, choice.token, index);
    const recall = ids(choice.recall);
    return {
      ...{ id, kind: CHOICE_KINDS.indexOf(kind), tool: tool?.address ?? zeroAddress },
      ...{ text, input, recall },
    };
  });
  const prompt = { opening: ids(file.opening), closing: ids(file.closing), byteIds: byteIds(tokenizer) };
  return { terms: { ...prompt, questionBytes, resultBytes, refusal }, choices };
}

/** Ids of a text that its owner wrote: names of control tokens are these tokens. */
function fixedIds(tokenizer: Tokenizer, text: string): number[] {
  const names = [...tokenizer.control.keys()].sort((a, b) => b.length - a.length);
  const found = names
    .map((name) => ({ name, start: text.indexOf(name) }))
    .filter(({ start }) => start !== -1)
    .reduce<{ name: string; start: number } | undefined>(
      (first, each) => (first === undefined || each.start < first.start ? each : first),
      undefined,
    );
  if (found === undefined) return text === "" ? [] : tokenizer.ids(text);
  const { name, start } = found;
  const before = start === 0 ? [] : tokenizer.ids(text.slice(0, start));
  const own = tokenizer.control.get(name) as number;
  return [...before, own, ...fixedIds(tokenizer, text.slice(start + name.length))];
}

/** The id of each byte alone, by which the contract writes what others say. */
function byteIds({ parts: { tokens } }: Tokenizer): Hex {
  const ids = new Map<number, number>();
  for (const [id, token] of tokens.entries()) {
    const bytes = tokenBytes(token);
    if (bytes?.length === 1) ids.set(bytes[0] as number, id);
  }
  return packed(
    Array.from({ length: 256 }, (_, byte) => {
      const id = ids.get(byte);
      if (id === undefined) throw invalid(`the model's vocabulary has no token of the byte ${byte} alone`);
      return id;
    }),
  );
}

function oneId(tokenizer: Tokenizer, token: string, index: number): number {
  const ids = fixedIds(tokenizer, token);
  if (ids.length === 1) return ids[0] as number;
  throw invalid(
    `choice ${index}: ${JSON.stringify(token)} is ${ids.length} tokens of the model, must be one`,
  );
}

/** Two bytes each. */
const packed = (ids: readonly number[]): Hex =>
  toHex(Uint8Array.from(ids.flatMap((id) => [id >> 8, id & 255])));

const invalid = (what: string): BaseError =>
  new BaseError({
    code: "CHOICES_INVALID",
    shortMessage: `The choices are not usable: ${what}.`,
    nextStep: "Correct the file; docs/EXECUTOR.md says what it holds.",
  });
