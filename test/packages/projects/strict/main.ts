/** What a developer writes who uses a model of Assay in the AI SDK, LangChain and the OpenAI client, and who pays a
 *  prover by x402. */
import { readFileSync } from "node:fs";
import { connect, finalTool, LANE, openModel, parseDeployment } from "@assay/sdk";
import { aiTool } from "@assay/sdk/ai";
import { langchainTool } from "@assay/sdk/langchain";
import { answerOpenAiCall, openAiTool } from "@assay/sdk/openai";
import { paidTool } from "@assay/sdk/x402";
import { tool } from "@langchain/core/tools";
import { x402Client } from "@x402/core/client";
import { UptoEvmScheme } from "@x402/evm/upto/client";
import { wrapFetchWithPayment } from "@x402/fetch";
import { generateText, isStepCount, jsonSchema } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { createWalletClient, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const [rpcUrl = "", deploymentPath = "", modelId = "", baseURL = "", proverUrl = ""] = process.argv.slice(2);
const NAME = "sentiment";

const chain = await connect({
  rpcUrl,
  deployment: parseDeployment(readFileSync(deploymentPath, "utf8"), deploymentPath),
});
const model = await openModel(chain, modelId as Hex);
const account = privateKeyToAccount(process.env.ASSAY_KEY as Hex);
const wallet = createWalletClient({ account, transport: http(rpcUrl) });
const ask = { wallet, terms: { fee: 10n ** 16n }, finality: { pollIntervalMs: 100 }, waitMs: 300_000 };
const source = finalTool({ chain, model, name: NAME, description: "Sentiment of a text", ask });

async function byAiSdk(): Promise<unknown> {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const input = JSON.stringify({ text: "Profit beats forecasts" });
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
  const call = { type: "tool_call" as const, id: "2", name: NAME, args: { text: "Sales fall by half" } };
  const { content } = (await langchainTool(tool, source).invoke(call)) as { content: string };
  return JSON.parse(content);
}

async function byOpenAi(): Promise<unknown> {
  const client = new OpenAI({ baseURL, apiKey: "none" });
  const messages: ChatCompletionMessageParam[] = [{ role: "user", content: "go" }];
  const tools = [openAiTool(source)];
  const first = await client.chat.completions.stream({ model: "any", messages, tools }).finalMessage();
  const [call] = first.tool_calls ?? [];
  if (call?.type !== "function") throw new Error("The scripted model called nothing.");
  const answer = await answerOpenAiCall([source], call);
  await client.chat.completions
    .stream({ model: "any", messages: [...messages, first, answer], tools })
    .finalMessage();
  return JSON.parse(answer.content);
}

async function byX402(): Promise<unknown> {
  const network = `eip155:${await chain.client.getChainId()}` as const;
  const paying = new x402Client().register(network, new UptoEvmScheme(account)).setSpendControls(false);
  const paid = paidTool({
    chain,
    model,
    name: NAME,
    description: "Sentiment of a text",
    url: `${proverUrl}/tools/sentiment`,
    fetch: wrapFetchWithPayment(fetch, paying) as typeof fetch,
    policy: { lanes: LANE.BOND | LANE.EXECUTION, minBond: 1n, minWindow: 4 },
    waitSeconds: 300,
  });
  return paid.run({ text: "The outlook is unchanged" });
}

const answers = [await byAiSdk(), await byLangChain(), await byOpenAi(), await byX402()];
process.stdout.write(JSON.stringify(answers));
