/** Tokens beside a language model's calldata and return data, which anybody may have sent. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { textValues } from "../../agent/sdk/text.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { SILENT } from "../../base/log.ts";
import { Library } from "../../explorer/library.ts";
import { tokensOf } from "../../explorer/read/tokens.ts";
import { execute } from "../../inference/executor/execute.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import type { ModelText } from "../../inference/text/model-text.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { type ServedProgram, serveModels } from "../../prover/models.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { writeTalking } from "../support/talking-model.ts";

const root = mkdtempSync(join(tmpdir(), "assay-tokens-"));
let library: Library;
let talking: ServedProgram;
let calldata: Hex;
beforeAll(() => {
  const folder = writeTalking(root, { prompt: 60, answer: 6 });
  [talking] = serveModels([loadModelFolder(folder)]).values() as unknown as [ServedProgram];
  library = new Library([root, join(projectRoot, "models")], SILENT, () => Promise.reject(new Error("none")));
  const called = { ...talking.function, selector: toHex(talking.selector) };
  const messages = [{ role: "user", content: "hé 🎉" }] as const;
  calldata = encodeCall(called, textValues({ function: called }, talking.text as ModelText, messages));
});
afterAll(() => rmSync(root, { recursive: true }));

const body = () => `0x${calldata.slice(10)}` as Hex;

describe("tokensOf", () => {
  test("default: the conversation with the names of control tokens, and the answer", async () => {
    const prompt = await tokensOf(library, talking.id, body(), "inputs");
    const { tokenizer, ...text } = talking.text as ModelText;
    expect(text.lengths).toEqual({ prompt: 60, answer: 6 });
    expect(prompt?.map(({ id }) => id)).toEqual(
      (talking.text as ModelText).ids([{ role: "user", content: "hé 🎉" }]),
    );
    expect(prompt?.map(({ text }) => text).join("")).toContain("hé 🎉");
    const control = prompt?.filter(({ isControl }) => isControl === true) ?? [];
    expect(control.length).toBeGreaterThan(0);
    for (const { id, text } of control) expect(tokenizer.control.get(text)).toBe(id);
    const output = execute(talking.prepared, fromHex(calldata));
    const answer = await tokensOf(library, talking.id, toHex(output), "outputs");
    expect(answer?.map(({ id }) => id)).toEqual((talking.text as ModelText).answerOf(output).ids);
  });

  test("behavior: a place is that of the data, also behind one without an id", async () => {
    const output = execute(talking.prepared, fromHex(calldata)).slice();
    output.set([0x7f, 0xff], 64);
    const answer = await tokensOf(library, talking.id, toHex(output), "outputs");
    expect(answer?.[0]?.place).toBe(1);
  });

  test("error: data that hold no ids of the model have no tokens", async () => {
    expect(await tokensOf(library, talking.id, "0x", "outputs")).toBeUndefined();
    expect(await tokensOf(library, talking.id, "0x1234", "outputs")).toBeUndefined();
    // An id that no token has: 40,000.
    const unknown = body().replaceAll("7fff", "1c40") as Hex;
    expect(await tokensOf(library, talking.id, unknown, "inputs")).toBeUndefined();
    expect(await tokensOf(library, talking.id, body(), "outputs")).toBeUndefined();
  });

  test("behavior: a model without a tokenizer, and one that is not here, have none", async () => {
    const [other] = [...library.models].filter(({ id }) => id !== talking.id);
    expect(await tokensOf(library, other?.id as Hex, body(), "inputs")).toBeUndefined();
    expect(await tokensOf(library, `0x${"00".repeat(32)}`, body(), "inputs")).toBeUndefined();
  });
});
