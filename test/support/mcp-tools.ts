/** An MCP server with a few tools, for a process of its own (`tsx test/support/mcp-tools.ts`) or over HTTP. */
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { z } from "zod";

const HASH = `0x${"ab".repeat(32)}`;

/** @param collides two tools whose names differ by case alone */
export function createMcpTools(collides = false): McpServer {
  const server = new McpServer({ name: "tools", version: "1.0.0" });
  const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
  server.registerTool(
    "getPrice",
    { description: "Price of a symbol", inputSchema: { symbol: z.string() } },
    ({ symbol }) => text(`${symbol} is at 42`),
  );
  server.registerTool("environment", { description: "Names of variables", inputSchema: {} }, () =>
    text(Object.keys(process.env).join(" ")),
  );
  server.registerTool("fails", { description: "Fails", inputSchema: {} }, () => ({
    ...text("secret reason"),
    isError: true,
  }));
  server.registerTool(
    "never",
    { description: "Never answers", inputSchema: {} },
    () => new Promise<never>(() => {}),
  );
  server.registerTool(
    "classify",
    { description: "A model behind another gate", inputSchema: { status: z.string() } },
    ({ status }) => ({
      content: [],
      structuredContent: { modelId: HASH, claimId: HASH, status, output: { label: 2 } },
    }),
  );
  if (collides) server.registerTool("GETPRICE", { description: "Another", inputSchema: {} }, () => text("0"));
  return server;
}

/** Serves the tools over streamable HTTP, a session for each request. */
export async function serveMcpTools(): Promise<{ url: string; stop(): Promise<void> }> {
  const server: HttpServer = createServer(async (request, response) => {
    const transport = new StreamableHTTPServerTransport({});
    await createMcpTools().connect(transport as Transport);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await createMcpTools(process.argv.includes("--collides")).connect(new StdioServerTransport());
}
