import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ToolServer } from "../../../agent/gateway/tool.ts";
import { McpServer } from "../../../agent/gateway/tools/mcp-server.ts";
import { only, startTestGateway } from "../../support/gateway.ts";
import { serveMcpTools } from "../../support/mcp-tools.ts";

const script = fileURLToPath(new URL("../../support/mcp-tools.ts", import.meta.url));
const limits = { maxResponseBytes: 1_000_000, allowPrivate: true };
const common = { description: "Tools", price: 0 };
const opened: ToolServer[] = [];
let served: Awaited<ReturnType<typeof serveMcpTools>>;

beforeAll(async () => {
  served = await serveMcpTools();
});
afterAll(() => served.stop());
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

function keep(server: McpServer): McpServer {
  opened.push(server);
  return server;
}
const byStdio = (...args: string[]) =>
  keep(
    new McpServer(
      "files",
      {
        ...common,
        command: process.execPath,
        args: ["--import", "tsx", script, ...args],
        env: { GIVEN: "1" },
      },
      limits,
    ),
  );
const byHttp = (changes = {}) =>
  keep(new McpServer("files", { ...common, url: served.url, headers: {} }, { ...limits, ...changes }));

async function call(server: McpServer, api: string, args = {}, signal = new AbortController().signal) {
  const tool = (await server.tools()).find(({ id }) => id === `files/${api}`);
  if (tool === undefined) throw new Error(`no ${api}`);
  return tool.run(args, { signal });
}

describe.each([
  ["stdio", () => byStdio()],
  ["streamable HTTP", () => byHttp()],
])("McpServer over %s", (_transport, open) => {
  it("default: its tools under slugs, its results unverified", async () => {
    const server = open();
    const tools = await server.tools();
    expect(tools.map(({ name }) => name)).toEqual([
      "call_files_getprice",
      "call_files_environment",
      "call_files_fails",
      "call_files_never",
      "call_files_classify",
    ]);
    expect(tools[0]?.parameters).toMatchObject({ type: "object", required: ["symbol"] });
    expect(await call(server, "getprice", { symbol: "ABC" })).toMatchObject({
      success: true,
      status: "unverified",
      data: "ABC is at 42",
    });
  });

  it("error: a tool that reports an error", async () => {
    const outcome = await call(open(), "fails");
    expect(outcome).toMatchObject({ success: false, status: "failed" });
    expect(JSON.stringify(outcome)).not.toContain("secret");
  });

  // shows: D-79
  it("behavior: a model's result that says that it is not final is no data", async () => {
    const server = open();
    for (const status of ["pending", "unverified", "", "FINAL"]) {
      const outcome = await call(server, "classify", { status });
      expect(outcome).toMatchObject({
        success: false,
        status: "pending",
        evidence: { claimId: `0x${"ab".repeat(32)}` },
      });
      expect(JSON.stringify(outcome)).not.toContain("label");
    }
    // Final is what the chain says. Here it is hearsay.
    expect(await call(server, "classify", { status: "final" })).toMatchObject({
      success: true,
      status: "unverified",
    });
  });

  it("behavior: a call ends when its turn does", async () => {
    const leave = new AbortController();
    const running = call(open(), "never", {}, leave.signal);
    leave.abort();
    await expect(running).rejects.toThrow();
  });
});

describe("McpServer", () => {
  // shows: D-57, D-81
  it("error: tools whose names differ by case alone", async () => {
    await expect(byStdio("--collides").tools()).rejects.toMatchObject({ code: "TOOL_COLLISION" });
  });

  it("error: a process that does not start, an address that is private", async () => {
    const missing = keep(
      new McpServer("x", { ...common, command: "/nonexistent", args: [], env: {} }, limits),
    );
    await expect(missing.tools()).rejects.toMatchObject({ code: "MCP_UNREACHABLE", retryable: true });
    await expect(byHttp({ allowPrivate: false }).tools()).rejects.toMatchObject({
      code: "EGRESS_ADDRESS_REFUSED",
    });
  });

  it("behavior: the process sees none of the gateway's secrets", async () => {
    process.env.ASSAY_KEY = "0x01";
    try {
      const { data } = (await call(byStdio(), "environment")) as { data: string };
      expect(data.split(" ")).toContain("GIVEN");
      expect(data).not.toContain("ASSAY_KEY");
    } finally {
      delete process.env.ASSAY_KEY;
    }
  });

  it("behavior: an agent of a gateway uses it", async () => {
    const gateway = await startTestGateway({ servers: new Map([["files", byStdio()]]) });
    const { id } = await gateway.agents.createAgent({ name: "Prices", availableTools: ["files/getprice"] });
    gateway.model.answers(
      { calls: [{ name: "call_files_getprice", arguments: '{"symbol":"ABC"}' }] },
      { text: "ABC is at 42 (call_files_getprice)" },
    );
    expect(only(await gateway.chat(id, "ABC?"), "text")).toEqual({
      text: "ABC is at 42 (call_files_getprice)",
    });
    await gateway.stop();
  });
});
