/** SmolLM2-135M-Instruct as an executor's exact model: what it writes is pinned, as it is the same on every machine. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chainOfThoughtEngine } from "../../agent/executor/engine/engine.ts";
import { iterate } from "../../agent/executor/iterate.ts";
import { ExactModel } from "../../agent/executor/models/exact.ts";
import { runAssay } from "../support/assay.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { smollm2Weights } from "../support/smollm2.ts";

const LENGTHS = { prompt: 40, answer: 24 };

const weights = smollm2Weights();

describe.skipIf(weights === undefined)("SmolLM2-135M-Instruct of an executor", () => {
  const folder = temporaryFolder();
  let model: ExactModel;
  beforeAll(async () => {
    const out = join(folder.path, "model");
    const lengths = ["--prompt", `${LENGTHS.prompt}`, "--answer", `${LENGTHS.answer}`];
    const from = ["--from", weights as string, ...lengths, "--out", out];
    const { code, stderr } = await runAssay(["model", "derive", "smollm2", ...from]);
    expect(code, stderr).toBe(0);
    model = new ExactModel(out);
  });
  afterAll(async () => {
    await model?.close();
    folder.remove();
  });

  it("default: an answer, up to a stop", async () => {
    const asked = { prompt: "Say hello.", grammar: "", seed: 1 };
    expect(await model.complete({ ...asked, stop: [] })).toBe(
      "Hello! I'm here to help with any kind of creative writing project. What can I assist you with?",
    );
    expect(await model.complete({ ...asked, stop: [" kind"] })).toBe("Hello! I'm here to help with any");
  });

  it("error: the form of an agent's prompt takes more ids than it was derived for", async () => {
    const parts = { basePrompt: "", tools: [], agentReasoning: [], toolResults: [], prompt: "Done?" };
    await expect(iterate(parts, { engine: chainOfThoughtEngine, model })).rejects.toMatchObject({
      code: "PROMPT_TOO_LONG",
      details: { limit: LENGTHS.prompt },
    });
  });
});
