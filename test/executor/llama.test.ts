import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chainOfThoughtEngine, reActEngine } from "../../agent/executor/engine/engine.ts";
import { iterate } from "../../agent/executor/iterate.ts";
import type { LanguageModel } from "../../agent/executor/models/language-model.ts";
import { SMALL_MODEL } from "../../agent/executor/models/llama/install.ts";
import { openLlamaModel } from "../../agent/executor/models/llama/model.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { VIEW } from "../support/agent-tools.ts";

let model: LanguageModel;
beforeAll(async () => {
  const folder = join(projectRoot, "build", "executor-data", "llama");
  model = await openLlamaModel({ folder, temperature: 0, maxTokens: 256, threads: 0 });
});
afterAll(() => model?.close());

const PARTS = {
  basePrompt: "You help a user with his wallet.",
  tools: [VIEW],
  agentReasoning: [],
  toolResults: [],
  prompt: "Which tokens do I own?",
};

describe("the small local model", () => {
  it("default: is the one that the lock names", () => {
    expect(model.description).toMatchObject({
      provider: "llama",
      file: SMALL_MODEL.file,
      sha256: SMALL_MODEL.sha256,
    });
  });

  // shows: E1-010
  it("default: real iterations give a listed tool or an answer, the same each time", async () => {
    const first = await iterate(PARTS, { engine: reActEngine, model, tries: 1 });
    if (first.step.kind === "action") expect(first.step.tool).toBe(VIEW);
    else expect(first.step.answer).not.toBe("");
    const second = await iterate(PARTS, { engine: reActEngine, model, tries: 1 });
    expect(second.attempts).toEqual(first.attempts);
  });

  it("behavior: the second iteration reads the first one's result", async () => {
    const history = {
      agentReasoning: ["Thought: I look.\nAction: ViewTokensTool\nAction Input: []"],
      toolResults: ["10 WETH"],
    };
    const { prompt, step } = await iterate(
      { ...PARTS, ...history },
      { engine: reActEngine, model, tries: 1 },
    );
    expect(prompt).toContain("Observation: 10 WETH\nThought:");
    expect(["answer", "action"]).toContain(step.kind);
  });

  it("behavior: without tools it thinks once and answers", async () => {
    const parts = { ...PARTS, tools: [], prompt: "What is two and two?" };
    const { step } = await iterate(parts, { engine: chainOfThoughtEngine, model, tries: 1 });
    expect(step.kind).toBe("answer");
  });
});
