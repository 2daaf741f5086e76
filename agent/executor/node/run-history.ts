/** What has happened in a run, from its events alone, with the hash that the contract has of it. */
import { type Address, encodeAbiParameters, type Hex, keccak256 } from "viem";
import { insertedJson } from "../engine/inserted-text.ts";
import { decodeToolInput, TOOL_INPUT, type ToolInput } from "../engine/tool-input.ts";
import type { Tool } from "../tool.ts";
import type { AgentEvent } from "./agent-events.ts";

/** One use of a tool. */
export interface HistoryStep {
  readonly iteration: number;
  readonly tool: Address;
  readonly toolInput: ToolInput;
  /** empty where several executors agreed: none of them speaks for the others */
  readonly agentReasoning: string;
  readonly success: boolean;
  readonly result: string;
}

export interface RunHistory {
  readonly agent: Address;
  readonly runId: bigint;
  readonly requester: Address;
  /** what is asked in this run */
  readonly prompt: string;
  readonly steps: readonly HistoryStep[];
  /** as the contract computes it */
  readonly historyHash: Hex;
  readonly isOver: boolean;
  /** executors that have posted, by iteration */
  readonly posted: ReadonlyMap<number, ReadonlySet<Address>>;
}

/** @param events of one run, in order
 *  @returns undefined if its beginning is not among them */
export function historyOfRun(chainId: number, events: readonly AgentEvent[]): RunHistory | undefined {
  const started = events.find((event) => event.name === "RunStarted");
  if (started?.name !== "RunStarted") return undefined;
  const { agent } = started;
  const { runId, requester, prompt } = started.args;
  const id = BigInt(chainId);
  let historyHash = keccak256(
    encodeAbiParameters(
      [{ type: "uint256" }, { type: "address" }, { type: "int256" }, { type: "address" }, { type: "string" }],
      [id, agent, runId, requester, prompt],
    ),
  );
  const steps: HistoryStep[] = [];
  const posted = new Map<number, Set<Address>>();
  let chosen: Omit<HistoryStep, "success" | "result"> | undefined;
  let isOver = false;
  for (const event of events) {
    if (event.name === "IterationPosted") {
      const { iteration, executor } = event.args;
      posted.set(iteration, (posted.get(iteration) ?? new Set<Address>()).add(executor));
    } else if (event.name === "ToolChosen") {
      const { iteration, tool, toolInput, agentReasoning } = event.args;
      const callHash = keccak256(
        encodeAbiParameters(
          [
            { type: "uint256" },
            { type: "address" },
            { type: "int256" },
            { type: "uint16" },
            { type: "address" },
            TOOL_INPUT,
          ],
          [id, agent, runId, iteration, tool, toolInput],
        ),
      );
      historyHash = keccak256(
        encodeAbiParameters(
          [{ type: "bytes32" }, { type: "bytes32" }, { type: "string" }],
          [historyHash, callHash, agentReasoning],
        ),
      );
      chosen = { iteration, tool, toolInput, agentReasoning };
    } else if (event.name === "ToolAnswered" && chosen !== undefined) {
      const { success, result } = event.args;
      historyHash = keccak256(
        encodeAbiParameters(
          [{ type: "bytes32" }, { type: "bool" }, { type: "string" }],
          [historyHash, success, result],
        ),
      );
      steps.push({ ...chosen, success, result });
      chosen = undefined;
    } else if (event.name === "AgentRunResult" || event.name === "RunFailed") {
      isOver = true;
    }
  }
  return { agent, runId, requester, prompt, steps, historyHash, isOver, posted };
}

/** The two lists of a prompt's history. A step without reasoning shows at least what was done.
 *  @param tools as they say of themselves now */
export function promptHistory(
  steps: readonly HistoryStep[],
  tools: readonly Tool[],
): { readonly agentReasoning: string[]; readonly toolResults: string[] } {
  return {
    agentReasoning: steps.map((step) => step.agentReasoning || actionOf(step, tools)),
    toolResults: steps.map(({ result }) => result),
  };
}

function actionOf({ tool: address, toolInput }: HistoryStep, tools: readonly Tool[]): string {
  const tool = tools.find((each) => each.address === address);
  const values = tool === undefined ? undefined : decodeToolInput(tool.params, toolInput);
  if (tool === undefined || values === undefined) return "";
  return `Thought: \nAction: ${tool.name}\nAction Input: ${insertedJson(values)}`;
}
