/** How clients reach the MCP server: one over standard input and output, or any number over HTTP. */
import { randomUUID } from "node:crypto";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";

const MAX_BODY = "1mb";
/** Sessions that may be open at once; the oldest idle one makes room. */
const MAX_SESSIONS = 256;

/** Serves one client until it leaves. */
export async function serveStdio(server: Server): Promise<void> {
  const transport = new StdioServerTransport();
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  await server.connect(transport);
  process.stdin.once("end", () => void server.close());
  await closed;
}

export interface McpApp {
  readonly app: express.Express;
  /** Ends every session. */
  closeSessions(): Promise<void>;
}

/** `/mcp` of the protocol's streamable HTTP, with sessions.
 *  @param allowedHosts values of the Host header that are served: a page of another site cannot reach it by DNS */
export function mcpApp(create: () => Server, allowedHosts: () => readonly string[]): McpApp {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const app = express();
  app.disable("x-powered-by");
  app.use(express.json({ limit: MAX_BODY }));
  app.get("/health", (_request, response) => {
    response.json({ status: "ok", sessions: sessions.size });
  });
  app.all("/mcp", async (request, response) => {
    const id = request.header("mcp-session-id");
    let transport = id === undefined ? undefined : sessions.get(id);
    if (id !== undefined && transport === undefined) {
      // The protocol's own answer: the client starts a new session.
      response.status(404).json(rpcError(-32_001, `There is no session ${id.slice(0, 64)}.`));
      return;
    }
    transport ??= await open();
    await transport.handleRequest(request, response, request.body);
  });

  async function open(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableDnsRebindingProtection: true,
      allowedHosts: [...allowedHosts()],
      onsessioninitialized: (session) => {
        const [oldest] = sessions.entries();
        if (sessions.size >= MAX_SESSIONS && oldest !== undefined) void oldest[1].close();
        sessions.set(session, transport);
      },
    });
    transport.onclose = () => {
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
    };
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    await create().connect(transport as never);
    return transport;
  }

  const closeSessions = async (): Promise<void> => {
    await Promise.all([...sessions.values()].map((transport) => transport.close()));
  };
  return { app, closeSessions };
}

const rpcError = (code: number, message: string) => ({ jsonrpc: "2.0", id: null, error: { code, message } });
