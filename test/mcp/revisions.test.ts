/** Both revisions of the protocol, 2025-11-25 and 2026-07-28, by the official clients, over HTTP and over standard input
 *  and output. */
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import input from "../../cli/demo/input.json" with { type: "json" };
import packageFile from "../../package.json" with { type: "json" };
import { projectRoot } from "../../tools/foundry.ts";
import { runAssay } from "../support/assay.ts";
import { type McpProcess, post, startMcp, startMcpSystem } from "../support/mcp-server.ts";
import type { System } from "../support/system.ts";

const MODERN = "2026-07-28";
const MODES = [
  ["2025-11-25", "legacy"],
  [MODERN, "auto"],
  [MODERN, { pin: MODERN }],
] as const;

const { closes, highs, lows } = input.prices;

let system: System;
let mcp: McpProcess;

beforeAll(async () => {
  system = await startMcpSystem(["forecast-vix"]);
  mcp = await startMcp(system, "mcp", ["forecast-vix"]);
});
afterAll(async () => {
  await mcp?.stop();
  await system?.stop();
});

type Mode = (typeof MODES)[number][1];

const connected = async (mode: Mode, transport: Transport) => {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
};
const overHttp = (mode: Mode) => connected(mode, new StreamableHTTPClientTransport(new URL(mcp.url)));
const overStdio = (mode: Mode) =>
  connected(
    mode,
    new StdioClientTransport({
      command: process.execPath,
      args: [join(projectRoot, "bin", "assay.js"), "mcp", "forecast-vix"],
      env: {
        ASSAY_RPC_URL: system.rpcUrl,
        ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
        PATH: process.env.PATH ?? "",
      },
    }),
  );

const CASES = MODES.flatMap(([revision, mode]) => [
  [revision, mode, "HTTP", overHttp] as const,
  [revision, mode, "standard input and output", overStdio] as const,
]);

/** One message of the new revision written out as its text says it. */
const modern = (
  method: string,
  params: object = {},
  version = MODERN,
  headers: Record<string, string> = {},
) =>
  post(
    mcp.url,
    {
      jsonrpc: "2.0",
      id: 7,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": version,
          "io.modelcontextprotocol/clientCapabilities": {},
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
        },
      },
    },
    { "mcp-protocol-version": version, "mcp-method": method, ...headers },
  );

describe("createMcpServer", () => {
  it.each(CASES)("default: a client of %s (%j) over %s lists and calls", async (revision, mode, _, open) => {
    const client = await open(mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getServerVersion()).toMatchObject({ name: "assay", version: packageFile.version });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["call_assay_forecast-vix", "verify_claim"]);
    const result = await client.callTool({
      name: "call_assay_forecast-vix",
      arguments: { closes, highs, lows },
    });
    expect(result.structuredContent).toMatchObject({ status: "final", lane: "EXECUTION" });
    await expect(client.callTool({ name: "call_assay_other", arguments: {} })).rejects.toMatchObject({
      code: -32_602,
    });
    await client.close();
  });

  it("behavior: `server/discover` names revisions, capabilities and server", async () => {
    const { status, message } = await modern("server/discover");
    expect(status).toBe(200);
    expect(message).toMatchObject({
      result: {
        resultType: "complete",
        supportedVersions: expect.arrayContaining([MODERN]),
        capabilities: { tools: {} },
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "assay", version: packageFile.version } },
      },
    });
  });

  it("error: a revision that there is not, headers that contradict the body, a method that there is not", async () => {
    const unknown = await modern("tools/list", {}, "2099-01-01");
    expect(unknown.status).toBe(400);
    expect(unknown.message).toMatchObject({
      error: { code: -32_022, data: { supported: expect.arrayContaining([MODERN]) } },
    });
    const mismatch = await modern("tools/call", { name: "verify_claim" }, MODERN, { "mcp-name": "other" });
    expect(mismatch.status).toBe(400);
    expect(mismatch.message).toMatchObject({ error: { code: -32_020 } });
    const { status, message } = await modern("prompts/list");
    expect(status).toBe(404);
    expect(message).toMatchObject({ error: { code: -32_601 } });
  });

  it("behavior: package, program, MCP and its HTTP say one version", async () => {
    const { stdout } = await runAssay(["--version"]);
    expect(stdout.trim()).toBe(packageFile.version);
    const health = await fetch(new URL("/health", mcp.url));
    expect(await health.json()).toEqual({ status: "ok", version: packageFile.version, requests: 0 });
  });
});
