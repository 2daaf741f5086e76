/** Arguments that nest deeply, over a transport that lets them through, as standard input and output do. */
import { expect, it } from "vitest";
import { createMcpServer } from "../../../agent/mcp/server.ts";
import { textIn } from "../../../inference/text/conversation.ts";

type Message = Readonly<Record<string, unknown>>;

it("error: a result with a code, and no fault of the server", async () => {
  const tool = {
    ...{
      id: "assay/small",
      name: "call_assay_small",
      description: "",
      parameters: { type: "object" },
      price: 0,
    },
    run: async (args: Message) => {
      textIn(args, []);
      throw new Error("it was run");
    },
  };
  const server = createMcpServer({
    ...{ tools: [tool], version: "1.0.0", terms: "", waitMs: 0, nowMs: () => 0 },
    verify: () => Promise.reject(new Error("it was asked")),
  });
  const waiting = new Map<unknown, (message: Message) => void>();
  const transport = {
    start: async () => undefined,
    close: async () => undefined,
    send: async (message: Message) => waiting.get(message.id)?.(message),
  };
  await server.connect(transport as never);
  const { onmessage } = transport as unknown as { onmessage: (message: Message) => void };
  const ask = (id: number, method: string, params: Message) =>
    new Promise<Message>((resolve) => {
      waiting.set(id, resolve);
      onmessage({ jsonrpc: "2.0", id, method, params });
    });
  const clientInfo = { name: "test", version: "1.0.0" };
  await ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  let deep: unknown = "";
  for (let i = 0; i < 20_000; i++) deep = [deep];
  const calls = [
    { name: "call_assay_small", arguments: { text: deep } },
    { name: "verify_claim", arguments: { claimId: deep } },
  ];
  for (const [i, call] of calls.entries())
    expect(await ask(2 + i, "tools/call", call)).toMatchObject({
      result: { isError: true, structuredContent: { status: "failed", code: "JSON_INVALID" } },
    });
});
