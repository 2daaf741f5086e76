/** Files of choices: what they become by the tokenizer of models/choice, and what is refused. */
import { type Hex, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import {
  CHOICE_KINDS,
  type ChoiceFile,
  encodeChoices,
  parseChoiceFile,
} from "../../../../agent/executor/choice/choice-file.ts";
import type { Tool } from "../../../../agent/executor/tool.ts";
import { isBaseError } from "../../../../base/errors.ts";
import { choiceText } from "../../../../cli/demo/final-choices.ts";

const { tokenizer } = choiceText();
const TOOL = "0x00000000000000000000000000000000000000A1";
const OTHER = "0x00000000000000000000000000000000000000a2";
const param = (name: string, type: "STRING" | "UINT") => ({
  name,
  type,
  description: name,
  required: true,
});
const tools: readonly Tool[] = [
  { address: TOOL, name: "sentiment", description: "of a text", params: [param("text", "STRING")] },
  { address: OTHER, name: "price", description: "of a day", params: [param("day", "UINT")] },
] as readonly Tool[];

const base = {
  opening: "<|rule|>Hi<|question|>",
  closing: "<|choice|>",
  questionBytes: 72,
  resultBytes: 32,
  refusal: "Nothing.",
  choices: [
    { token: "T", kind: "TOOL_WITH_QUESTION", tool: TOOL.toLowerCase(), text: "Look.", recall: "<|result|>" },
    { token: "B", kind: "ANSWER", text: "Buy." },
  ],
};

/** Numbers of two bytes. */
const idsOf = (packed: Hex): number[] =>
  (packed.slice(2).match(/.{4}/g) ?? []).map((digits) => Number.parseInt(digits, 16));
const encoded = (value: unknown) => encodeChoices(parseChoiceFile(value, "choices.json"), tokenizer, tools);
const withChoice = (change: object, index = 0) => ({
  ...base,
  choices: base.choices.map((choice, i) => (i === index ? { ...choice, ...change } : choice)),
});

function refusal(value: unknown): string {
  try {
    encoded(value);
    return "taken";
  } catch (error) {
    if (isBaseError(error)) return `${error.code}: ${error.shortMessage}`;
    throw error;
  }
}

describe("encodeChoices", () => {
  it("default: names of control tokens are these tokens, other text is bytes, and each byte has its id", () => {
    const { terms, choices } = encoded(base);
    const control = (name: string) => tokenizer.control.get(name) as number;
    expect(idsOf(terms.opening)).toEqual([
      control("<|rule|>"),
      ...[..."Hi"].map((letter) => letter.charCodeAt(0)),
      control("<|question|>"),
    ]);
    expect(idsOf(terms.closing)).toEqual([control("<|choice|>")]);
    expect(idsOf(terms.byteIds)).toEqual(Array.from({ length: 256 }, (_, byte) => byte));
    expect(choices).toEqual([
      {
        ...{ id: 84, kind: CHOICE_KINDS.indexOf("TOOL_WITH_QUESTION"), tool: TOOL },
        ...{ text: "Look.", input: "0x", recall: expect.any(String) },
      },
      {
        id: 66,
        kind: CHOICE_KINDS.indexOf("ANSWER"),
        tool: zeroAddress,
        text: "Buy.",
        input: "0x",
        recall: "0x",
      },
    ]);
    expect(idsOf(choices[0]?.recall as Hex)).toEqual([control("<|result|>")]);
  });

  it("behavior: a tool with an input of its own has it as the tool reads it", () => {
    const { choices } = encoded(
      withChoice({ kind: "TOOL", tool: OTHER, input: [{ name: "day", value: 7 }], recall: "" }),
    );
    expect(BigInt(`0x${choices[0]?.input.slice(-64)}`)).toBe(7n);
  });

  it.each<[string, unknown, string]>([
    ["no object", 5, "CHOICES_INVALID"],
    ["a name that it does not have", { ...base, extra: 1 }, "CHOICES_INVALID"],
    ["no choices", { ...base, choices: [] }, "$.choices"],
    ["too many choices", { ...base, choices: new Array(17).fill(base.choices[1]) }, "$.choices"],
    ["too large a question", { ...base, questionBytes: 65_536 }, "$.questionBytes"],
    ["a kind that there is not", withChoice({ kind: "GUESS" }), "$.choices.0.kind"],
    ["a tool that is no address", withChoice({ tool: "0x12" }), "$.choices.0.tool"],
    ["a token of two", withChoice({ token: "To" }), 'choice 0: "To" is 2 tokens of the model'],
    ["a token of none", withChoice({ token: "" }), "is 0 tokens of the model"],
    [
      "a tool that nobody read",
      withChoice({ tool: "0x00000000000000000000000000000000000000b1" }),
      "needs a tool",
    ],
    ["a tool in an answer", withChoice({ tool: TOOL }, 1), "choice 1, ANSWER, takes no tool"],
    ["an input beside the question", withChoice({ input: [] }), "takes no input"],
    ["a tool without its input", withChoice({ kind: "TOOL" }), "needs an input"],
    [
      "a question to a tool of numbers",
      withChoice({ tool: OTHER }),
      "price takes something else than one text",
    ],
    [
      "an input that the tool has not",
      withChoice({ kind: "TOOL", input: [{ name: "x", value: "a" }] }),
      "ACTION_INPUT_INVALID",
    ],
  ])("error: %s", (_, value, named) => {
    const found = refusal(value);
    expect(found).toContain(named);
    expect(found).not.toBe("taken");
  });
});

describe("parseChoiceFile", () => {
  it("default: what is left out is what the document says", () => {
    const file: ChoiceFile = parseChoiceFile(base, "choices.json");
    expect(file.choices.map(({ recall }) => recall)).toEqual(["<|result|>", ""]);
  });
});
