/** A derived language model as a tool of the gateway: an agent asks it in words, and client and model get the answer's. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelToolConfig, modelTool } from "../../../agent/gateway/tools/model-tool.ts";
import { toolValues } from "../../../agent/text-values.ts";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { describeModel } from "../../../cli/gateway.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { loadModelFolder } from "../../../inference/model-folder.ts";
import type { AnswerText } from "../../../inference/text/model-text.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import { encodeCall } from "../../../protocol/rules/abi.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { claimOutput } from "../../support/claims.ts";
import { openLocalSystem, temporaryFolder, tinyRequest } from "../../support/deploy.ts";
import { registerPrepared } from "../../support/executed-models.ts";
import { only, startTestGateway, type TestGateway } from "../../support/gateway.ts";
import { writeTalking } from "../../support/talking-model.ts";

const WINDOW = 20;
const ID = "models/talking";
const NAME = "call_models_talking";
const MESSAGES = { messages: [{ role: "user", content: "hi" }] };

const folder = temporaryFolder();
let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let gateway: TestGateway;
let answer: AnswerText | undefined;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  const { chain, sender } = system;
  const written = writeTalking(folder.path, { prompt: 60, answer: 6 });
  const { model, selector, laneBits } = loadModelFolder(written);
  const prepared = prepare(model, selector);
  const modelId = await registerPrepared(chain, sender, prepared, laneBits);
  const source = await describeModel(chain, written);
  const config: ModelToolConfig = {
    ...{ price: 0, lanes: ["BOND"], minBond: 0n, minWindow: WINDOW, waitMs: 0 },
  };
  const tool = modelTool(ID, source, config, { chain, pollIntervalMs: 20, confirmations: 0 });
  const server = { slug: "models", description: "", tools: async () => [tool], close: async () => {} };
  gateway = await startTestGateway({ servers: new Map([["models", server]]) });
  // Somebody has asked the same, and the answer is final.
  const input = encodeCall(source.function, toolValues(source, MESSAGES));
  const output = execute(prepared, fromHex(input));
  answer = source.text?.answerOf(output);
  const request = tinyRequest(accountAt(1), modelId, input, await local.now(), { window: WINDOW });
  await sender.send(new Actions(chain.game).request(request, input));
  await claimOutput(chain, sender, request, toHex(output));
  await local.passTime(WINDOW);
});
afterAll(async () => {
  await gateway?.stop();
  await system?.close();
  await local?.stop();
  folder.remove();
});

/** A turn in which the agent's model calls the tool once with these arguments. */
async function turn(args: object) {
  const agent = await gateway.agents.createAgent({ name: "Talker", availableTools: [ID] });
  gateway.model.answers({ calls: [{ name: NAME, arguments: JSON.stringify(args) }] }, { text: "Done." });
  const events = await gateway.chat(agent.id, "Ask it.");
  const request = gateway.model.requests.at(-1);
  const given = request?.messages.findLast(({ role }) => role === "tool");
  return { result: only(events, "tool_result"), given: JSON.parse(given?.content ?? "{}") as object };
}

describe("modelTool", () => {
  it("default: an agent asks in messages, or in one turn's text; it is given words, the client the ids too", async () => {
    expect(answer?.ids.length).toBeGreaterThan(0);
    for (const args of [MESSAGES, { text: "hi" }]) {
      const { result, given } = await turn(args);
      expect(result).toMatchObject({ success: true, status: "final", data: { text: answer?.text } });
      expect(result).toMatchObject({ ids: answer?.ids });
      expect(given).toEqual({ status: "final", tool: NAME, data: { text: answer?.text } });
    }
  });

  it("error: a conversation that is too long, and what is no conversation", async () => {
    const long = await turn({ text: "many words ".repeat(60) });
    expect(long.given).toMatchObject({ status: "failed", code: "PROMPT_TOO_LONG" });
    expect(long.given).toMatchObject({ error: expect.stringContaining("the model takes 60") });
    for (const args of [{ ...MESSAGES, text: "hi" }, {}, { messages: [] }, { prompt: [1, 2] }])
      expect((await turn(args)).given).toMatchObject({ status: "failed", code: "ARGUMENTS_INVALID" });
  });
});
