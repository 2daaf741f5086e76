/** What a developer writes who uses a model of Assay in the AI SDK, LangChain and the OpenAI client. */
import { readFileSync } from "node:fs";
import { tool } from "@langchain/core/tools";
import { generateText, isStepCount, jsonSchema } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { connect, finalTool, openModel, parseDeployment } from "assay/sdk";
import { aiTool } from "assay/sdk/ai";
import { langchainTool } from "assay/sdk/langchain";
import OpenAI from "openai";
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions";
import { createWalletClient, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const [rpcUrl = "", deploymentPath = "", modelId = "", baseURL = ""] = process.argv.slice(2);
const NAME = "four_bytes";

const chain = await connect({
  rpcUrl,
  deployment: parseDeployment(readFileSync(deploymentPath, "utf8"), deploymentPath),
});
const model = await openModel(chain, modelId as Hex);
const account = privateKeyToAccount(process.env.ASSAY_KEY as Hex);
const wallet = createWalletClient({ account, transport: http(rpcUrl) });
const ask = { wallet, terms: { fee: 1_000n }, finality: { pollIntervalMs: 20 }, waitMs: 300_000 };
const source = finalTool({ chain, model, name: NAME, description: "Gives the bytes back", ask });

async function byAiSdk(): Promise<unknown> {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const input = JSON.stringify({ data: "0x01010101" });
  const scripted = new MockLanguageModelV4({
    doGenerate: [
      {
        content: [{ type: "tool-call", toolCallId: "1", toolName: NAME, input }],
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
  const tools = { [NAME]: aiTool({ jsonSchema }, source) };
  const { steps } = await generateText({ model: scripted, tools, prompt: "go", stopWhen: isStepCount(2) });
  return steps[0]?.toolResults[0]?.output;
}

async function byLangChain(): Promise<unknown> {
  const call = { type: "tool_call" as const, id: "2", name: NAME, args: { data: "0x02020202" } };
  const { content } = (await langchainTool(tool, source).invoke(call)) as { content: string };
  return JSON.parse(content);
}

async function byOpenAi(): Promise<unknown> {
  const client = new OpenAI({ baseURL, apiKey: "none" });
  const { name, description, parameters } = source;
  const tools: ChatCompletionTool[] = [{ type: "function", function: { name, description, parameters } }];
  const messages: ChatCompletionMessageParam[] = [{ role: "user", content: "go" }];
  const stream = client.chat.completions.stream({ model: "any", messages, tools });
  const [call] = (await stream.finalMessage()).tool_calls ?? [];
  if (call?.type !== "function") throw new Error("The scripted model called nothing.");
  return source.run(JSON.parse(call.function.arguments));
}

process.stdout.write(JSON.stringify([await byAiSdk(), await byLangChain(), await byOpenAi()]));
