/** The Vercel AI SDK: a model as a tool of `generateText` and `streamText`. No type of the library stands here, so that
 *  it fits whichever major the caller has (6 and 7 are tested). */
import type { Values } from "../model.ts";
import type { FinalAnswer, FinalTool } from "../tool.ts";

/** What the library's `tool` makes of a definition; it returns the definition itself. */
export interface AiTool<Schema> {
  description: string;
  inputSchema: Schema;
  execute(values: Values, options: { readonly abortSignal?: AbortSignal | undefined }): Promise<FinalAnswer>;
}

/** A result that is not final becomes a tool error, which names the claim.
 *  @param library of the caller: `import { jsonSchema } from "ai"` */
export const aiTool = <Schema>(
  library: { readonly jsonSchema: (schema: never) => Schema },
  { description, parameters, run }: FinalTool,
): AiTool<Schema> => ({
  description,
  inputSchema: library.jsonSchema(parameters as never),
  execute: (values, { abortSignal }) => run(values, abortSignal),
});
