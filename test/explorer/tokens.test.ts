/** Tokens beside a language model's calldata and return data, which anybody may have sent. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pieceValues, textValues } from "../../agent/sdk/text.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { SILENT } from "../../base/log.ts";
import { Library } from "../../explorer/library.ts";
import { tokensOf } from "../../explorer/read/tokens.ts";
import { execute } from "../../inference/executor/execute.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import type { ModelText } from "../../inference/text/model-text.ts";
import type { PieceText } from "../../inference/text/piece-text.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { type ServedProgram, serveModels } from "../../prover/models.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { writeClassifying } from "../support/classifying-model.ts";
import { writeTalking } from "../support/talking-model.ts";

const root = mkdtempSync(join(tmpdir(), "assay-tokens-"));
let library: Library;
let talking: ServedProgram;
let classifying: ServedProgram;
const called = (model: ServedProgram) => ({ ...model.function, selector: toHex(model.selector) });
let calldata: Hex;
beforeAll(() => {
  const folder = writeTalking(root, { prompt: 60, answer: 6 });
  [talking] = serveModels([loadModelFolder(folder)]).values() as unknown as [ServedProgram];
  const other = writeClassifying(join(root, "classifier"));
  [classifying] = serveModels([loadModelFolder(other)]).values() as unknown as [ServedProgram];
  library = new Library([root, join(projectRoot, "models")], SILENT, () => Promise.reject(new Error("none")));
  const messages = [{ role: "user", content: "hé 🎉" }] as const;
  calldata = encodeCall(
    called(talking),
    textValues({ function: called(talking) }, talking.text as ModelText, messages),
  );
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

  test("default: a classifier's pieces; its scores are no tokens, whatever they look like", async () => {
    const values = pieceValues({ function: called(classifying) }, classifying.pieces as PieceText, "a Bab");
    const sent = `0x${encodeCall(called(classifying), values).slice(10)}` as Hex;
    const found = await tokensOf(library, classifying.id, sent, "inputs");
    expect(found?.map(({ text }) => text)).toEqual(["[CLS]", " a", " b", "a", "b", "[SEP]"]);
    expect(found?.map(({ isControl }) => isControl === true)).toEqual([
      true,
      false,
      false,
      false,
      false,
      true,
    ]);
    // Two scores that are also a list of no words.
    const scores = `0x${"20".padStart(64, "0")}${"".padStart(64, "0")}` as const;
    expect(await tokensOf(library, classifying.id, scores, "outputs")).toBeUndefined();
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
