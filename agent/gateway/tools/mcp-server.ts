/** An MCP server's tools, by the official client. What they say is unverified, unless a result itself says that it is
 *  not final: then it is no data. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { isHex } from "viem";
import { BaseError } from "../../../base/errors.ts";
import { VERSION } from "../../../base/version.ts";
import { guardedFetch } from "../../egress/guarded-fetch.ts";
import type { Evidence, Tool, ToolOutcome, ToolServer } from "../tool.ts";
import { slugFrom, toolNameOf } from "../tool-names.ts";
import { visibleText } from "../visible-text.ts";
import type { HttpLimits } from "./http-tool.ts";

export type McpConfig = { readonly description: string; readonly price: number } & (
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
);

const MAX_TOOLS = 128;
const MAX_PAGES = 16;
const CONNECT_TIMEOUT_MS = 30_000;
const MAX_MESSAGE_BYTES = 4 * 2 ** 20;

type Result = Awaited<ReturnType<Client["callTool"]>>;

/** Connects when its tools are first asked for, and again after the connection was lost. The list of tools is that of
 *  the connection's start: a server cannot change a tool under an agent that uses it. */
export class McpServer implements ToolServer {
  readonly slug: string;
  readonly description: string;
  readonly #config: McpConfig;
  readonly #limits: HttpLimits;
  #session: Promise<{ client: Client; tools: readonly Tool[] }> | undefined;

  constructor(slug: string, config: McpConfig, limits: HttpLimits) {
    this.slug = slug;
    this.description = config.description;
    this.#config = config;
    this.#limits = limits;
  }

  async tools(): Promise<readonly Tool[]> {
    this.#session ??= this.#open();
    try {
      return (await this.#session).tools;
    } catch (cause) {
      this.#session = undefined;
      if (cause instanceof BaseError) throw cause;
      throw new BaseError({
        code: "MCP_UNREACHABLE",
        shortMessage: `The MCP server ${this.slug} cannot be used: ${visibleText(String(cause), 200)}`,
        nextStep: "Check its command or address in the gateway's configuration.",
        retryable: true,
        cause,
      });
    }
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined);
    this.#session = undefined;
    await session?.client.close();
  }

  async #open() {
    const client = new Client({ name: "assay-gateway", version: VERSION });
    client.onclose = () => {
      this.#session = undefined;
    };
    try {
      await client.connect(this.#transport(), { timeout: CONNECT_TIMEOUT_MS });
      return { client, tools: await this.#list(client) };
    } catch (error) {
      await client.close().catch(() => undefined);
      throw error;
    }
  }

  #transport(): Transport {
    const config = this.#config;
    if ("command" in config) {
      const { command, args, env } = config;
      // Of the gateway's own environment the client passes on what is harmless, no keys.
      return new StdioClientTransport({
        command,
        args: [...args],
        stderr: "ignore",
        maxBufferSize: MAX_MESSAGE_BYTES,
        env: { ...env },
      });
    }
    // Its stream of notifications stays open: time limits are those of each call.
    const { timeoutMs: _each, ...policy } = this.#limits;
    const send = guardedFetch({ ...policy, origins: [config.url], maxResponseBytes: MAX_MESSAGE_BYTES });
    return new StreamableHTTPClientTransport(new URL(config.url), {
      fetch: (url, init) => send(url, init ?? {}),
      requestInit: { headers: { ...config.headers } },
    }) as Transport;
  }

  /** @throws BaseError TOOL_COLLISION, TOOLS_TOO_MANY */
  async #list(client: Client): Promise<Tool[]> {
    const tools = new Map<string, Tool>();
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const listed = await client.listTools(cursor === undefined ? {} : { cursor }, {
        timeout: CONNECT_TIMEOUT_MS,
      });
      for (const { name, description = "", inputSchema } of listed.tools) {
        const id = `${this.slug}/${slugFrom(name)}`;
        const tool = {
          id,
          name: toolNameOf(id),
          description: visibleText(description, 1_000),
          parameters: inputSchema,
          price: this.#config.price,
          run: (args: Readonly<Record<string, unknown>>, { signal }: { signal: AbortSignal }) =>
            call(client, name, args, signal),
        };
        if (tools.has(id)) throw collision(id, name);
        tools.set(id, tool);
        if (tools.size > MAX_TOOLS) throw tooMany(this.slug);
      }
      cursor = listed.nextCursor;
      if (cursor === undefined) break;
    }
    return [...tools.values()];
  }
}

async function call(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const result = await client.callTool({ name, arguments: { ...args } }, undefined, { signal });
  if (result.isError === true) {
    return {
      success: false,
      status: "failed",
      code: "TOOL_FAILED",
      error: "The MCP tool reported an error.",
    };
  }
  const { data, evidence, isHeldBack } = read(result);
  if (!isHeldBack) return { success: true, status: "unverified", data, evidence };
  return {
    success: false,
    status: "pending",
    code: "NOT_FINAL",
    error: "The output is not final: it is not handed on.",
    evidence,
  };
}

function read({ structuredContent, content }: Result) {
  const structured = structuredContent as Record<string, unknown> | undefined;
  const texts = (Array.isArray(content) ? content : []).flatMap((part) =>
    part.type === "text" ? [part.text] : [],
  );
  const hex = (name: keyof Evidence) => {
    const value = structured?.[name];
    return isHex(value) ? { [name]: value } : {};
  };
  const evidence: Evidence = {
    ...hex("modelId"),
    ...hex("inputHash"),
    ...hex("outputHash"),
    ...hex("requestId"),
    ...hex("claimId"),
  };
  // A result that names a registered model says how final it is. Another server's `status` means something else.
  const isHeldBack = evidence.modelId !== undefined && structured?.status !== "final";
  return { data: structured ?? texts.join("\n"), evidence, isHeldBack };
}

const collision = (id: string, name: string) =>
  new BaseError({
    code: "TOOL_COLLISION",
    shortMessage: `Two tools would both be ${id}; the second is named ${JSON.stringify(visibleText(name, 80))}.`,
    nextStep: "Names must differ by more than case and punctuation.",
  });

const tooMany = (slug: string) =>
  new BaseError({
    code: "TOOLS_TOO_MANY",
    shortMessage: `The server ${slug} has more than ${MAX_TOOLS} tools.`,
    nextStep: "Split it into several servers.",
  });
