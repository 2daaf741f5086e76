/** `assay mcp` over HTTP as a process, before a chain of its own, and what its clients send. */
import { join } from "node:path";
import { startDaemon } from "../../cli/demo/processes.ts";
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { keyOf, ROLES, type ShippedModel, type System, startSystem } from "./system.ts";

/** A chain that has the models, with their weights. @param answerSeconds T */
export async function startMcpSystem(models: readonly ShippedModel[], answerSeconds = 5): Promise<System> {
  const system = await startSystem({ models, answerSeconds, blocks: "on-demand" });
  const { chain, sender } = await system.open("publisher", ROLES.cheat);
  for (const name of models) {
    const { model, modelId } = system.model(name);
    await publishWeights(chain, sender, modelId as ModelId, planPublication(model));
  }
  return system;
}

export interface McpProcess {
  /** of the protocol's endpoint */
  readonly url: string;
  /** file of its log, JSON lines */
  readonly log: string;
  stop(): Promise<void>;
}

/** @param args models and options */
export async function startMcp(system: System, name: string, args: readonly string[]): Promise<McpProcess> {
  const daemon = startDaemon({
    name,
    folder: system.folder,
    rpcUrl: system.rpcUrl,
    deployment: join(system.folder, "deployment.json"),
    args: ["mcp", ...args, "--port", "0"],
    key: keyOf(ROLES.challenger),
  });
  return { url: String((await daemon.logged("mcp is up")).url), log: daemon.log, stop: () => daemon.stop() };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** the JSON-RPC message, of a body or of the last event of a stream; undefined if there is none */
  readonly message: Record<string, unknown> | undefined;
}

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Sends one HTTP request. @param body JSON of it is sent, a string as it is */
export async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url, { method: "POST", headers: { ...HEADERS, ...headers }, body: text });
  return answerOf(response);
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, text, message: messageOf(text) };
}

function messageOf(text: string): Record<string, unknown> | undefined {
  const events = text.split("\n").filter((line) => line.startsWith("data: {"));
  try {
    return JSON.parse(events.at(-1)?.slice("data: ".length) ?? text);
  } catch {
    return undefined;
  }
}

/** A request of the protocol's revision 2025-11-25, with whatever is sent before a session has an id. */
export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1.0.0" },
  },
};
