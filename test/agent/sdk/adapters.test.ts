import { AIMessageChunk } from "@langchain/core/messages";
import { tool as createTool } from "@langchain/core/tools";
import { FakeStreamingChatModel } from "@langchain/core/utils/testing";
import { generateText, jsonSchema, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { createWalletClient, type Hex, http } from "viem";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { aiTool } from "../../../agent/sdk/adapters/ai.ts";
import { langchainTool } from "../../../agent/sdk/adapters/langchain.ts";
import { type FinalTool, finalTool, openModel } from "../../../agent/sdk/index.ts";
import type { EventOf } from "../../../protocol/chain/events.ts";
import { EventFollower } from "../../../protocol/chain/follower.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { bytesOutput, claimOutput } from "../../support/claims.ts";
import { openLocalSystem } from "../../support/deploy.ts";

const NAME = "four_bytes";
const CALL_ID = "call-1";
/** A call whose time is over may be over before anybody claims. */
const LATE = /is not final yet|has no claim yet/;
const NOT_FINAL = /Claim 0x[0-9a-f]{64} on request 0x[0-9a-f]{64} is not final yet/;

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
const stopping = new AbortController();
let answering: Promise<void>;
let windows: "pass" | "stand" = "pass";
let requests = 0;
let claims = 0;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  // A prover of the tiny model, and time that passes once it has claimed.
  answering = new EventFollower(system.chain, { pollIntervalMs: 20 }).run(async (batch) => {
    if (batch.kind !== "blocks") return;
    for (const event of batch.events) {
      if (event.name === "Requested") await answer(event);
    }
  }, stopping.signal);
});
afterAll(async () => {
  stopping.abort();
  await answering;
  await system?.close();
  await local?.stop();
});

async function answer({ args: { request, input } }: EventOf<"Requested">): Promise<void> {
  requests += 1;
  const data: Hex = `0x${input.slice(2 + 2 * (4 + 64), 2 + 2 * (4 + 64 + 4))}`;
  await claimOutput(system.chain, system.sender, request, bytesOutput(data));
  claims += 1;
  if (windows === "pass") await local.passTime(request.window + 1);
}

/** Resolves once there were so many claims. */
const claimed = (count: number) =>
  vi.waitFor(() => expect(claims).toBe(count), { timeout: 300_000, interval: 20 });

/** @param waitMs how long a call waits */
async function fourBytes(waitMs: number) {
  const wallet = createWalletClient({ account: accountAt(2), transport: http(local.rpcUrl) });
  const model = await openModel(system.chain, system.modelId);
  const ask = { wallet, terms: { fee: 1_000n }, finality: { pollIntervalMs: 20 }, waitMs };
  return finalTool({ chain: system.chain, model, name: NAME, description: "Gives the bytes back", ask });
}

/** Says what a language model says that calls the tool, then that it is done. */
function scriptedModel(data: Hex): MockLanguageModelV3 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const input = JSON.stringify({ data });
  return new MockLanguageModelV3({
    doGenerate: [
      {
        content: [{ type: "tool-call", toolCallId: CALL_ID, toolName: NAME, input }],
        finishReason: { unified: "tool-calls", raw: "tool_calls" },
        usage,
        warnings: [],
      },
      {
        content: [{ type: "text", text: "done" }],
        finishReason: { unified: "stop", raw: "stop" },
        usage,
        warnings: [],
      },
    ],
  });
}

describe("aiTool", () => {
  it("default: generateText gets the final output", async () => {
    windows = "pass";
    const model = scriptedModel("0x0a0b0c0d");
    const tools = { [NAME]: aiTool({ jsonSchema }, await fourBytes(300_000)) };
    const { steps, text } = await generateText({ model, tools, prompt: "go", stopWhen: stepCountIs(2) });
    expect(text).toBe("done");
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({
      status: "final",
      lane: "BOND",
      values: { output: "0x0a0b0c0d" },
      claimId: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    // The language model is told the schema, and the result.
    expect(model.doGenerateCalls[0]?.tools).toMatchObject([
      { name: NAME, inputSchema: { required: ["data"], additionalProperties: false } },
    ]);
    expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).toContain("0x0a0b0c0d");
  });

  it("error: what is not final is a tool error that names the claim, and is asked for once", async () => {
    windows = "stand";
    const before = requests;
    const count = claims;
    const source = await fourBytes(500);
    const tools = { [NAME]: aiTool({ jsonSchema }, source) };
    await expect(source.run({ data: "0x01010101" })).rejects.toThrow(LATE);
    await claimed(count + 1);
    for (const _again of [0, 1]) {
      const model = scriptedModel("0x01010101");
      const { steps } = await generateText({ model, tools, prompt: "go", stopWhen: stepCountIs(2) });
      const part = steps[0]?.content.find(({ type }) => type === "tool-error");
      expect(part).toMatchObject({ type: "tool-error", toolName: NAME });
      expect(String((part as { error?: unknown }).error)).toMatch(NOT_FINAL);
      expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).not.toContain("values");
    }
    expect(requests - before).toBe(1);
    await local.passTime(21);
    const late = aiTool({ jsonSchema }, { ...source });
    const { steps } = await generateText({
      model: scriptedModel("0x01010101"),
      tools: { [NAME]: late },
      prompt: "go",
    });
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ values: { output: "0x01010101" } });
    expect(requests - before).toBe(1);
  });

  it("error: arguments of another form never reach the chain", async () => {
    const before = requests;
    const source = await fourBytes(2_000);
    await expect(source.run({ data: 7 })).rejects.toThrow(
      expect.objectContaining({ code: "INPUTS_INVALID" }),
    );
    await expect(source.run({ text: "0x" })).rejects.toThrow(
      expect.objectContaining({ code: "INPUTS_INVALID" }),
    );
    expect(requests).toBe(before);
  });
});

describe("langchainTool", () => {
  /** What a scripted model calls, and what the tool makes of it. */
  async function callBy(data: Hex, from: FinalTool) {
    const source = langchainTool(createTool, from);
    const call = { type: "tool_call" as const, id: CALL_ID, name: NAME, args: { data } };
    const chat = new FakeStreamingChatModel({
      chunks: [new AIMessageChunk({ content: "", tool_calls: [call] })],
    });
    const answer = await chat.bindTools([source]).invoke("go");
    const [asked] = answer.tool_calls ?? [];
    if (asked === undefined) throw new Error("The scripted model called nothing.");
    return source.invoke({ ...asked, type: "tool_call" });
  }

  it("default: the tool message holds the final output", async () => {
    windows = "pass";
    const message = (await callBy("0x05060708", await fourBytes(300_000))) as {
      tool_call_id: string;
      content: string;
    };
    expect(message.tool_call_id).toBe(CALL_ID);
    expect(JSON.parse(message.content)).toMatchObject({
      status: "final",
      values: { output: "0x05060708" },
    });
  });

  it("error: what is not final throws, naming the claim", async () => {
    windows = "stand";
    const count = claims;
    const source = await fourBytes(500);
    await expect(source.run({ data: "0x09090909" })).rejects.toThrow(LATE);
    await claimed(count + 1);
    await expect(callBy("0x09090909", source)).rejects.toThrow(NOT_FINAL);
  });

  it("error: arguments that do not fit the schema are refused by the library", async () => {
    const source = langchainTool(createTool, await fourBytes(2_000));
    await expect(source.invoke({ data: "0x1" })).rejects.toThrow(/schema/);
  });
});
