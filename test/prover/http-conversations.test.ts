/** POST /v1/tools/:name with a conversation: what a model with text answers, and what is refused. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AskedText, answerTextOf, askText, textValues } from "../../agent/sdk/text.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import type { Message } from "../../inference/text/chat.ts";
import { ModelText } from "../../inference/text/model-text.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { type ServedProgram, serveModels } from "../../prover/models.ts";
import { JSON_TYPE, models, post, prover, serveForTests } from "../support/http-prover.ts";
import { documentOf, expectDocumented } from "../support/openapi.ts";
import { tokenizerEntries, tokenizerFilesOf } from "../support/small-tokenizer.ts";
import { writeTalking } from "../support/talking-model.ts";

serveForTests();

const LENGTHS = { prompt: 60, answer: 6 };
const root = mkdtempSync(join(tmpdir(), "assay-conversations-"));
let talking: ServedProgram;
beforeAll(() => {
  const [model] = serveModels([loadModelFolder(writeTalking(root, LENGTHS))]).values();
  talking = model as ServedProgram;
  models.set(talking.id, talking);
});
afterAll(() => {
  models.delete(talking.id);
  rmSync(root, { recursive: true });
});

const ask = (body: object, name: string = talking.id) =>
  post(`/v1/tools/${name}`, JSON.stringify(body), JSON_TYPE);
const messages: readonly Message[] = [{ role: "user", content: "hi" }];
const textOf = ({ text }: ServedProgram): ModelText => text as ModelText;

describe("POST /v1/tools/:name with a conversation", () => {
  test("default: text and ids beside the return data, all of what a claim has", async () => {
    const document = await documentOf(prover.server.url);
    const response = await ask({ messages });
    const answer = (await expectDocumented(document, "POST /v1/tools/{name}", response)) as AskedText;
    const called = { ...talking.function, selector: toHex(talking.selector) };
    const calldata = encodeCall(called, textValues({ function: called }, textOf(talking), messages));
    const output = execute(talking.prepared, fromHex(calldata));
    const { text, ids } = textOf(talking).answerOf(output);
    expect(answer).toMatchObject({ status: "unverified", output: toHex(output), text, ids });
    expect(answer.inputHash).toBe(keccak256(calldata));
    expect(answerTextOf(textOf(talking), answer.output)).toEqual({ text, ids });
    const models = await fetch(`${prover.server.url}/v1/models/${talking.id}`);
    expect(await expectDocumented(document, "GET /v1/models/{id}", models)).toMatchObject({ text: LENGTHS });
  });

  test("args: text is one turn of a user, and numbers by name go on", async () => {
    const { inputHash, text, ids } = (await (await ask({ messages })).json()) as AskedText;
    expect(await (await ask({ text: "hi" })).json()).toMatchObject({ inputHash, text, ids });
    const called = { ...talking.function, selector: toHex(talking.selector) };
    const { prompt } = textValues({ function: called }, textOf(talking), messages) as {
      readonly prompt: readonly bigint[];
    };
    const byName = await ask({ prompt: prompt.map(String) });
    expect(await byName.json()).toMatchObject({ inputHash, text, ids });
  });

  test("behavior: a client of the SDK asks with a conversation", async () => {
    const asked = await askText(talking.id, messages, { url: prover.server.url });
    expect(asked).toMatchObject({ modelId: talking.id, status: "unverified" });
    await expect(askText("none", messages, { url: prover.server.url })).rejects.toMatchObject({
      code: "MODEL_NOT_SERVED",
    });
  });

  test("behavior: an output whose ids are no tokens of the folder is answered without text", async () => {
    const expected = (await (await ask({ messages })).json()) as AskedText;
    const entries = tokenizerEntries(Math.max(...expected.ids));
    models.set(talking.id, { ...talking, text: new ModelText(tokenizerFilesOf(entries), LENGTHS) });
    const response = await ask({ messages });
    models.set(talking.id, talking);
    const { text: _text, ids: _ids, ...others } = expected;
    expect([response.status, await response.json()]).toEqual([200, others]);
  });

  test("error: a chat template that is no Jinja is no fault of the node: 409 TEMPLATE_INVALID", async () => {
    const entries = { ...tokenizerEntries(), "tokenizer.chat_template": ["string", "{% if"] } as const;
    models.set(talking.id, { ...talking, text: new ModelText(tokenizerFilesOf(entries), LENGTHS) });
    const response = await ask({ messages });
    models.set(talking.id, talking);
    const { error } = (await response.json()) as { readonly error: { readonly code: string } };
    expect([response.status, error.code]).toEqual([409, "TEMPLATE_INVALID"]);
  });

  test.each<[string, number, string, object, string?]>([
    ["an unknown role", 400, "MESSAGES_INVALID", { messages: [{ role: "tool", content: "a" }] }],
    ["no message", 400, "MESSAGES_INVALID", { messages: [] }],
    ["a number as text", 400, "MESSAGES_INVALID", { text: 5 }],
    ["too long", 400, "PROMPT_TOO_LONG", { text: "a ".repeat(100) }],
    ["far too long", 400, "PROMPT_TOO_LONG", { text: "a".repeat(5_000) }],
    ["more than a conversation", 400, "INPUTS_INVALID", { messages, text: "a" }],
    ["a model without text", 409, "MODEL_WITHOUT_TEXT", { messages }, "sentiment"],
    ["a text that is an argument", 200, "undefined", { text: "Shares jump" }, "sentiment"],
  ])("error: %s is answered with %d %s", async (_, status, code, body, name) => {
    const response = await ask(body, name);
    const { error } = (await response.json()) as { readonly error?: { readonly code: string } };
    expect([response.status, String(error?.code)]).toEqual([status, code]);
  });
});
