/** The MCP server over standard input and output. */
import type { McpServerFactory } from "@modelcontextprotocol/server";
import { serveStdio as serveConnection } from "@modelcontextprotocol/server/stdio";

/** Serves one client until it leaves or the signal aborts. */
export async function serveStdio(create: McpServerFactory, signal: AbortSignal): Promise<void> {
  const connection = serveConnection(create);
  await new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await connection.close();
}
