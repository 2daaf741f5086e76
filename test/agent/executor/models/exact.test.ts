/** Derived language models of an executor: what they write, what of it is used, and what a replay shows. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keccak256, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  chainOfThoughtEngine,
  createEngineRegistry,
  reActEngine,
} from "../../../../agent/executor/engine/engine.ts";
import { iterate } from "../../../../agent/executor/iterate.ts";
import { ExactModel } from "../../../../agent/executor/models/exact.ts";
import type { LanguageModel } from "../../../../agent/executor/models/language-model.ts";
import { replayTranscript } from "../../../../agent/executor/replay.ts";
import {
  recordIteration,
  signTranscript,
  type Transcript,
  transcriptProblems,
} from "../../../../agent/executor/transcript.ts";
import { prepare } from "../../../../inference/executor/prepare.ts";
import { runText } from "../../../../inference/text/answer.ts";
import { loadTextModel } from "../../../../inference/text/text-model.ts";
import { TRANSFER } from "../../../support/agent-tools.ts";
import { writeAnswering } from "../../../support/answering-model.ts";
import { writeTalking } from "../../../support/talking-model.ts";

const root = mkdtempSync(join(tmpdir(), "assay-exact-"));
const LONG = { prompt: 300, answer: 3 };
const WRITES = "I now know\nFinal Answer: It is done.";
const PARTS = { basePrompt: "You help.", tools: [], agentReasoning: [], toolResults: [], prompt: "Done?" };
const engine = chainOfThoughtEngine;
const engines = createEngineRegistry();
const account = privateKeyToAccount(`0x${"11".repeat(32)}`);

let answering: string;
let talking: string;
/** writes WRITES, whatever it is asked */
let model: ExactModel;
/** writes six random ids, and no end */
let random: ExactModel;

beforeAll(() => {
  answering = writeAnswering(join(root, "answering"), WRITES, LONG);
  talking = writeTalking(join(root, "talking"), { prompt: 60, answer: 6 });
  model = new ExactModel(answering);
  random = new ExactModel(talking);
});
afterAll(async () => {
  await model?.close();
  await random?.close();
  rmSync(root, { recursive: true });
});

const asked = (prompt: string, stop: readonly string[] = [], seed = 1) => ({
  prompt,
  stop,
  grammar: "",
  seed,
});

describe("ExactModel", () => {
  it("default: writes what the executor of `assay model chat` finds, whatever the seed, and says whose words they are", async () => {
    const { modelId, model: program, selector, text, manifest } = loadTextModel(answering);
    const user = { role: "user", content: "hi" } as const;
    const run = runText(prepare(program, selector), text, text.prompt([user]), () => {});
    expect(run.text).toBe(WRITES);
    expect(await model.complete(asked("hi"))).toBe(WRITES);
    expect(await model.complete(asked("hi", [], 2))).toBe(WRITES);
    expect(model.exact.inputHash("hi")).toBe(keccak256(run.calldata));
    const { files } = manifest.assay;
    expect(model.description).toEqual({
      ...{ provider: "exact", modelId },
      "tokenizer.json": files["tokenizer.json"]?.sha256,
      "tokenizer_config.json": files["tokenizer_config.json"]?.sha256,
    });
  });

  it("args: stop, of which the first one in the text ends it", async () => {
    expect(await model.complete(asked("hi", [" done", "\nFinal", "nothing"]))).toBe("I now know");
    // What is cut at a stop needs no end behind it.
    const { text } = loadTextModel(talking);
    const whole = text.answerOf(await outputOf(talking, "hi")).text;
    expect(whole.length).toBeGreaterThan(2);
    expect(await random.complete(asked("hi", [whole.slice(2)]))).toBe(whole.slice(0, 2));
  });

  it("error: an answer without an end is not used", async () => {
    await expect(random.complete(asked("hi"))).rejects.toMatchObject({
      code: "MODEL_TRUNCATED",
      message:
        "The model wrote 6 tokens without coming to an end; what it wrote is not used. Derive the model with a longer --answer, or use a model that keeps to the format.",
    });
  });

  it("error: a prompt above the model's, with its ids and the limit", async () => {
    await expect(model.complete(asked("x".repeat(600)))).rejects.toMatchObject({
      code: "PROMPT_TOO_LONG",
      details: { limit: LONG.prompt },
      nextStep: expect.stringContaining("--prompt"),
    });
  });

  it("error: stopped while it is computed", async () => {
    const stop = new AbortController();
    const completion = model.complete(asked("never asked before"), stop.signal);
    stop.abort();
    await expect(completion).rejects.toMatchObject({ code: "MODEL_ABORTED", retryable: true });
  });

  it("error: a folder of a model that has no text", () => {
    expect(() => new ExactModel("models/policy")).toThrowError(
      expect.objectContaining({ code: "MODEL_WITHOUT_TEXT" }),
    );
  });
});

