/** The OpenAI client: models as tools of its chat completions. No type of the library stands here, so that it fits
 *  whichever major the caller has (6 and 7 are tested). */
import { BaseError, isBaseError } from "../../../base/errors.ts";
import { parseObject } from "../../../base/json.ts";
import type { FinalTool } from "../tool.ts";

/** A `ChatCompletionTool` of the library. */
export interface OpenAiTool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** What is read of a tool call of the model's message. */
export interface OpenAiCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A `ChatCompletionToolMessageParam` of the library. */
export interface OpenAiAnswer {
  role: "tool";
  tool_call_id: string;
  content: string;
}

export const openAiTool = ({ name, description, parameters }: FinalTool): OpenAiTool => ({
  type: "function",
  function: { name, description, parameters: { ...parameters } },
});

/** Runs the tool that a call names. What the model may mend or wait for (its arguments, a result that is not final) is
 *  told to it in the message; the library has no other place for a tool's error.
 *  @throws BaseError TOOL_UNKNOWN; what is no BaseError */
export async function answerOpenAiCall(
  tools: readonly FinalTool[],
  call: OpenAiCall,
  signal?: AbortSignal,
): Promise<OpenAiAnswer> {
  const tool = tools.find(({ name }) => name === call.function.name);
  if (tool === undefined) throw unknown(call.function.name, tools);
  const message = (content: unknown): OpenAiAnswer => ({
    role: "tool",
    tool_call_id: call.id,
    content: JSON.stringify(content),
  });
  try {
    const values = parseObject(new TextEncoder().encode(call.function.arguments));
    return message(await tool.run(values, signal));
  } catch (error) {
    if (!isBaseError(error)) throw error;
    return message({ status: "failed", code: error.code, error: error.message });
  }
}

const unknown = (name: string, tools: readonly FinalTool[]) =>
  new BaseError({
    code: "TOOL_UNKNOWN",
    shortMessage: `There is no tool ${JSON.stringify(name.slice(0, 80))}.`,
    nextStep: `Give one of ${tools.map((tool) => tool.name).join(", ")} to the language model.`,
  });
