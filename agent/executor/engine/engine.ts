/** Reasoning engines: how a model is asked what to do next, and how its completion is read. */
import { BaseError } from "../../../base/errors.ts";
import { Registry } from "../registry.ts";
import { quote, type Tool, toolsByName } from "../tool.ts";
import { readCompletion } from "./completion.ts";
import { completionGrammar } from "./grammar.ts";
import { buildPrompt, type PromptParts, renderReasoning } from "./prompt.ts";
import { type NamedValue, readToolInput, type ToolInput } from "./tool-input.ts";

/** What the agent is to do next. */
export type NextStep =
  | { readonly kind: "answer"; readonly answer: string }
  | {
      readonly kind: "action";
      readonly tool: Tool;
      readonly input: ToolInput;
      /** the input's values in words, in the order of the tool's description */
      readonly values: readonly NamedValue[];
      /** goes back to the agent, and from there into the next prompt */
      readonly reasoning: string;
    };

export interface ReasoningEngine {
  readonly id: string;
  /** at which a model is to end its completion */
  readonly stop: readonly string[];
  /** @throws BaseError for tools or a history that the engine does not take */
  buildPrompt(parts: PromptParts): string;
  /** Reads the new completion alone.
   *  @throws BaseError COMPLETION_MALFORMED, TOOL_UNKNOWN, ACTION_INPUT_INVALID */
  parse(completion: string, tools: readonly Tool[]): NextStep;
  /** GBNF of the completions that `parse` takes, for models that can be held to one */
  grammar(tools: readonly Tool[]): string;
}

/** Keys of the engines that every executor has. */
export const ENGINES = { RE_ACT: "RE_ACT", CHAIN_OF_THOUGHT: "CHAIN_OF_THOUGHT" } as const;

const STOP = ["\nObservation:", "\nQuestion:"] as const;

/** Thoughts and tools in turn, until a final answer. */
export const reActEngine: ReasoningEngine = {
  id: ENGINES.RE_ACT,
  stop: STOP,
  buildPrompt: (parts) => {
    toolsByName(parts.tools);
    return buildPrompt(parts);
  },
  parse: parseCompletion,
  grammar: completionGrammar,
};

/** The same without tools: one thought, one answer. */
export const chainOfThoughtEngine: ReasoningEngine = {
  id: ENGINES.CHAIN_OF_THOUGHT,
  stop: STOP,
  buildPrompt: (parts) => {
    refuseTools(parts.tools);
    return buildPrompt(parts);
  },
  parse: (completion, tools) => {
    refuseTools(tools);
    return parseCompletion(completion, tools);
  },
  grammar: completionGrammar,
};

export const createEngineRegistry = (): Registry<ReasoningEngine> =>
  new Registry<ReasoningEngine>("engine")
    .register(ENGINES.RE_ACT, reActEngine)
    .register(ENGINES.CHAIN_OF_THOUGHT, chainOfThoughtEngine);

function parseCompletion(text: string, tools: readonly Tool[]): NextStep {
  const byName = toolsByName(tools);
  const completion = readCompletion(text);
  if (completion.kind === "answer") return { kind: "answer", answer: completion.answer };
  const { thought, toolName, actionInput } = completion;
  const tool = byName.get(toolName);
  if (tool === undefined) {
    throw new BaseError({
      code: "TOOL_UNKNOWN",
      shortMessage: `The model chose the tool ${quote(toolName)}; the agent has: ${[...byName.keys()].join(", ") || "none"}.`,
      nextStep: "Let the model try again.",
    });
  }
  const { input, values } = readToolInput(tool, actionInput);
  return {
    kind: "action",
    tool,
    input,
    values,
    reasoning: renderReasoning(thought, tool.name, values),
  };
}

function refuseTools(tools: readonly Tool[]): void {
  if (tools.length === 0) return;
  throw new BaseError({
    code: "ENGINE_WITHOUT_TOOLS",
    shortMessage: `The engine ${ENGINES.CHAIN_OF_THOUGHT} uses no tools, and the agent has ${tools.length}.`,
    nextStep: `Use ${ENGINES.RE_ACT}.`,
  });
}
