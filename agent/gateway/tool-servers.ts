/** The servers of a configuration, with their tools. */
import { BaseError } from "../../base/errors.ts";
import { type GatewayConfig, type ServerConfig, secretsOf } from "./config.ts";
import type { Tool, ToolServer } from "./tool.ts";
import { httpTool } from "./tools/http-tool.ts";
import { McpServer } from "./tools/mcp-server.ts";
import { type ModelSource, type ModelToolParts, modelTool } from "./tools/model-tool.ts";

export interface ServerParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** true: tools are only listed, and one that files requests needs no key */
  readonly isListing?: boolean;
  /** absent: no chain is configured, and a tool of kind `model` is refused */
  readonly models?: ModelToolParts & { readonly find: (name: string) => Promise<ModelSource> };
}

type ApiServerConfig = Extract<ServerConfig, { apis: unknown }>;

/** @throws BaseError CONFIG_INVALID, and what each kind of tool throws */
export async function openServers(
  { servers, limits }: Pick<GatewayConfig, "servers" | "limits">,
  parts: ServerParts,
): Promise<Map<string, ToolServer>> {
  const opened = new Map<string, ToolServer>();
  const http = { maxResponseBytes: limits.maxResponseBytes, timeoutMs: limits.toolTimeoutMs };
  for (const [slug, config] of Object.entries(servers)) {
    if ("apis" in config) {
      opened.set(slug, await apiServer(slug, config, http, parts));
      continue;
    }
    const { mcp, description, price } = config;
    if ("command" in mcp) {
      opened.set(
        slug,
        new McpServer(slug, { ...mcp, env: secretsOf(mcp.env, parts.env), description, price }, http),
      );
    } else {
      const { url, headers, allowPrivate } = mcp;
      const own = { url, headers: secretsOf(headers, parts.env), description, price };
      opened.set(slug, new McpServer(slug, own, { ...http, allowPrivate }));
    }
  }
  return opened;
}

async function apiServer(
  slug: string,
  { description, apis }: ApiServerConfig,
  http: { readonly maxResponseBytes: number; readonly timeoutMs: number },
  { env, models, isListing = false }: ServerParts,
): Promise<ToolServer> {
  const tools: Tool[] = [];
  for (const [api, config] of Object.entries(apis)) {
    const id = `${slug}/${api}`;
    if (config.kind === "http") {
      const { allowPrivate, headers, ...own } = config;
      tools.push(httpTool(id, { ...own, headers: secretsOf(headers, env) }, { ...http, allowPrivate }));
      continue;
    }
    if (models === undefined) throw noChain(id);
    const { model, minWindow, ask, ...own } = config;
    const terms = {
      ...own,
      ...(minWindow === undefined ? {} : { minWindow }),
      ...(ask === undefined || isListing ? {} : { ask }),
    };
    tools.push(modelTool(id, await models.find(model), terms, models));
  }
  return { slug, description, tools: async () => tools, close: async () => {} };
}

const noChain = (id: string) =>
  new BaseError({
    code: "CONFIG_INVALID",
    shortMessage: `The tool ${id} is a model, and no chain is configured.`,
    nextStep: "Give --rpc-url and --deployment.",
  });
