/** LangChain: a model as a structured tool. */
import type { DynamicStructuredTool, tool } from "@langchain/core/tools";
import type { Values } from "../model.ts";
import type { FinalTool } from "../tool.ts";

/** Its content is JSON. A result that is not final is thrown, naming the claim: whoever runs tools (an agent, a tool
 *  node) makes an error message of it.
 *  @param create of the caller: `import { tool } from "@langchain/core/tools"` */
export const langchainTool = (
  create: typeof tool,
  { name, description, parameters, run }: FinalTool,
): DynamicStructuredTool =>
  create(
    async (values: unknown, { signal }: { readonly signal?: AbortSignal }) =>
      JSON.stringify(await run(values as Values, signal)),
    { name, description, schema: parameters as never },
  ) as unknown as DynamicStructuredTool;
