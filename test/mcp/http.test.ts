/** `assay mcp` over HTTP as whoever is no friendly client meets it: origins, hosts, bodies, many clients. */
import { request } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  answerOf,
  INITIALIZE,
  type McpProcess,
  post,
  startMcp,
  startMcpSystem,
} from "../support/mcp-server.ts";
import type { System } from "../support/system.ts";

const MAX_BODY_BYTES = 1_048_576;

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

const LIST = { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} };
const authority = () => new URL(mcp.url).host;
const port = () => new URL(mcp.url).port;

/** Status of a request under another Host, which `fetch` would not send. */
const statusAs = (host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = {
      host,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const sent = request(mcp.url, { method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(INITIALIZE));
  });

/** What an error says to a client that understands nothing but JSON-RPC, and that it shows nothing of this machine. */
function expectError(answer: Awaited<ReturnType<typeof post>>, status: number, code: number): void {
  expect(answer.text).not.toMatch(/<html|<pre|node_modules|\bat .*\.(?:ts|js|mjs):/i);
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toContain("application/json");
  expect(answer.message).toMatchObject({ jsonrpc: "2.0", error: { code } });
}

describe("mcpApp", () => {
  it.each(["http://evil.example", "https://127.0.0.1.evil.example", "http://127.0.0.1:1", "null", "file://"])(
    "error: a request of a page of %s is refused, whatever it asks",
    async (origin) => {
      expectError(await post(mcp.url, INITIALIZE, { origin }), 403, -32_000);
      expectError(await post(mcp.url, LIST, { origin }), 403, -32_000);
      for (const method of ["GET", "DELETE", "OPTIONS"])
        expect((await fetch(mcp.url, { method, headers: { origin } })).status).toBe(403);
    },
  );

  it("behavior: a page that the server's own address shows may ask, and whoever is no page", async () => {
    expect((await post(mcp.url, INITIALIZE, { origin: `http://${authority()}` })).status).toBe(200);
    expect((await post(mcp.url, INITIALIZE, { origin: `http://localhost:${port()}` })).status).toBe(200);
    expect((await post(mcp.url, INITIALIZE)).status).toBe(200);
  });

  it("error: a host that is not its own", async () => {
    expect(await statusAs(`evil.example:${port()}`)).toBe(403);
    expect(await statusAs(authority())).toBe(200);
    expect(await statusAs(`localhost:${port()}`)).toBe(200);
  });

  it.each([
    ["malformed JSON", '{"jsonrpc": "2.0", "id": 1,'],
    ["nothing", ""],
    ["bytes that are no UTF-8", "\u0000\u0001{"],
  ])("error: a body of %s", async (_, body) => {
    expectError(await post(mcp.url, body), 400, -32_700);
  });

  it("error: a body that is too large, whether its length was said or not", async () => {
    const large = JSON.stringify({ ...LIST, params: { cursor: "x".repeat(MAX_BODY_BYTES) } });
    const announced = await post(mcp.url, large);
    expectError(announced, 413, -32_700);
    expect(announced.text).toContain(`${MAX_BODY_BYTES}`);
    const init = { method: "POST", headers: { "content-type": "application/json" }, duplex: "half" };
    const body = new Blob([large]).stream();
    expectError(await answerOf(await fetch(mcp.url, { ...init, body } as RequestInit)), 413, -32_700);
  });

  it("error: bodies of other types, and messages that are none", async () => {
    expectError(await post(mcp.url, LIST, { "content-type": "text/plain" }), 415, -32_000);
    const { status, message } = await post(mcp.url, { hello: "world" });
    expect(status).toBe(400);
    expect(message).toHaveProperty("error.code");
  });

  it("error: another path, and one that is no percent-encoding", async () => {
    for (const path of ["/nothing", "/%E0%A4%A"]) {
      const answer = await answerOf(await fetch(new URL(path, mcp.url)));
      expect(answer.text).not.toMatch(/<html|node_modules/i);
      expect([400, 404]).toContain(answer.status);
    }
  });

  it("behavior: however many clients come and never leave, one that works goes on", async () => {
    const client = new Client({ name: "busy", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(mcp.url)) as Transport);
    await client.listTools();
    for (let i = 0; i < 300; i++) expect((await post(mcp.url, INITIALIZE)).status).toBe(200);
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await client.close();
  });

  it("behavior: nothing is kept of a client between two requests, so nothing expires or is lost", async () => {
    const { headers, message } = await post(mcp.url, INITIALIZE);
    expect(message).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
    expect(headers.get("mcp-session-id")).toBeNull();
    expect((await post(mcp.url, LIST, { "mcp-session-id": "of-another-server" })).status).toBe(200);
    for (const method of ["GET", "DELETE"]) {
      const answer = await answerOf(
        await fetch(mcp.url, { method, headers: { accept: "text/event-stream" } }),
      );
      expectError(answer, 405, -32_000);
    }
  });
});
