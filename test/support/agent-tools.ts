/** Tools that agents have in tests. */
import type { Param, Tool } from "../../agent/executor/tool.ts";

const param = (type: Param["type"], name: string, description: string): Param => ({
  type,
  name,
  description,
});

/** The tools of the ERC text's example prompt. */
export const TRANSFER: Tool = {
  address: "0x0000000000000000000000000000000000000011",
  name: "TransferTokenTool",
  description: "Sends tokens from the user's wallet to another address.",
  params: [
    param("ADDRESS", "token", "the token's contract"),
    param("ADDRESS", "to", "who receives"),
    param("UINT", "amount", "how much, in the token's smallest unit"),
  ],
};
export const EXCHANGE: Tool = {
  address: "0x0000000000000000000000000000000000000012",
  name: "ExchangeTokenTool",
  description: "Swaps tokens from the user's wallet for others.",
  params: [
    param("ADDRESS", "sell", "the token that is given"),
    param("ADDRESS", "buy", "the token that is taken"),
    param("UINT", "amount", "how much is given, in its smallest unit"),
  ],
};
export const VIEW: Tool = {
  address: "0x0000000000000000000000000000000000000013",
  name: "ViewTokensTool",
  description: "Returns all tokens owned by the user, one a line.",
  params: [],
};
export const WALLET_TOOLS: readonly Tool[] = [TRANSFER, EXCHANGE, VIEW];

/** One parameter of each type. */
export const EVERY_TYPE: Tool = {
  address: "0x0000000000000000000000000000000000000014",
  name: "EveryTypeTool",
  description: "Takes one value of each type.",
  params: [
    param("STRING", "text", "a text"),
    param("ADDRESS", "who", "an address"),
    param("BOOL", "flag", "yes or no"),
    param("INT", "change", "an integer"),
    param("UINT", "count", "an integer from 0"),
    param("STRING_ARRAY", "texts", "texts"),
    param("ADDRESS_ARRAY", "whos", "addresses"),
    param("BOOL_ARAY", "flags", "several yes or no"),
    param("INT_ARRAY", "changes", "integers"),
    param("UINT_ARRAY", "counts", "integers from 0"),
  ],
};

export const BASE_PROMPT =
  "You are a helpful assistant deployed to a blockchain, helping a user manage his/her on-chain wallet that contains various tokens.";