/** Return data. */
async function outputOf(folder: string, content: string): Promise<Uint8Array> {
  const { model: program, selector, text } = loadTextModel(folder);
  return runText(prepare(program, selector), text, text.prompt([{ role: "user", content }]), () => {}).output;
}

describe("iterate", () => {
  it("default: an answer, with the input that a claim of it has", async () => {
    const { step, attempts, model: described, prompt } = await iterate(PARTS, { engine, model });
    expect(step).toEqual({ kind: "answer", answer: "It is done." });
    expect(attempts).toEqual([{ seed: 1, completion: WRITES }]);
    expect(described).toEqual({ ...model.description, inputHash: model.exact.inputHash(prompt) });
  });

  it("error: what cannot be read is not asked for again, and the next step says why", async () => {
    const seeds: number[] = [];
    const mute: LanguageModel = {
      description: model.description,
      exact: model.exact,
      complete: async ({ seed }) => `hm ${seeds.push(seed)}`,
      close: async () => {},
    };
    await expect(iterate(PARTS, { engine, model: mute, tries: 5 })).rejects.toMatchObject({
      code: "COMPLETION_MALFORMED",
      nextStep: expect.stringContaining("exact and writes the same"),
    });
    expect(seeds).toEqual([1]);
  });

  it("error: the tools of an agent make a prompt that is too long", async () => {
    const parts = { ...PARTS, tools: [TRANSFER] };
    await expect(iterate(parts, { engine: reActEngine, model })).rejects.toMatchObject({
      code: "PROMPT_TOO_LONG",
    });
  });
});

async function recorded(): Promise<Transcript> {
  const { prompt: question, ...parts } = PARTS;
  const subject = {
    ...{ chainId: "31337", agent: TRANSFER.address, runId: "7", iteration: "0" },
    ...{ historyHash: keccak256(stringToHex("history")), executor: account.address },
    ...{ modelId: "m", engine: engine.id, question },
    ...parts,
  };
  return recordIteration(subject, await iterate(PARTS, { engine, model }));
}

describe("transcriptProblems", () => {
  it("behavior: where the agent names an exact model, no other was asked", async () => {
    const transcript = await recorded();
    const named = {
      ...transcript,
      modelId: `0x${(model.description.modelId as string).slice(2).toUpperCase()}`,
    };
    const problemsOf = async (one: Transcript) =>
      transcriptProblems(await signTranscript(account, one), engines);
    expect(await problemsOf(named)).toEqual([]);
    const others = [
      { ...named, model: { ...named.model, provider: "openai" } },
      { ...named, modelId: `0x${"01".repeat(32)}` },
    ];
    for (const other of others)
      expect(await problemsOf(other)).toEqual([
        `its agent names the exact model ${other.modelId}, and another one was asked`,
      ]);
  });
});

/** As a signed transcript of its executor that holds together, whatever its model wrote. */
async function lie(transcript: Transcript, completion: string): Promise<Transcript> {
  const other: LanguageModel = {
    description: model.description,
    exact: model.exact,
    complete: async () => completion,
    close: async () => {},
  };
  const { result } = recordIteration(transcript, await iterate(PARTS, { engine, model: other }));
  const changed = { ...transcript, attempts: [{ seed: "1", completion }], result };
  expect(await transcriptProblems(await signTranscript(account, changed), engines)).toEqual([]);
  return changed;
}

