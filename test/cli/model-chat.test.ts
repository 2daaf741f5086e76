/** `assay model chat`: answers of a small model in text, what is written when, and who else may answer. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { Command } from "commander";
import { keccak256 } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { addModelCommands } from "../../cli/model/commands.ts";
import { reportError } from "../../cli/output.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import type { Message } from "../../inference/text/chat.ts";
import { ModelText, textLengths } from "../../inference/text/model-text.ts";
import { talkingLlama, writeTalking } from "../support/talking-model.ts";

const LENGTHS = { prompt: 60, answer: 6 };
const root = mkdtempSync(join(tmpdir(), "assay-chat-"));
let folder: string;
beforeAll(() => {
  folder = writeTalking(root, LENGTHS);
});
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

/** Runs `assay model chat …` and returns what it wrote in parts, and printed. */
async function chat(...argv: readonly string[]): Promise<{ parts: string[]; printed: string[] }> {
  const [parts, printed]: [string[], string[]] = [[], []];
  vi.spyOn(console, "log").mockImplementation((text) => void printed.push(String(text)));
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    parts.push(String(text));
    return true;
  });
  const program = new Command("assay").exitOverride().configureOutput({ writeErr: () => {} });
  addModelCommands(program);
  await program.parseAsync(["node", "assay", "model", "chat", ...argv]);
  vi.restoreAllMocks();
  return { parts, printed };
}

async function errorOf(...argv: readonly string[]): Promise<BaseError> {
  const error = await chat(...argv).catch((cause: unknown) => cause);
  if (error instanceof BaseError) return error;
  throw error;
}

/** What the model answers, by the canonical executor. */
function answerTo(messages: readonly Message[]) {
  const { manifest, model, selector, tokenizer } = loadModelFolder(folder);
  const text = new ModelText(tokenizer as never, textLengths(manifest.assay));
  const prepared = prepare(model, selector);
  return { text, prepared, prompt: text.prompt(messages) };
}
const user = (content: string): Message => ({ role: "user", content });

