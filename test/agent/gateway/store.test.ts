import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import type { Agent } from "../../../agent/gateway/store/agent-service.ts";
import { AuditLog } from "../../../agent/gateway/store/audit-log.ts";
import { Metering, type SpendingLimits } from "../../../agent/gateway/store/metering.ts";
import { GATEWAY_SCHEMA } from "../../../agent/gateway/store/schema.ts";
import type { Tool, ToolOutcome } from "../../../agent/gateway/tool.ts";
import { openDatabase } from "../../../protocol/service/journal/database.ts";
import { only, startTestGateway, type TestGateway } from "../../support/gateway.ts";

const DAY_MS = 86_400_000;
const limits: SpendingLimits = {
  maxCallsPerTurn: 3,
  maxPricePerTurn: 10,
  maxPricePerCallerPerDay: 25,
  maxCallsPerCallerPerDay: 100,
  maxFeesPerDay: 10n ** 19n,
};
const DONE: ToolOutcome = { success: true, status: "unverified", data: 1 };
const FAILED: ToolOutcome = { success: false, status: "failed", code: "X", error: "x" };
const tool = (price: number, feeWei = 0n) => ({ id: "a/b", price, feeWei }) as Tool;

let now = 0;
let db = openDatabase(":memory:", [GATEWAY_SCHEMA]);
let turns = 0;
beforeEach(() => {
  now = 10 * DAY_MS;
  db = openDatabase(":memory:", [GATEWAY_SCHEMA]);
});

function meter(
  changes: { caller?: string; budget?: number; limits?: Partial<SpendingLimits>; turnId?: string } = {},
) {
  const { caller = "alice", budget, turnId = `turn-${++turns}` } = changes;
  const metering = new Metering(db, { ...limits, ...changes.limits }, () => now);
  const agent = { id: "agent-1", ...(budget === undefined ? {} : { budget }) } as Agent;
  const own = metering.meterFor({ turnId, agent, caller });
  return {
    spend: (price: number, outcome: ToolOutcome = DONE, feeWei = 0n) =>
      own.start(tool(price, feeWei)).end(outcome),
    start: (price: number) => own.start(tool(price)),
    price: () => metering.priceOf(turnId),
    rows: () => metering.rows(turnId),
  };
}

describe("Metering", () => {
  // shows: X-33, D-67
  it("default: one row a call, charged when it succeeds", () => {
    const { spend, price, rows } = meter();
    spend(4);
    spend(4, FAILED);
    spend(
      4,
      { success: false, status: "pending", code: "NOT_FINAL", error: "", evidence: { feeWei: "7" } },
      9n,
    );
    expect(price()).toBe(4);
    expect(
      rows().map(({ tool, caller, agent_id, units, price, fee_wei, outcome }) => [
        tool,
        caller,
        agent_id,
        units,
        price,
        fee_wei,
        outcome,
      ]),
    ).toEqual([
      ["a/b", "alice", "agent-1", 1, 4, "0", "succeeded"],
      ["a/b", "alice", "agent-1", 1, 0, "0", "failed"],
      ["a/b", "alice", "agent-1", 1, 0, "7", "pending"],
    ]);
  });

  // shows: D-67
  test.each<[string, string, () => void]>([
    [
      "calls of a turn",
      "CALLS_EXCEEDED",
      () => {
        const { spend } = meter();
        for (let i = 0; i < 4; i++) spend(0);
      },
    ],
    [
      "price of a turn",
      "BUDGET_EXCEEDED",
      () => {
        const { spend } = meter();
        spend(6);
        spend(5);
      },
    ],
    [
      "price of a caller in a day",
      "BUDGET_EXCEEDED",
      () => {
        for (let i = 0; i < 3; i++) meter().spend(9);
      },
    ],
    [
      "price of an agent",
      "BUDGET_EXCEEDED",
      () => {
        meter({ caller: "bob", budget: 12 }).spend(9);
        meter({ budget: 12 }).spend(4);
      },
    ],
    [
      "fees on the chain, beyond SQLite's integers",
      "BUDGET_EXCEEDED",
      () => {
        meter().spend(0, { ...DONE, evidence: { feeWei: `${9n * 10n ** 18n}` } }, 9n * 10n ** 18n);
        meter({ caller: "bob" }).spend(0, DONE, 10n ** 18n + 1n);
      },
    ],
  ])("error: %s", (_what, code, spend) => {
    expect(spend).toThrow(expect.objectContaining({ code }));
  });

  it("behavior: calls at the same time cannot pass a budget together", () => {
    const { start } = meter();
    const first = start(6);
    expect(() => start(6)).toThrow(expect.objectContaining({ code: "BUDGET_EXCEEDED" }));
    first.end(FAILED);
    start(6).end(DONE);
  });

  it("behavior: a call that failed after it may have paid on the chain keeps what it held", () => {
    const { spend, rows } = meter();
    spend(0, FAILED, 5n);
    expect(rows()[0]).toMatchObject({ fee_wei: "5", outcome: "failed" });
  });

  it("behavior: a day later the caller may spend again", () => {
    meter().spend(9);
    meter().spend(9);
    expect(() => meter().spend(9)).toThrow(expect.objectContaining({ code: "BUDGET_EXCEEDED" }));
    now += DAY_MS;
    meter().spend(9);
  });
});

