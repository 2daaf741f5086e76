/** What an agent is told of a model with a tokenizer, what it may give, and what it gets. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Model } from "../../agent/sdk/model.ts";
import { pieceValues, textValues } from "../../agent/sdk/text.ts";
import { type TextCallable, textForm, toolOutput, toolSchema, toolValues } from "../../agent/text-values.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { folderText } from "../../inference/text/folder-text.ts";
import { ModelText } from "../../inference/text/model-text.ts";
import type { PieceText } from "../../inference/text/piece-text.ts";
import type { TokenizerFiles } from "../../inference/text/tokenizer-file.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { writeClassifying } from "../support/classifying-model.ts";
import { tokenizerEntries } from "../support/small-tokenizer.ts";
import { talkingLlama, writeTalking } from "../support/talking-model.ts";

const root = mkdtempSync(join(tmpdir(), "assay-text-values-"));
afterAll(() => rmSync(root, { recursive: true }));

function callableIn(folder: string): TextCallable & { readonly run: (calldata: Uint8Array) => Uint8Array } {
  const loaded = loadModelFolder(folder);
  const { abi, assay } = loaded.manifest;
  const [declared] = abi;
  if (declared === undefined) throw new Error("no function");
  const { input, output, inputSize } = assay.codec;
  const prepared = prepare(loaded.model, loaded.selector);
  return {
    function: { ...declared, selector: toHex(loaded.selector) },
    word: { inputCodec: input, outputCodec: output, inputSize },
    tensors: { inputs: assay.inputs, outputs: assay.outputs },
    ...folderText(loaded.tokenizer, assay),
    run: (calldata) => execute(prepared, calldata),
  };
}

const LENGTHS = { prompt: 60, answer: 6 };
const talking = callableIn(writeTalking(join(root, "talking"), LENGTHS));
const classifying = callableIn(writeClassifying(join(root, "classifying")));
const { "tokenizer.chat_template": _template, ...plain } = tokenizerEntries(512);
const untrained = callableIn(writeTalking(join(root, "untrained"), LENGTHS, talkingLlama(plain)));
const numbers = (model: TextCallable): TextCallable => {
  const { text: _text, pieces: _pieces, ...others } = model;
  return others;
};

const user = (content: string) => ({ role: "user", content }) as const;
const namesIn = (model: TextCallable) => Object.keys(toolSchema(model).properties as object);

const circular: Record<string, unknown> = {};
circular.itself = circular;

function refusal(action: () => unknown): string {
  try {
    action();
    return "none";
  } catch (error) {
    if (isBaseError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
}

describe("toolSchema", () => {
  it("default: a conversation with its limit, a text with its limit, and no ids", () => {
    expect(toolSchema(talking)).toMatchObject({
      properties: {
        messages: { type: "array", description: expect.stringContaining("at most 60 ids") },
        text: { type: "string" },
      },
      maxProperties: 1,
    });
    expect(toolSchema(classifying)).toMatchObject({
      properties: { text: { type: "string", description: expect.stringContaining("at most 12 ids") } },
    });
    expect([namesIn(talking), namesIn(classifying)]).toEqual([["messages", "text"], ["text"]]);
  });

  it("behavior: ids where the folder has no tokenizer, and where its model has no conversations", () => {
    for (const model of [numbers(talking), untrained]) expect(namesIn(model)).toEqual(["prompt"]);
    expect(toolSchema(numbers(classifying))).toMatchObject({ properties: { text: { type: "array" } } });
  });

  it("behavior: a parameter of the function comes first", () => {
    const inputs = [{ name: "text", type: "uint256[]" }];
    const named = { ...classifying, function: { ...classifying.function, inputs } };
    expect(toolSchema(named)).toEqual(toolSchema(numbers(named)));
  });
});

describe("toolValues", () => {
  it("default: what the SDK makes of a conversation, of one turn, and of a text", () => {
    const messages = [{ role: "system", content: "be" } as const, user("hi")];
    const text = talking.text as ModelText;
    expect(toolValues(talking, { messages })).toEqual(textValues(talking, text, messages));
    expect(toolValues(talking, { text: "hi" })).toEqual(textValues(talking, text, [user("hi")]));
    const pieces = classifying.pieces as PieceText;
    expect(toolValues(classifying, { text: "a Bab" })).toEqual(pieceValues(classifying, pieces, "a Bab"));
  });

  it("behavior: ids by name go on", () => {
    const prompt = (talking.text as ModelText).prompt([user("hi")]).int16s;
    for (const model of [talking, untrained, numbers(talking)])
      expect(toolValues(model, { prompt })).toEqual(toolValues(talking, { text: "hi" }));
    const ids = (classifying.pieces as PieceText).int16s("a");
    for (const model of [classifying, numbers(classifying)])
      expect(toolValues(model, { text: ids })).toEqual(toolValues(classifying, { text: "a" }));
  });

  it.each<[string, TextCallable, Record<string, unknown>, string]>([
    ["a conversation that is too long", talking, { text: "many words ".repeat(60) }, "the model takes 60"],
    ["a role that there is not", talking, { messages: [{ role: "king" }] }, 'messages[0].role is "king"'],
    ["two forms at once", talking, { text: "a", messages: [] }, "must be messages or text, one alone"],
    [
      "many arguments",
      talking,
      Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`a${i}`, 1])),
      '"a7" and 992 more, must be messages or text',
    ],
    ["nothing", talking, {}, "The arguments are none, must be messages or text"],
    ["a text that is too long", classifying, { text: "a ".repeat(50) }, "the model takes 12"],
    ["a number as text", classifying, { text: 5 }, "text is 5, must be a text"],
    [
      "a conversation of a classifier",
      classifying,
      { messages: [user("a")] },
      'are "messages", must be text',
    ],
    ["a text of a model without conversations", untrained, { text: "hi" }, "no chat template"],
    ["a text of a model without a tokenizer", numbers(talking), { text: "hi" }, "text is unknown"],
    ["a big integer as text", classifying, { text: 5n }, 'text is "5", must be a text'],
    ["a big integer as role", talking, { messages: [{ role: 5n }] }, 'messages[0].role is "5"'],
    ["big integers as ids", talking, { prompt: new Array(60).fill(7n) }, 'prompt[0] is "7", must be a whole'],
    [
      "a content that holds itself",
      talking,
      { text: circular },
      "content is no JSON (object), must be a text",
    ],
    ["null", talking, null as never, "they are null, must be an object"],
    ["a list", classifying, [1] as never, "they are [1], must be an object"],
    [
      "nothing at all, of numbers",
      numbers(talking),
      undefined as never,
      "they are missing, must be an object",
    ],
  ])("error: %s", (_, model, args, words) => {
    expect(refusal(() => toolValues(model, args))).toContain(words);
  });
});

describe("toolOutput", () => {
  const calldata = fromHex(encodeCall(talking.function, toolValues(talking, { text: "hi" })));
  const output = talking.run(calldata);

  it("default: the answer's text, with the ids that are claimed beside it", () => {
    const { text, ids } = (talking.text as ModelText).answerOf(output);
    expect(toolOutput(talking, toHex(output))).toEqual({ data: { text }, ids });
    expect(toolOutput(untrained, toHex(output))).toEqual({ data: { text }, ids });
  });

  it("behavior: numbers where there is no tokenizer, and for an id that no token has", () => {
    const shown = toolOutput(numbers(talking), toHex(output));
    expect(shown).toEqual({ data: { answer: expect.any(Array) } });
    const wrong = output.slice();
    // The first id: 40,000.
    wrong.set([0x1c, 0x40], 64);
    expect(toolOutput(talking, toHex(wrong))).toEqual({ data: { answer: expect.arrayContaining([7_232]) } });
    const scores = classifying.run(
      fromHex(encodeCall(classifying.function, toolValues(classifying, { text: "a" }))),
    );
    expect(Object.keys(toolOutput(classifying, toHex(scores)).data as object)).toEqual(["down", "up"]);
  });
});

describe("textForm", () => {
  it("default: arguments and outputs of finalTool are those of the tools of assay mcp", () => {
    const asked: [TextCallable & { run: (calldata: Uint8Array) => Uint8Array }, Record<string, unknown>][] = [
      [talking, { messages: [user("ab")] }],
      [classifying, { text: "a Bab" }],
    ];
    for (const [model, args] of asked) {
      const { text, pieces, ...plainModel } = model;
      const form = textForm(plainModel as unknown as Model, (text ?? pieces) as ModelText | PieceText);
      expect(form.parameters).toEqual(toolSchema(model));
      const values = form.valuesOf(args);
      expect(values).toEqual(toolValues(model, args));
      const output = toHex(model.run(fromHex(encodeCall(model.function, values))));
      const { data, ...read } = toolOutput(model, output);
      expect(form.outputOf(output)).toEqual({ values: data, ...read });
      expect(form.outputOf(output).ids === undefined).toBe(text === undefined);
    }
  });

  it("error: a text that was opened for a model of another length", () => {
    const { text, ...model } = talking;
    const { tokenizer } = loadModelFolder(join(root, "talking", "model"));
    const longer = new ModelText(tokenizer as TokenizerFiles, { prompt: 600, answer: 6 });
    expect(refusal(() => textForm(model as unknown as Model, longer))).toContain(
      "TEXT_MISMATCH: The text was opened for inputs of 600 ids, the model has 60.",
    );
    const { pieces, ...classifier } = classifying;
    expect(refusal(() => textForm(classifier as unknown as Model, text as ModelText))).toContain(
      "model has 12",
    );
    expect(refusal(() => textForm(model as unknown as Model, pieces as PieceText))).toContain("model has 60");
  });
});