describe("assay model chat", () => {
  it("default: the answer in parts as it is found, then model, counts and hashes", async () => {
    const { parts, printed } = await chat(folder, "hi");
    const { printed: json } = await chat(folder, "hi", "--json");
    const answer = JSON.parse(json.join("\n"));
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.join("")).toBe(`${answer.text}\n`);
    expect(printed).toEqual([
      [
        `model ${loadModelFolder(folder).modelId}`,
        `${answer.promptIds} ids asked, ${answer.ids.length} answered`,
        `input ${answer.inputHash}, output ${answer.outputHash}`,
      ].join("\n"),
    ]);
  });

  it("behavior: with --json what a claim has, which the executor finds right", async () => {
    const { parts, printed } = await chat(folder, "hi", "--json", "--system", "be");
    expect(parts).toEqual([]);
    const answer = JSON.parse(printed.join("\n"));
    const { text, prepared, prompt } = answerTo([{ role: "system", content: "be" }, user("hi")]);
    expect(answer.promptIds).toBe(prompt.ids.length);
    const output = execute(prepared, fromHex(answer.calldata));
    expect(fromHex(answer.returnData)).toEqual(output);
    expect(text.answerOf(output)).toEqual({ text: answer.text, ids: answer.ids });
    expect(answer.inputHash).toBe(keccak256(answer.calldata));
    expect(answer.outputHash).toBe(keccak256(answer.returnData));
  });

  it("behavior: each line is a turn, and what went before is kept while it fits", async () => {
    const stdin = Object.assign(Readable.from(["hi\n\na\n", "b\n"]), { isTTY: false });
    vi.spyOn(process, "stdin", "get").mockReturnValue(stdin as never);
    const { printed } = await chat(folder, "--json");
    const answers = printed.map((line) => JSON.parse(line));
    expect(answers).toHaveLength(3);
    const { text } = answerTo([user("hi")]);
    const talk = [user("hi"), { role: "assistant", content: answers[0].text } as const, user("a")];
    expect(answers[1].promptIds).toBe(text.lastTurns(talk).prompt.ids.length);
    expect(answers[2].promptIds).toBeLessThanOrEqual(LENGTHS.prompt);
  });

  it("behavior: a prover answers in the model's place", async () => {
    const asked: { url: string; body: unknown }[] = [];
    const { modelId } = loadModelFolder(folder);
    const state = { modelId, status: "final", request: `0x${"22".repeat(32)}` };
    const answer = { ...state, claim: "0xabcd", text: "yes", ids: [9], output: "0x12", inputHash: "0x34" };
    vi.spyOn(globalThis, "fetch").mockImplementation(async (url, init) => {
      asked.push({ url: String(url), body: await new Response(init?.body ?? null).json() });
      return new Response(JSON.stringify(answer));
    });
    const { parts, printed } = await chat(folder, "hi", "--prover", "http://prover.test/");
    expect(asked).toEqual([
      {
        url: `http://prover.test/v1/tools/${loadModelFolder(folder).modelId}`,
        body: { messages: [user("hi")] },
      },
    ]);
    expect(parts.join("")).toBe("yes\n");
    expect(printed.join("\n")).toContain("the prover says: final, claim 0xabcd");
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => {
      const error = { code: "PROMPT_TOO_LONG", message: "Too long.", nextStep: "Shorten it." };
      return new Response(JSON.stringify({ error }), { status: 400 });
    });
    expect(await errorOf("small", "hi", "--prover", "http://prover.test")).toMatchObject({
      code: "PROMPT_TOO_LONG",
      shortMessage: "Too long.",
    });
    const faults = [
      [
        { modelId: `0x${"11".repeat(32)}` },
        `it answers by the model 0x${"11".repeat(32)}, and ${modelId} was asked`,
      ],
      [{ output: undefined }, "does not say which model, output and input it is of"],
      [{ inputHash: 5 }, "does not say which model, output and input it is of"],
      [{ ids: ["a"] }, "its answer has no text"],
    ] as const;
    for (const [changed, why] of faults) {
      const response = () => new Response(JSON.stringify({ ...answer, ...changed }));
      vi.spyOn(globalThis, "fetch").mockImplementation(async () => response());
      expect(await errorOf(folder, "hi", "--prover", "http://prover.test")).toMatchObject({
        code: "PROVER_REFUSED",
        shortMessage: expect.stringContaining(why),
      });
    }
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("{}"));
    expect(await errorOf("small", "hi", "--prover", "http://prover.test")).toMatchObject({
      code: "PROVER_REFUSED",
      shortMessage: expect.stringContaining("its answer has no text"),
    });
  });

  it("behavior: what a prover says does not command the terminal", async () => {
    const answer = {
      modelId: loadModelFolder(folder).modelId,
      status: "\x1b[2Kfinal",
      output: "0x12",
      inputHash: "0x34",
    };
    const text = "no\x1b]0;title\x07\r\u009b2J\u202eyes\n\tend";
    vi.spyOn(globalThis, "fetch").mockImplementation(
      async () => new Response(JSON.stringify({ ...answer, text, ids: [9] })),
    );
    const { parts, printed } = await chat(folder, "hi", "--prover", "http://prover.test/");
    expect(parts.join("")).toBe("no\\u{1b}]0;title\\u{7}\\u{d}\\u{9b}2J\\u{202e}yes\n\tend\n");
    expect(printed.join("\n")).toContain("the prover says: \\u{1b}[2Kfinal");
    vi.restoreAllMocks();
    const printedErrors: string[] = [];
    vi.spyOn(console, "error").mockImplementation((line) => void printedErrors.push(String(line)));
    reportError(new BaseError({ code: "X", shortMessage: "\x1b[2J.", nextStep: "\x07" }));
    expect(printedErrors).toEqual(["error: \\u{1b}[2J.", "next: \\u{7}"]);
  });

  it("error: a text that does not fit, a model without text, no model", async () => {
    expect(await errorOf(folder, "x ".repeat(80))).toMatchObject({
      code: "PROMPT_TOO_LONG",
      message: expect.stringMatching(
        /has \d+ ids with what the chat template adds, the model takes 60\. Shorten it/,
      ),
    });
    const mute = writeTalking(join(root, "mute"), { prompt: 4, answer: 2 }, talkingLlama({}));
    expect(await errorOf(mute, "hi")).toMatchObject({
      code: "MODEL_WITHOUT_TEXT",
      message: expect.stringContaining("has no tokenizer of a language model"),
    });
    expect(await errorOf(join(root, "nothing"), "hi")).toMatchObject({ code: "MODEL_NOT_FOUND" });
  });
});
