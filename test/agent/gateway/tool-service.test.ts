import fc from "fast-check";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { type Agent, AgentService } from "../../../agent/gateway/store/agent-service.ts";
import { GATEWAY_SCHEMA } from "../../../agent/gateway/store/schema.ts";
import type { Tool, ToolServer } from "../../../agent/gateway/tool.ts";
import { toolNameOf } from "../../../agent/gateway/tool-names.ts";
import { type Meter, ToolService } from "../../../agent/gateway/tool-service.ts";
import { SILENT } from "../../../base/log.ts";
import { openDatabase } from "../../../protocol/service/journal/database.ts";

const ran: string[] = [];
const metered: string[] = [];

const tool = (id: string): Tool => ({
  id,
  name: toolNameOf(id),
  description: `what ${id} says`,
  parameters: { type: "object", properties: { pool: { type: "string" } }, required: ["pool"] },
  price: 1,
  run: async () => {
    ran.push(id);
    return { success: true, status: "unverified", data: { id } };
  },
});
const server = (slug: string, ...apis: string[]): [string, ToolServer] => [
  slug,
  {
    slug,
    description: slug,
    tools: async () => apis.map((api) => tool(`${slug}/${api}`)),
    close: async () => {},
  },
];
const servers = new Map([
  server("magpie", "tvl", "liquidity"),
  server("uniswap", "swap"),
  server("a", "b-c"),
  server("a-b", "c"),
]);
const limits = { maxArgumentChars: 100, maxResultChars: 100, toolTimeoutMs: 60_000 };
const service = new ToolService(servers, limits, SILENT);
const agents = new AgentService(openDatabase(":memory:", [GATEWAY_SCHEMA]), servers, () => 7);
const meter: Meter = {
  start: ({ id }) => {
    metered.push(id);
    return { end: () => {} };
  },
};
const context = { signal: new AbortController().signal };
const agentWith = (...availableTools: string[]): Agent => ({
  id: "agent-1",
  name: "One",
  server: "magpie",
  availableTools,
  grounding: "words",
  createdAt: 0,
});

beforeEach(() => {
  ran.length = 0;
  metered.length = 0;
});

describe("createAgent", () => {
  // shows: X-03
  it("default: stores and returns the record", async () => {
    const agent = await agents.createAgent({
      name: "TVL Analyzer",
      availableTools: ["magpie/tvl", "magpie/liquidity"],
    });
    expect(agent).toEqual({
      id: expect.stringMatching(/^agent-[0-9a-f]{16}$/),
      name: "TVL Analyzer",
      server: "magpie",
      availableTools: ["magpie/tvl", "magpie/liquidity"],
      grounding: "words",
      createdAt: 7,
    });
    expect(agents.getAgent(agent.id)).toEqual(agent);
    expect(agents.listAgents()).toContainEqual(agent);
  });

  // shows: X-04, D-57, D-58, D-59, D-81
  test.each([
    ["a tool of another server", { availableTools: ["magpie/tvl", "uniswap/swap"] }, "TOOL_OF_OTHER_SERVER"],
    [
      "a tool of another server than the named one",
      { server: "magpie", availableTools: ["uniswap/swap"] },
      "TOOL_OF_OTHER_SERVER",
    ],
    ["a tool that is not loaded", { availableTools: ["magpie/price"] }, "TOOL_UNKNOWN"],
    ["a tool twice", { availableTools: ["magpie/tvl", "magpie/tvl"] }, "TOOL_UNKNOWN"],
    ["the same tool in another case", { availableTools: ["magpie/tvl", "magpie/TVL"] }, "TOOL_ID_INVALID"],
    ["a name that only looks like another's", { availableTools: ["a/b_c"] }, "TOOL_ID_INVALID"],
    ["a server that is not there", { availableTools: ["nobody/tvl"] }, "SERVER_UNKNOWN"],
    ["no server at all", { availableTools: [] }, "SERVER_UNKNOWN"],
    ["no name", { name: " ", availableTools: ["magpie/tvl"] }, "AGENT_INVALID"],
    ["another field", { availableTools: ["magpie/tvl"], admin: true }, "AGENT_INVALID"],
  ])("error: %s", async (_what, input, code) => {
    await expect(agents.createAgent({ name: "X", ...input })).rejects.toMatchObject({ code });
  });

  it("behavior: any input is taken or refused by name", async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (input) => {
        await expect(agents.createAgent(input as never)).rejects.toMatchObject({ name: "BaseError" });
      }),
    );
  });
});

