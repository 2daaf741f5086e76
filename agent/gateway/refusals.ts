/** The sentences that the gateway itself says; the constants are word for word as the tool-gating specification has
 *  them. */
import { visibleText } from "./visible-text.ts";

/** Characters of a result that stand in a sentence; the event `tool_result` has the whole one. */
const MAX_SHOWN = 2_000;

/** Event `error` of an agent without loaded tools. */
export const NO_TOOLS_CONFIGURED =
  "This agent has no tools configured. Please contact the agent creator to add API access.";

/** The reply when no tool answered and none failed. */
export const CANNOT_HELP = "I have no tools configured to help with this request.";

/** The reply after a tool failed. */
export const unableToRetrieve = (toolName: string): string =>
  `I was unable to retrieve data from ${toolName}. Please try again.`;

/** The reply when tools answered, and the model wrote nothing that their results support. */
export function unsupportedReply(
  results: readonly {
    readonly toolName: string;
    readonly data?: unknown;
    readonly meaning?: { readonly text: string };
  }[],
): string {
  const names = [...new Set(results.map(({ toolName }) => toolName))].join(" and ");
  const shown = results.map(
    ({ toolName, data, meaning }) =>
      `${toolName} returned: ${meaning === undefined ? "" : `${meaning.text}, `}${visibleText(JSON.stringify(data) ?? "", MAX_SHOWN)}`,
  );
  return [
    `${names} answered, but the reply that was written about it is not supported by the result and is not shown.`,
    ...shown,
  ].join("\n");
}

/** Event `tool_error` of a call without access. */
export const accessDenied = (toolName: string): string =>
  `Access denied. This agent is not authorized to use the ${toolName} tool.`;
