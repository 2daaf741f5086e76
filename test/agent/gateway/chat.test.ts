import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { CANNOT_HELP, NO_TOOLS_CONFIGURED } from "../../../agent/gateway/refusals.ts";
import type { Agent } from "../../../agent/gateway/store/agent-service.ts";
import { namesOf, only, startTestGateway, type TestGateway } from "../../support/gateway.ts";

let gateway: TestGateway;
let tvl: Agent;
let both: Agent;

beforeAll(async () => {
  gateway = await startTestGateway();
  tvl = await gateway.agents.createAgent({ name: "TVL Analyzer", availableTools: ["magpie/tvl"] });
  both = await gateway.agents.createAgent({
    name: "Magpie",
    availableTools: ["magpie/tvl", "magpie/liquidity"],
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.model.requests.length = 0;
  gateway.visits.length = 0;
  gateway.lines.length = 0;
  gateway.returns("/tvl", { tvl: 1_234_567.5, currency: "dollars" });
  gateway.returns("/liquidity", { liquidity: 42 });
  gateway.returns("/swap", { swapped: true });
});

const UNSUPPORTED = `call_magpie_tvl answered, but the reply that was written about it is not supported by the result and is not shown.
call_magpie_tvl returned: {"tvl":1234567.5,"currency":"dollars"}`;

const call = (name: string, args: unknown = {}) => ({ name, arguments: JSON.stringify(args) });
const messages = () => gateway.lines.map(({ message }) => message);
const withoutTools = () =>
  gateway.agents.createAgent({ name: "Empty", server: "magpie", availableTools: [] });

describe("layer 1", () => {
  // shows, D-62
  it("default: an agent without tools ends with the event error, and no model is asked", async () => {
    const agent = await withoutTools();
    gateway.model.answers({ text: "Paris" });
    const events = await gateway.chat(agent.id, "What's the capital of France?");
    expect(namesOf(events)).toEqual(["error", "done"]);
    expect(only(events, "error")).toEqual({
      message: "This agent has no tools configured. Please contact the agent creator to add API access.",
    });
    expect(gateway.model.requests).toEqual([]);
    const warned = gateway.lines.filter(({ level }) => level === "warn").map(({ message }) => message);
    expect(warned).toEqual([`❌ Agent ${agent.id} has no tools configured - cannot operate`]);
  });

  // shows: X-07, D-62
  it("behavior: configured tools that are not there any more count as none", async () => {
    const gone = { slug: "gone", description: "", close: async () => {} };
    const tool = { id: "gone/api", name: "call_gone_api", description: "", parameters: {}, price: 0 };
    const present = [
      { ...tool, run: async () => ({ success: true as const, status: "unverified" as const, data: 1 }) },
    ];
    let tools = present;
    const other = await startTestGateway({
      servers: new Map([["gone", { ...gone, tools: async () => tools }]]),
    });
    const agent = await other.agents.createAgent({ name: "Gone", availableTools: ["gone/api"] });
    tools = [];
    const events = await other.chat(agent.id, "Hello?");
    expect(only(events, "error")).toEqual({ message: NO_TOOLS_CONFIGURED });
    expect(other.model.requests).toEqual([]);
    await other.stop();
  });
});

describe("runTurn", () => {
  // shows
  it("default: the model calls, the result goes back to it, and its reply goes out", async () => {
    gateway.model.answers(
      { calls: [call("call_magpie_tvl", { pool: "main" })] },
      { text: "The TVL is 1,234,567.5 dollars, says call_magpie_tvl." },
    );
    const events = await gateway.chat(tvl.id, "What is the TVL?");
    expect(namesOf(events)).toEqual(["tool_call", "tool_result", "text", "done"]);
    expect(only(events, "tool_call")).toEqual({ callId: "call-1", toolName: "call_magpie_tvl" });
    expect(only(events, "tool_result")).toEqual({
      callId: "call-1",
      toolName: "call_magpie_tvl",
      success: true,
      status: "unverified",
      data: { tvl: 1_234_567.5, currency: "dollars" },
    });
    expect(only(events, "text")).toEqual({ text: "The TVL is 1,234,567.5 dollars, says call_magpie_tvl." });
    expect(only(events, "done")).toEqual({ outcome: "answered" });
    expect(events.map(({ id }) => id)).toEqual(["1", "2", "3", "4"]);
    expect(gateway.visits).toEqual(["/tvl?pool=main"]);
    const [first, second] = gateway.model.requests;
    expect(first?.tools.map((tool) => tool.function.name)).toEqual(["call_magpie_tvl"]);
    expect(first?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(second?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"]);
    expect(JSON.parse(second?.messages[3]?.content ?? "")).toMatchObject({ data: { tvl: 1_234_567.5 } });
    expect(messages().filter((line) => line !== "http")).toEqual([
      `✅ Agent ${tvl.id} (TVL Analyzer) loaded with 1 tool(s)`,
      "🔒 Tool-gating enabled: Agent can ONLY call these tools: call_magpie_tvl",
      "✅ Tool executed successfully: call_magpie_tvl",
    ]);
  });

  // shows, D-63
  it("behavior: the audit log has the turn in the order of the text, the gate after the results", async () => {
    gateway.model.answers(
      { calls: [call("call_magpie_tvl")] },
      { text: "1234567.5 dollars (call_magpie_tvl)" },
    );
    const before = [...gateway.audit.rows()].length;
    await gateway.chat(tvl.id, "TVL?");
    const rows = [...gateway.audit.rows()].slice(before);
    expect(rows.map(({ kind, outcome }) => [kind, outcome])).toEqual([
      ["loaded", "loaded"],
      ["attempt", undefined],
      ["tool_call", undefined],
      ["tool_result", "unverified"],
      ["gate", "passed"],
      ["text", undefined],
      ["done", "answered"],
    ]);
    expect(new Set(rows.map(({ agentId }) => agentId))).toEqual(new Set([tvl.id]));
  });

  // shows, D-65
  it("behavior: a tool that the agent was not given is denied and not run", async () => {
    gateway.model.answers({ calls: [call("call_uniswap_swap")] }, { text: "Swapped." });
    const events = await gateway.chat(tvl.id, "Swap!");
    expect(namesOf(events)).toEqual(["tool_call", "tool_error", "text", "done"]);
    expect(only(events, "tool_error")).toEqual({
      toolName: "call_uniswap_swap",
      error: "Access denied. This agent is not authorized to use the call_uniswap_swap tool.",
    });
    expect(only(events, "text")).toEqual({ text: "I have no tools configured to help with this request." });
    expect(gateway.visits).toEqual([]);
    expect(messages()).toContain(
      `⚠️  UNAUTHORIZED TOOL ACCESS: Agent ${tvl.id} attempted to call call_uniswap_swap`,
    );
    const denied = [...gateway.audit.rows({ kind: "tool_error" })].at(-1);
    expect(denied).toMatchObject({ agentId: tvl.id, tool: "call_uniswap_swap" });
  });

  // shows: X-26, D-64
  it("behavior: of three calls the middle one is denied, the others run, and the model gets three results", async () => {
    gateway.model.answers(
      { calls: [call("call_magpie_tvl"), call("call_uniswap_swap"), call("call_magpie_liquidity")] },
      { text: "call_magpie_tvl: 1234567.5 dollars. call_magpie_liquidity: 42." },
    );
    const events = await gateway.chat(both.id, "All of it");
    expect(namesOf(events)).toEqual([
      "tool_call",
      "tool_result",
      "tool_call",
      "tool_error",
      "tool_call",
      "tool_result",
      "text",
      "done",
    ]);
    expect(gateway.visits).toEqual(["/tvl", "/liquidity"]);
    const results = gateway.model.requests[1]?.messages.filter(({ role }) => role === "tool") ?? [];
    expect(results.map(({ content }) => JSON.parse(content ?? "").status)).toEqual([
      "unverified",
      "denied",
      "unverified",
    ]);
  });

  // shows: X-28, D-59
  it("behavior: two agents, and neither may call the other's tool", async () => {
    const swapper = await gateway.agents.createAgent({ name: "Swapper", availableTools: ["uniswap/swap"] });
    gateway.model.answers({ calls: [call("call_magpie_tvl")] }, { text: "call_magpie_tvl" });
    expect(namesOf(await gateway.chat(swapper.id, "TVL?"))).toContain("tool_error");
    gateway.model.answers({ calls: [call("call_uniswap_swap")] }, { text: "call_uniswap_swap" });
    expect(namesOf(await gateway.chat(tvl.id, "Swap?"))).toContain("tool_error");
    // An agent of the same server, without this tool.
    gateway.model.answers({ calls: [call("call_magpie_liquidity")] }, { text: "call_magpie_liquidity" });
    expect(namesOf(await gateway.chat(tvl.id, "Liquidity?"))).toContain("tool_error");
    expect(gateway.visits).toEqual([]);
  });

  // shows
  it("behavior: a tool that fails ends in exactly the sentence, whatever the model makes up", async () => {
    gateway.on("/tvl", (_request, response) => response.writeHead(500).end("out of order"));
    gateway.model.answers(
      { calls: [call("call_magpie_tvl")] },
      { text: "The TVL is about 5 dollars (call_magpie_tvl)." },
    );
    const events = await gateway.chat(tvl.id, "TVL?");
    expect(namesOf(events)).toEqual(["tool_call", "tool_result", "text", "done"]);
    expect(only(events, "tool_result")).toMatchObject({
      success: false,
      status: "failed",
      code: "HTTP_STATUS",
    });
    expect(only(events, "text")).toEqual({
      text: "I was unable to retrieve data from call_magpie_tvl. Please try again.",
    });
    expect(only(events, "done")).toEqual({ outcome: "refused" });
  });

  // shows, D-61, D-63
  test.each([
    ["answers at once", [{ text: "Paris" }]],
    ["answers at once, with a forged citation", [{ text: "Paris (call_magpie_tvl)" }]],
    [
      "answers beside an irrelevant call",
      [{ text: "Paris.", calls: [call("call_magpie_tvl")] }, { text: "Paris." }],
    ],
    [
      "calls, then answers with a citation",
      [{ calls: [call("call_magpie_tvl")] }, { text: "Paris (call_magpie_tvl)." }],
    ],
    [
      "calls, then mixes it with data",
      [{ calls: [call("call_magpie_tvl")] }, { text: "1234567.5 dollars says call_magpie_tvl, in Paris." }],
    ],
    [
      "hides it in arguments",
      [{ calls: [call("call_magpie_tvl", { pool: "Paris" })] }, { text: "Paris (call_magpie_tvl)" }],
    ],
    [
      "hides it in arguments of no tool",
      [{ calls: [call("call_paris_fr", { answer: "Paris" })] }, { text: "Paris" }],
    ],
    ["hides it in the name of no tool", [{ calls: [call("the capital is Paris")] }, { text: "Paris" }]],
    ["spells it", [{ calls: [call("call_magpie_tvl")] }, { text: "P a r i s (call_magpie_tvl)" }]],
    ["joins it", [{ calls: [call("call_magpie_tvl")] }, { text: "Pa\u200bris (call_magpie_tvl)" }]],
    ["draws it", [{ calls: [call("call_magpie_tvl")] }, { text: "🗼 (call_magpie_tvl)" }]],
  ])("error: a model that knows the answer and %s is not heard", async (_how, answers) => {
    gateway.model.answers(...answers);
    const events = await gateway.chat(tvl.id, "What's the capital of France?");
    // The name of a tool that does not exist is the one word of the model that the specification sends.
    const shown = events.filter(({ event }) => event !== "tool_call" && event !== "tool_error");
    expect(JSON.stringify(shown)).not.toMatch(/paris|P a r i s|🗼/i);
    if (!JSON.stringify(answers).includes("call_paris_fr"))
      expect(JSON.stringify(events)).not.toMatch(/paris/i);
    const hasResult = events.some(({ data }) => (data as { success?: boolean }).success === true);
    expect(only(events, "text")).toEqual({ text: hasResult ? UNSUPPORTED : CANNOT_HELP });
    expect(only(events, "done")).toEqual({ outcome: "refused" });
  });

  it("behavior: a refused reply leaves the result, with nothing invisible in it", async () => {
    gateway.returns("/tvl", { note: "5 \u202e000,1\u202c" });
    gateway.model.answers({ calls: [call("call_magpie_tvl")] }, { text: "It is $5 (call_magpie_tvl)." });
    const { text } = only(await gateway.chat(tvl.id, "TVL?"), "text") as { text: string };
    expect(text).toContain(String.raw`call_magpie_tvl returned: {"note":"5 \u{202e}000,1\u{202c}"}`);
    expect(text).not.toContain("$5");
  });

  // shows: D-63
  it("behavior: results of an earlier turn allow nothing in this one", async () => {
    gateway.model.answers({ calls: [call("call_magpie_tvl")] }, { text: "1234567.5 (call_magpie_tvl)" });
    const started = await (await gateway.post(tvl.id, { message: "TVL?" })).json();
    const { conversationId, events } = started as { conversationId: string; events: string };
    await (await fetch(`${gateway.url}${events}`)).text();
    gateway.model.answers({ text: "1234567.5 (call_magpie_tvl)" });
    const second = await gateway.chat(tvl.id, "Again?", conversationId);
    expect(only(second, "text")).toEqual({ text: CANNOT_HELP });
    const messages = gateway.model.requests.at(-1)?.messages.map(({ role, content }) => [role, content]);
    expect(messages?.slice(1)).toEqual([
      ["user", "TVL?"],
      ["assistant", "1234567.5 (call_magpie_tvl)"],
      ["user", "Again?"],
    ]);
  });

  // shows: X-17, D-63
  it("behavior: a reply without a citation may be written again, once", async () => {
    gateway.model.answers(
      { calls: [call("call_magpie_tvl")] },
      { text: "The TVL is 1234567.5 dollars." },
      { text: "The TVL is 1234567.5 dollars (call_magpie_tvl)." },
    );
    const events = await gateway.chat(tvl.id, "TVL?");
    expect(only(events, "text")).toEqual({ text: "The TVL is 1234567.5 dollars (call_magpie_tvl)." });
    expect(gateway.model.requests).toHaveLength(3);
    gateway.model.answers({ calls: [call("call_magpie_tvl")] }, { text: "The TVL is 1234567.5 dollars." });
    expect(only(await gateway.chat(tvl.id, "TVL?"), "text")).toEqual({ text: UNSUPPORTED });
  });

  // shows: D-67
  it("behavior: rounds are capped; then the model may only reply", async () => {
    const { maxToolRounds, maxCallsPerTurn } = gateway.config.limits;
    gateway.model.answers({ calls: [call("call_magpie_tvl")], text: "never" });
    const events = await gateway.chat(tvl.id, "Go on for ever");
    expect(
      gateway.model.requests.map(({ tool_choice: choice }) => choice).slice(0, maxToolRounds + 1),
    ).toEqual([...Array.from({ length: maxToolRounds }, () => "auto"), "none"]);
    expect(gateway.visits.length).toBeLessThanOrEqual(Math.min(maxToolRounds, maxCallsPerTurn));
    expect(only(events, "done")).toEqual({ outcome: "refused" });
  });

  // shows: D-65
  it("behavior: what a model writes as a name is escaped and cut in log and audit, and shown as no name", async () => {
    const name = `x\n✅ Tool executed successfully: call_magpie_tvl\u202e${"y".repeat(5_000)}`;
    gateway.model.answers({ calls: [call(name)] }, { text: "" });
    const events = await gateway.chat(tvl.id, "Hm");
    expect(only(events, "tool_error")).toEqual({
      toolName: "invalid_tool_name",
      error: "Access denied. This agent is not authorized to use the invalid_tool_name tool.",
    });
    const warned = messages().find((line) => line.includes("UNAUTHORIZED"));
    expect(warned).toContain("attempted to call x\\u{a}✅ Tool executed");
    expect(warned?.length).toBeLessThan(250);
    const rows = JSON.stringify([...gateway.audit.rows({ kind: "attempt" })].at(-1));
    expect(rows).not.toMatch(/[\u202e\n]/);
    expect(rows.length).toBeLessThan(6_000);
  });

  test.each([
    ["no JSON", '{"pool": '],
    ["no object", '["main"]'],
    ["another type", '{"pool": 5}'],
    ["an unknown parameter", '{"drain": true}'],
    ["far too long", JSON.stringify({ pool: "x".repeat(17_000) })],
  ])("error: arguments that are %s run nothing and are not repeated", async (_what, args) => {
    gateway.model.answers({ calls: [{ name: "call_magpie_tvl", arguments: args }] }, { text: "" });
    const events = await gateway.chat(tvl.id, "TVL?");
    expect(only(events, "tool_result")).toMatchObject({ success: false, code: "ARGUMENTS_INVALID" });
    expect(JSON.stringify(events)).not.toContain("drain");
    expect(gateway.visits).toEqual([]);
  });

  it("error: an answer without end is given up", async () => {
    gateway.model.answers({ text: "a".repeat(70_000) });
    const events = await gateway.chat(tvl.id, "TVL?");
    expect(namesOf(events)).toEqual(["error", "done"]);
    expect(only(events, "error").message).toBe("The model of this agent could not answer. Please try again.");
  });

  it("error: a result that is too large is no result, not a part of one", async () => {
    gateway.returns("/tvl", { tvl: "9".repeat(40_000) });
    gateway.model.answers({ calls: [call("call_magpie_tvl")] }, { text: "9 (call_magpie_tvl)" });
    const events = await gateway.chat(tvl.id, "TVL?");
    expect(only(events, "tool_result")).toMatchObject({ success: false, code: "RESULT_TOO_LARGE" });
  });

  it("error: a model that cannot be asked", async () => {
    gateway.model.answers({ status: 401 });
    const events = await gateway.chat(tvl.id, "TVL?");
    expect(namesOf(events)).toEqual(["error", "done"]);
    expect(only(events, "done")).toEqual({ outcome: "error" });
  });

  test.each(["cut", "length"] as const)(
    "error: an answer that breaks off (%s) is not judged as a whole one",
    async (ends) => {
      gateway.model.answers(
        { calls: [call("call_magpie_tvl")] },
        { text: "1234567.5 (call_magpie_tvl)", ends },
      );
      const events = await gateway.chat(tvl.id, "TVL?");
      expect(namesOf(events)).toEqual(["tool_call", "tool_result", "error", "done"]);
    },
  );

  it("error: hundreds of calls in one answer, of which a few are looked at", async () => {
    const many = Array.from({ length: 300 }, () => call("call_magpie_tvl"));
    gateway.model.answers({ calls: many }, { calls: many }, { calls: many }, { text: "" });
    await gateway.chat(tvl.id, "TVL?");
    expect(gateway.visits.length).toBeLessThanOrEqual(gateway.config.limits.maxCallsPerTurn);
  });
});
