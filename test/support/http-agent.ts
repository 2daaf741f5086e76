/** An agent on a free port, in this process. */
import { createAgentApp, type MethodHandlers } from "../../agent/http/app.ts";
import { SILENT } from "../../base/log.ts";
import type { AgentMetadata } from "../../inference/manifest/assay.ts";
import { type HttpServer, listen } from "../../protocol/service/http/listen.ts";
import { DEFAULT_CALLER_LIMITS } from "../../protocol/service/http/service.ts";
import { CREATE_ORDER, GREET, REQUEST } from "./agent-calls.ts";
import { COMPLETE_EXAMPLE } from "./agent-metadata.ts";

export function startAgent(
  metadata: AgentMetadata,
  handlers: MethodHandlers,
  timeoutMs = 25_000,
  log = SILENT,
): Promise<HttpServer> {
  return listen(
    createAgentApp({ metadata, handlers, log, nowMs: Date.now, timeoutMs, limits: DEFAULT_CALLER_LIMITS }),
    "127.0.0.1",
    0,
  );
}

/** The methods of the text's encoding examples, with answers. */
export const GREETER: AgentMetadata = { ...COMPLETE_EXAMPLE, abi: [GREET, REQUEST, CREATE_ORDER] };
export const ORDER_ID = `0x${"5a".repeat(32)}`;
export const GREETER_HANDLERS: MethodHandlers = {
  greet: ([name]) => [`Hello, ${name}!`],
  request: ([url, keys, values]) => [JSON.stringify({ url, keys, values })],
  createOrder: ([order]) => [ORDER_ID, (order as { quantity: bigint }).quantity > 0n],
};
