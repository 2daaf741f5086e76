/** The sentences that the gateway itself says, word for word as the tool-gating specification has them. */

/** Event `error` of an agent without loaded tools. */
export const NO_TOOLS_CONFIGURED =
  "This agent has no tools configured. Please contact the agent creator to add API access.";

/** The reply when nothing that a tool returned answers the question. */
export const CANNOT_HELP = "I have no tools configured to help with this request.";

/** The reply after a tool failed. */
export const unableToRetrieve = (toolName: string): string =>
  `I was unable to retrieve data from ${toolName}. Please try again.`;

/** Event `tool_error` of a call without access. */
export const accessDenied = (toolName: string): string =>
  `Access denied. This agent is not authorized to use the ${toolName} tool.`;
