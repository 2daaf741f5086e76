import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { OpenAiModel, type OpenAiOptions } from "../../../../agent/executor/models/openai.ts";
import { type Script, type ScriptedLlm, startScriptedLlm } from "../../../support/scripted-llm.ts";

const KEY = "sk-secret-of-the-test";
const REQUEST = { prompt: "Question: x\nThought:", stop: ["\nObservation:"], grammar: "", seed: 7 };

const servers: ScriptedLlm[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function modelOn(script: Script, changes: Partial<OpenAiOptions> = {}) {
  const server = await startScriptedLlm(script);
  servers.push(server);
  const options = {
    baseUrl: server.url,
    model: "m",
    apiKey: KEY,
    temperature: 0,
    maxTokens: 100,
    timeoutMs: 60_000,
  };
  return { server, model: new OpenAiModel({ ...options, ...changes }) };
}

const faultOf = (work: Promise<unknown>): Promise<Error & { code: string; retryable: boolean }> =>
  work.then(
    () => Promise.reject(new Error("it did not fail")),
    (error) => error,
  );

describe("complete", () => {
  it("default: sends prompt, stop words, seed and key, and gives the text before the stop word", async () => {
    const { server, model } = await modelOn(() => "hm\nFinal Answer: 4\nObservation: made up");
    await expect(model.complete(REQUEST)).resolves.toBe("hm\nFinal Answer: 4");
    expect(server.requests).toEqual([
      {
        model: "m",
        prompt: REQUEST.prompt,
        stop: REQUEST.stop,
        seed: 7,
        temperature: 0,
        authorization: `Bearer ${KEY}`,
      },
    ]);
  });

  it("behavior: a broken connection is tried again", async () => {
    const { server, model } = await modelOn((_request, index) => (index < 2 ? "#reset" : "fine"));
    await expect(model.complete(REQUEST)).resolves.toBe("fine");
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    [400, "MODEL_REFUSED", false],
    [401, "MODEL_KEY_REFUSED", false],
    [403, "MODEL_KEY_REFUSED", false],
    [404, "MODEL_REFUSED", false],
    [429, "MODEL_REFUSED", true],
    [500, "MODEL_REFUSED", true],
  ])("error: HTTP status %d is %s and asked once", async (status, code, retryable) => {
    const { server, model } = await modelOn(() => ({ status }));
    expect(await faultOf(model.complete(REQUEST))).toMatchObject({ code, retryable });
    expect(server.requests).toHaveLength(1);
  });

  it("error: no answer in time", async () => {
    const { model } = await modelOn(() => "#silence", { timeoutMs: 50 });
    expect(await faultOf(model.complete(REQUEST))).toMatchObject({ code: "MODEL_TIMEOUT", retryable: true });
  });

  it("error: nobody listens", async () => {
    const { server, model } = await modelOn(() => "x", { retries: 0 });
    await server.stop();
    expect(await faultOf(model.complete(REQUEST))).toMatchObject({
      code: "MODEL_UNREACHABLE",
      retryable: true,
    });
  });

  it("error: stopped while it waits", async () => {
    const stopping = new AbortController();
    const { model } = await modelOn(() => {
      stopping.abort();
      return "#silence";
    });
    expect(await faultOf(model.complete(REQUEST, stopping.signal))).toMatchObject({ code: "MODEL_ABORTED" });
  });

  it("error: a completion that was cut is not used", async () => {
    const { model } = await modelOn(() => ({ finish: "length", text: "Final Answer: do not" }));
    expect(await faultOf(model.complete(REQUEST))).toMatchObject({ code: "MODEL_TRUNCATED" });
  });

  it.each([[""], [{ body: {} }], [{ body: { choices: [] } }], [{ body: { choices: [{ message: {} }] } }]])(
    "error: an answer without text %#",
    async (answer) => {
      const { model } = await modelOn(() => answer);
      expect(await faultOf(model.complete(REQUEST))).toMatchObject({ code: "MODEL_EMPTY" });
    },
  );

  it("behavior: the key stands in no error and in no description", async () => {
    const faults: unknown[] = [];
    for (const status of [400, 401, 500]) {
      const { model } = await modelOn(() => ({ status, message: `Incorrect API key provided: ${KEY}` }));
      faults.push(await faultOf(model.complete(REQUEST)), model.description);
    }
    expect(inspect(faults, { depth: 20, showHidden: true })).not.toContain(KEY);
  });
});