describe("hasToolAccess", () => {
  // shows, D-58
  test.each([
    ["call_magpie_tvl", true],
    ["CALL_MAGPIE_TVL", true],
    ["call_magpie_liquidity", false],
    ["call_uniswap_swap", false],
    ["call_magpie_tvl_", false],
    ["magpie/tvl", false],
    ["tvl", false],
    ["", false],
    ["call_ma\u212apie_tvl", false],
    ["__proto__", false],
  ])("default: %s is %s", (name, expected) => {
    expect(service.hasToolAccess(agentWith("magpie/tvl"), name)).toBe(expected);
  });

  // shows: D-59
  it("behavior: a stored tool of another server gives no access", () => {
    expect(service.hasToolAccess(agentWith("uniswap/swap"), "call_uniswap_swap")).toBe(false);
  });

  // shows: D-57
  it("behavior: an agent of server a does not pass for a tool of server a-b", () => {
    const agent = { ...agentWith("a/b-c"), server: "a" };
    expect(service.hasToolAccess(agent, "call_a_b-c")).toBe(true);
    expect(service.hasToolAccess(agent, "call_a-b_c")).toBe(false);
    expect(service.hasToolAccess(agent, "call_a_b_c")).toBe(false);
  });
});

describe("getToolsForAgent", () => {
  // shows: X-24
  it("default: definitions under the names by which they are called", async () => {
    const { definitions, missing } = await service.getToolsForAgent(
      agentWith("magpie/tvl", "magpie/liquidity"),
    );
    expect(definitions.map(({ name, description }) => [name, description])).toEqual([
      ["call_magpie_tvl", "what magpie/tvl says"],
      ["call_magpie_liquidity", "what magpie/liquidity says"],
    ]);
    expect(missing).toEqual([]);
    expect(Object.keys(definitions[0] ?? {})).not.toContain("run");
  });

  // shows: X-07, D-59, D-62
  it("behavior: what is gone or of another server is not loaded", async () => {
    const agent = agentWith("magpie/tvl", "magpie/price", "uniswap/swap");
    const { definitions, missing } = await service.getToolsForAgent(agent);
    expect(definitions.map(({ name }) => name)).toEqual(["call_magpie_tvl"]);
    expect(missing).toEqual(["magpie/price", "uniswap/swap"]);
  });

  it("behavior: a server that cannot be reached has no tools", async () => {
    const down = {
      slug: "magpie",
      description: "",
      close: async () => {},
      tools: () => Promise.reject(new Error("down")),
    };
    const { definitions } = await new ToolService(
      new Map([["magpie", down]]),
      limits,
      SILENT,
    ).getToolsForAgent(agentWith("magpie/tvl"));
    expect(definitions).toEqual([]);
  });
});

describe("execute", () => {
  // shows
  it("default: the check is made once for each call, and nothing runs without it", async () => {
    const agent = agentWith("magpie/tvl");
    const own = new ToolService(servers, limits, SILENT);
    const check = vi.spyOn(own, "hasToolAccess");
    const { execute } = await own.getToolsForAgent(agent);
    expect(await execute("call_magpie_tvl", '{"pool":"x"}', meter, context)).toMatchObject({ kind: "ran" });
    expect(await execute("call_uniswap_swap", "{}", meter, context)).toEqual({ kind: "denied" });
    expect(check.mock.calls.map(([, name]) => name)).toEqual(["call_magpie_tvl", "call_uniswap_swap"]);
    // What the check refuses does not run, even if it is loaded.
    check.mockReturnValue(false);
    expect(await execute("call_magpie_tvl", '{"pool":"x"}', meter, context)).toEqual({ kind: "denied" });
    expect([ran, metered]).toEqual([["magpie/tvl"], ["magpie/tvl"]]);
  });

  // shows: D-58
  it("behavior: the canonical tool runs, whatever the case of the name", async () => {
    const { execute } = await service.getToolsForAgent(agentWith("magpie/tvl"));
    const executed = await execute("Call_MAGPIE_tvl", '{"pool":"x"}', meter, context);
    expect(executed).toMatchObject({ kind: "ran", tool: { id: "magpie/tvl" } });
  });

  it("behavior: any name and arguments run the agent's own tool or nothing", async () => {
    const { execute } = await service.getToolsForAgent(agentWith("magpie/tvl"));
    const names = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("call_magpie_tvl", "call_uniswap_swap"),
    );
    await fc.assert(
      fc.asyncProperty(names, fc.oneof(fc.json(), fc.string()), async (name, args) => {
        ran.length = 0;
        const { kind } = await execute(name, args, meter, context);
        expect(["denied", "refused", "ran"]).toContain(kind);
        if (name !== "call_magpie_tvl") expect([kind, ran]).toEqual(["denied", []]);
      }),
    );
  });

  it("error: a tool that never answers is left when the time is over", async () => {
    const hanging = { ...tool("magpie/tvl"), run: () => new Promise<never>(() => {}) };
    const own = new Map([
      ["magpie", { slug: "magpie", description: "", close: async () => {}, tools: async () => [hanging] }],
    ]);
    const { execute } = await new ToolService(own, { ...limits, toolTimeoutMs: 20 }, SILENT).getToolsForAgent(
      agentWith("magpie/tvl"),
    );
    expect(await execute("call_magpie_tvl", '{"pool":"x"}', meter, context)).toMatchObject({
      outcome: { success: false, code: "TOOL_TIMEOUT" },
    });
  });
});