describe("replayTranscript of an exact model", () => {
  it("default: repeated, by whoever opens the folder", async () => {
    const again = new ExactModel(answering);
    try {
      expect(await replayTranscript(await recorded(), again, engines)).toEqual({
        ...{ verdict: "REPEATED", completion: WRITES },
        ...{ sameModel: true, sameCompletion: true, sameChoice: true },
      });
    } finally {
      await again.close();
    }
  });

  it("behavior: a completion that its executor changed and signed shows that the transcript is false", async () => {
    const transcript = await lie(await recorded(), WRITES.replace("done", "paid"));
    expect(await replayTranscript(transcript, model, engines)).toEqual({
      verdict: "FALSE",
      reason: `for this prompt the exact model ${model.description.modelId} writes something else than the transcript says`,
      completion: WRITES,
      ...{ sameModel: true, sameCompletion: false, sameChoice: false, differsAt: WRITES.indexOf("done") },
    });
  });

  it("behavior: false in an earlier try alone", async () => {
    const transcript = await recorded();
    const attempts = [{ seed: "1", completion: "hm", error: "COMPLETION_MALFORMED" }, ...transcript.attempts];
    expect(await replayTranscript({ ...transcript, attempts }, model, engines)).toMatchObject({
      verdict: "FALSE",
      sameCompletion: true,
    });
  });

  it("behavior: false where the model comes to no end", async () => {
    const transcript = { ...(await recorded()), prompt: "hi" };
    const described = { ...random.description, inputHash: random.exact.inputHash("hi") };
    const replay = await replayTranscript({ ...transcript, model: described }, random, engines);
    expect(replay).toMatchObject({ verdict: "FALSE", sameCompletion: false, sameChoice: false });
    expect(replay.reason).toContain("comes to no end");
    expect(replay).not.toHaveProperty("completion");
  });

  it("behavior: not checked by another model, other files of the tokenizer, other ids", async () => {
    const transcript = await lie(await recorded(), "Final Answer: a lie");
    const { model: described } = transcript;
    const listed: LanguageModel = {
      description: { provider: "list" },
      complete: async () => "something else",
      close: async () => {},
    };
    const replays = [
      await replayTranscript(transcript, listed, engines),
      await replayTranscript({ ...transcript, model: { ...described, modelId: "0x01" } }, model, engines),
      await replayTranscript(
        { ...transcript, model: { ...described, "tokenizer.json": "00" } },
        model,
        engines,
      ),
      await replayTranscript({ ...transcript, model: { ...described, inputHash: "0x02" } }, model, engines),
    ];
    expect(replays.map(({ verdict, sameModel }) => [verdict, sameModel])).toEqual([
      ["UNCHECKED", false],
      ["UNCHECKED", false],
      ["UNCHECKED", false],
      ["UNCHECKED", true],
    ]);
    expect(replays.map(({ reason }) => reason)).toEqual([
      `the transcript's model is ${described.modelId}, the one here not exact`,
      `the transcript's model is 0x01, the one here ${described.modelId}`,
      "the model here has other files of its tokenizer",
      expect.stringContaining("the transcript's prompt was the input 0x02"),
    ]);
  });

  it("behavior: nothing follows from a transcript of a model that is not exact", async () => {
    const transcript = { ...(await recorded()), model: { provider: "openai" } };
    expect(await replayTranscript(transcript, model, engines)).toMatchObject({
      ...{ verdict: "NOT_EXACT", sameModel: false, sameCompletion: true },
    });
  });

  it("error: a prompt that is too long for the model says nothing of the transcript", async () => {
    const transcript = { ...(await recorded()), prompt: "x".repeat(600) };
    await expect(replayTranscript(transcript, model, engines)).rejects.toMatchObject({
      code: "PROMPT_TOO_LONG",
    });
  });
});
