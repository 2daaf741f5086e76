/** The Vercel AI SDK: a model as a tool of `generateText` and `streamText`. */
import type { JSONSchema7, jsonSchema, Tool, tool } from "ai";
import type { Values } from "../model.ts";
import type { FinalAnswer, FinalTool } from "../tool.ts";

/** A result that is not final becomes a tool error, which names the claim.
 *  @param library of the caller: `import { jsonSchema, tool } from "ai"` */
export const aiTool = (
  library: { readonly tool: typeof tool; readonly jsonSchema: typeof jsonSchema },
  { description, parameters, run }: FinalTool,
): Tool<Values, FinalAnswer> =>
  library.tool<Values, FinalAnswer>({
    description,
    inputSchema: library.jsonSchema<Values>(parameters as JSONSchema7),
    execute: (values, { abortSignal }) => run(values, abortSignal),
  });
