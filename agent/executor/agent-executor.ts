/** Executors of single iterations, as agents see them: here with a model, on the chain, or several that must agree. */
import { type Address, encodeAbiParameters, type Hex, keccak256, type PublicClient, zeroAddress } from "viem";
import { BaseError } from "../../base/errors.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import { iercAgentExecutorAbi } from "../../protocol/rules/generated/abis.ts";
import { ENGINES, type NextStep, type ReasoningEngine } from "./engine/engine.ts";
import { TOOL_INPUT, type ToolInput } from "./engine/tool-input.ts";
import { type Iteration, iterate } from "./iterate.ts";
import type { ModelRegistry } from "./models/language-model.ts";
import type { Registry } from "./registry.ts";
import type { Tool } from "./tool.ts";
import { readTools } from "./tool-reader.ts";

/** Arguments of `IERCAgentExecutor.runNextIteration`. */
export interface IterationArguments {
  readonly modelId: string;
  readonly basePrompt: string;
  readonly tools: readonly Address[];
  readonly agentReasoning: readonly string[];
  readonly toolResults: readonly string[];
  readonly prompt: string;
}

/** `AgentIterationResult`: the fields of the other case are empty. */
export interface AgentIterationResult {
  readonly isFinalAnswer: boolean;
  readonly finalAnswer: string;
  readonly tool: Address;
  readonly toolInput: ToolInput;
  readonly agentReasoning: string;
}

export interface AgentExecutor {
  /** Keeps nothing between calls: the caller hands in everything that has happened in the run so far. */
  runNextIteration(call: IterationArguments, signal?: AbortSignal): Promise<AgentIterationResult>;
}

export function toResult(step: NextStep): AgentIterationResult {
  if (step.kind === "answer") {
    return {
      isFinalAnswer: true,
      finalAnswer: step.answer,
      tool: zeroAddress,
      toolInput: { params: [], abiEncodedParams: "0x" },
      agentReasoning: "",
    };
  }
  const { tool, input, reasoning } = step;
  return {
    isFinalAnswer: false,
    finalAnswer: "",
    tool: tool.address,
    toolInput: input,
    agentReasoning: reasoning,
  };
}

const RESULT_FIELDS = [{ type: "bool" }, { type: "string" }, { type: "address" }, TOOL_INPUT] as const;

/** What executors must have in common to agree: end, answer, tool and input; as callback agents compute it. Their
 *  reasoning may differ. */
export const choiceHashOf = ({ isFinalAnswer, finalAnswer, tool, toolInput }: AgentIterationResult): Hex =>
  keccak256(encodeAbiParameters(RESULT_FIELDS, [isFinalAnswer, finalAnswer, tool, toolInput]));

export interface LocalExecutorOptions {
  /** where tools are read */
  readonly client: PublicClient;
  readonly models: ModelRegistry;
  readonly engines: Registry<ReasoningEngine>;
  /** default RE_ACT */
  readonly engine?: string;
  readonly tries?: number;
  /** told of each iteration, before its result is given: what a transcript is made of */
  readonly onIteration?: (
    call: IterationArguments,
    tools: readonly Tool[],
    iteration: Iteration,
  ) => Promise<void> | void;
}

/** Decides by a language model of this process. */
export function localExecutor(options: LocalExecutorOptions): AgentExecutor {
  const { client, models, engines, engine = ENGINES.RE_ACT, tries, onIteration } = options;
  return {
    async runNextIteration(call, signal) {
      const model = models.get(call.modelId);
      const reasoning = engines.get(engine);
      const tools = await readTools(client, call.tools);
      const limits = tries === undefined ? {} : { tries };
      const iteration = await iterate({ ...call, tools }, { engine: reasoning, model, ...limits }, signal);
      await onIteration?.(call, tools, iteration);
      return toResult(iteration.step);
    },
  };
}

/** Decides by an executor contract: a call, no transaction. */
export function contractExecutor(client: PublicClient, address: Address): AgentExecutor {
  return {
    async runNextIteration({ modelId, basePrompt, tools, agentReasoning, toolResults, prompt }) {
      const { result } = await withContext(`ask the executor at ${address}`, () =>
        client.simulateContract({
          address,
          abi: iercAgentExecutorAbi,
          functionName: "runNextIteration",
          args: [modelId, basePrompt, tools, agentReasoning, toolResults, prompt],
        }),
      );
      return result;
    },
  };
}

/** Asks all, and gives what at least `threshold` of them agree on. An executor that fails agrees with nobody.
 *  @throws BaseError EXECUTORS_DISAGREE */
export function agreeingExecutors(executors: readonly AgentExecutor[], threshold: number): AgentExecutor {
  return {
    async runNextIteration(call, signal) {
      const settled = await Promise.allSettled(
        executors.map((executor) => executor.runNextIteration(call, signal)),
      );
      const byChoice = new Map<Hex, AgentIterationResult[]>();
      for (const each of settled) {
        if (each.status === "rejected") continue;
        const choice = choiceHashOf(each.value);
        byChoice.set(choice, [...(byChoice.get(choice) ?? []), each.value]);
      }
      const agreed = [...byChoice.values()].find((results) => results.length >= threshold);
      if (agreed?.[0] !== undefined) return agreed[0];
      const counts = [...byChoice.values()].map(({ length }) => length).sort((a, b) => b - a);
      throw new BaseError({
        code: "EXECUTORS_DISAGREE",
        shortMessage: `${threshold} of ${executors.length} executors must agree; the most that did is ${counts[0] ?? 0}.`,
        nextStep: "Ask again, or look at what each of them said.",
        retryable: true,
      });
    },
  };
}
