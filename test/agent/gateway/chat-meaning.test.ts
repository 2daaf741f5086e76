import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Agent } from "../../../agent/gateway/store/agent-service.ts";
import type { Tool } from "../../../agent/gateway/tool.ts";
import { only, startTestGateway, type TestGateway } from "../../support/gateway.ts";

const call = { name: "call_models_sentiment", arguments: "{}" };

describe("runTurn on a model whose manifest says what its output means", () => {
  const reading = {
    kind: "classes",
    text: "bullish (99.8 %)",
    label: "bullish",
    index: 2,
    probability: 0.9982,
    classes: [{ label: "bearish" }, { label: "neutral" }, { label: "bullish" }],
  } as const;
  const data = { label: "2", bearish: "-12000", neutral: "3000", bullish: "29000" };
  let other: TestGateway;
  let agent: Agent;

  beforeAll(async () => {
    const tool: Tool = {
      id: "models/sentiment",
      name: "call_models_sentiment",
      description: "Sentiment of a text",
      parameters: { type: "object" },
      price: 0,
      run: async () => ({ success: true, status: "final", data, meaning: reading }),
    };
    const server = { slug: "models", description: "", tools: async () => [tool], close: async () => {} };
    other = await startTestGateway({ servers: new Map([["models", server]]) });
    agent = await other.agents.createAgent({ name: "Sentiment", availableTools: ["models/sentiment"] });
  });
  afterAll(() => other.stop());

  it("default: model and client get it beside the data, and the reply may say it", async () => {
    other.model.answers(
      { calls: [call] },
      { text: "The text is bullish (99.8 %), by call_models_sentiment." },
    );
    const events = await other.chat(agent.id, "Sentiment?");
    expect(only(events, "tool_result")).toMatchObject({ status: "final", data, meaning: reading });
    const received = other.model.requests.at(-1)?.messages.findLast(({ role }) => role === "tool");
    expect(JSON.parse(received?.content ?? "")).toMatchObject({ data, meaning: "bullish (99.8 %)" });
    expect(only(events, "text")).toEqual({ text: "The text is bullish (99.8 %), by call_models_sentiment." });
  });

  it("behavior: a reply that turns it is held back, and the client gets the line and the data", async () => {
    other.model.answers(
      { calls: [call] },
      { text: "The text is bearish (99.8 %), by call_models_sentiment." },
      { text: "The text is bearish, by call_models_sentiment." },
    );
    const events = await other.chat(agent.id, "Sentiment?");
    expect(only(events, "text").text).toBe(
      `call_models_sentiment answered, but the reply that was written about it is not supported by the result and is not shown.\ncall_models_sentiment returned: bullish (99.8 %), ${JSON.stringify(data)}`,
    );
  });
});
