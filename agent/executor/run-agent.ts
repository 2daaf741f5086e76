/** An agent's run, driven by whoever wants its answer. */
import { type Address, encodeFunctionData, isAddressEqual, keccak256, zeroAddress } from "viem";
import { BaseError } from "../../base/errors.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import type { Sender, SigningChain } from "../../protocol/chain/sender.ts";
import { iCallbackAgentAbi, iercAgentToolAbi } from "../../protocol/rules/generated/abis.ts";
import type { AgentExecutor } from "./agent-executor.ts";
import type { ToolInput } from "./engine/tool-input.ts";

export interface Agent {
  readonly modelId: string;
  readonly basePrompt: string;
  readonly tools: readonly Address[];
  /** most iterations, the one that answers included */
  readonly maxIterations: number;
  /** Uses one of the tools and gives its result.
   *  @throws BaseError when the tool fails */
  useTool(tool: Address, input: ToolInput, iteration: number): Promise<string>;
}

export interface AgentRunSteps {
  readonly answer: string;
  /** of every iteration that used a tool, in order */
  readonly agentReasoning: readonly string[];
  /** of each of these tools */
  readonly toolResults: readonly string[];
}

/** Asks the executor for one iteration after the other, uses the tools that it chooses, and returns its answer.
 *  @throws BaseError AGENT_ITERATIONS, TOOL_NOT_LISTED, and what executor and tools throw */
export async function runAgent(
  agent: Agent,
  executor: AgentExecutor,
  userInput: string,
  signal?: AbortSignal,
): Promise<AgentRunSteps> {
  const { modelId, basePrompt, tools, maxIterations } = agent;
  const agentReasoning: string[] = [];
  const toolResults: string[] = [];
  for (let iteration = 0; iteration < maxIterations; iteration++) {
    const result = await executor.runNextIteration(
      {
        modelId,
        basePrompt,
        tools,
        agentReasoning: [...agentReasoning],
        toolResults: [...toolResults],
        prompt: userInput,
      },
      signal,
    );
    if (result.isFinalAnswer) return { answer: result.finalAnswer, agentReasoning, toolResults };
    if (!tools.some((tool) => isAddressEqual(tool, result.tool))) throw notListed(result.tool);
    const toolResult = await agent.useTool(result.tool, result.toolInput, iteration);
    agentReasoning.push(result.agentReasoning);
    toolResults.push(toolResult);
  }
  throw new BaseError({
    code: "AGENT_ITERATIONS",
    shortMessage: `The agent gave no final answer within ${maxIterations} iterations.`,
    nextStep: "Ask a simpler question, or use an agent that may take more iterations.",
  });
}

/** Reads an agent's contract; its tools are used by transactions of the sender's account.
 *  @param run names this run: the same name goes on with the transactions that it has sent
 *  @throws BaseError CALL_REVERTED for an address that is no agent, RPC_UNREACHABLE, RPC_FAULT */
export async function agentOnChain(
  chain: SigningChain,
  sender: Sender,
  address: Address,
  run: string,
): Promise<Agent> {
  const contract = { address, abi: iCallbackAgentAbi } as const;
  const { client } = chain;
  const [modelId, basePrompt, tools, maxIterations] = await withContext(`read the agent at ${address}`, () =>
    Promise.all([
      client.readContract({ ...contract, functionName: "modelId" }),
      client.readContract({ ...contract, functionName: "basePrompt" }),
      client.readContract({ ...contract, functionName: "allTools" }),
      client.readContract({ ...contract, functionName: "agentMaxIterations" }),
    ]),
  );
  const useTool = (tool: Address, input: ToolInput, iteration: number) =>
    sendToTool(chain, sender, tool, input, `${run}:${iteration}`);
  return { modelId, basePrompt, tools, maxIterations, useTool };
}

/** Uses a tool by a transaction. No receipt holds what a call returned: the result is that of the same call on the
 *  state before its block. */
async function sendToTool(
  { client, account }: SigningChain,
  sender: Sender,
  tool: Address,
  input: ToolInput,
  run: string,
): Promise<string> {
  const args = [input, zeroAddress] as const;
  const data = encodeFunctionData({ abi: iercAgentToolAbi, functionName: "run", args });
  const key = `tool:${run}:${tool}:${keccak256(data)}`;
  const sent = await sender.send({ key, to: tool, data, value: 0n, doneBy: [] });
  if (sent.status === "retryable") throw sent.error;
  if (sent.status === "refused" || sent.inclusion === undefined) {
    throw new BaseError({
      code: "TOOL_FAILED",
      shortMessage: `The tool at ${tool} failed${sent.status === "refused" ? ` with ${sent.revert.message}` : ""}.`,
      nextStep: "Check that the account may use it.",
    });
  }
  const blockNumber = sent.inclusion.blockNumber - 1n;
  const { result } = await withContext(`read the result of the tool at ${tool}`, () =>
    client.simulateContract({
      address: tool,
      abi: iercAgentToolAbi,
      functionName: "run",
      args,
      account: account.address,
      blockNumber,
    }),
  );
  const [runId, text] = result;
  if (runId === -1n) return text;
  throw new BaseError({
    code: "TOOL_ASYNCHRONOUS",
    shortMessage: `The tool at ${tool} answers later (run ${runId}), to a contract; a run of this kind has none.`,
    nextStep: "Use a callback agent for this tool.",
  });
}

const notListed = (tool: Address): BaseError =>
  new BaseError({
    code: "TOOL_NOT_LISTED",
    shortMessage: `The executor chose ${tool}, which is not one of the agent's tools; nothing was called.`,
    nextStep: "Do not trust this executor.",
  });