describe("AuditLog", () => {
  // shows: X-31, D-65
  it("default: rows in order, filtered, their texts visible and bounded", () => {
    const audit = new AuditLog(db, () => now);
    audit.write({
      kind: "tool_call",
      agentId: "agent-1",
      tool: "a\n\u202eb",
      detail: { text: `x\u0000\n${"y".repeat(9_000)}` },
    });
    audit.write({
      kind: "error",
      agentId: "agent-2",
      detail: { list: Array(100).fill("z"), deep: { a: { b: 1 } } },
    });
    const rows = [...audit.rows()];
    expect(rows.map(({ id, kind, tool }) => [id, kind, tool])).toEqual([
      [1, "tool_call", "a\\u{a}\\u{202e}b"],
      [2, "error", undefined],
    ]);
    const [first, second] = rows.map(({ detail }) => detail as { text: string; list: unknown[] });
    const text = first?.text ?? "";
    expect(text.length).toBe(2_000);
    expect(text.startsWith("x\\u{0}\\u{a}yyy")).toBe(true);
    expect(second?.list).toHaveLength(50);
    expect([...audit.rows({ agentId: "agent-2" })].map(({ id }) => id)).toEqual([2]);
    expect([...audit.rows({ after: 1 })].map(({ id }) => id)).toEqual([2]);
    expect([...audit.rows({ kind: "none" })]).toEqual([]);
  });

  it("behavior: what was written is not changed", () => {
    new AuditLog(db, () => now).write({ kind: "error" });
    expect(() => db.exec("UPDATE audit SET kind = 'x'")).toThrow(/not changed/);
    expect(() => db.exec("DELETE FROM audit")).toThrow(/not deleted/);
  });
});

describe("a gateway's budgets", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ prices: { tvl: 4 }, limits: { maxPricePerTurn: 10 } });
    gateway.returns("/tvl", { tvl: 5 });
  });
  afterAll(() => gateway.stop());

  // shows, D-67
  it("behavior: the turn's row has its metrics, calls above the budget are refused, denied ones cost nothing", async () => {
    const { id } = await gateway.agents.createAgent({ name: "TVL", availableTools: ["magpie/tvl"] });
    const call = { name: "call_magpie_tvl", arguments: "{}" };
    const denied = { name: "call_uniswap_swap", arguments: "{}" };
    gateway.model.answers({ calls: [call, denied, call, call] }, { text: "5 (call_magpie_tvl)" });
    const events = await gateway.chat(id, "TVL?");
    const results = events.filter(({ event }) => event === "tool_result").map(({ data }) => data);
    expect(results).toMatchObject([
      { success: true },
      { success: true },
      { success: false, code: "BUDGET_EXCEEDED" },
    ]);
    expect(only(events, "text")).toEqual({ text: "5 (call_magpie_tvl)" });
    const rows = gateway.db.prepare("SELECT tool, price, outcome FROM metering").all();
    expect(rows).toEqual([
      { tool: "magpie/tvl", price: 4, outcome: "succeeded" },
      { tool: "magpie/tvl", price: 4, outcome: "succeeded" },
    ]);
    expect(gateway.db.prepare("SELECT * FROM turns").get()).toMatchObject({
      agent_id: id,
      caller: "address:127.0.0.1",
      message: "TVL?",
      reply: "5 (call_magpie_tvl)",
      outcome: "answered",
      rounds: 2,
      calls: 2,
      denied: 1,
      prompt_tokens: 22,
      completion_tokens: 14,
      price: 8,
      ended_at: expect.any(Number),
    });
  });
});
