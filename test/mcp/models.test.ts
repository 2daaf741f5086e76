/** What a language model reads of the tools of `assay mcp`, and hears while it waits. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { keccak256, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import input from "../../cli/demo/input.json" with { type: "json" };
import { writeInt16s } from "../../inference/codecs/int16s.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { type McpProcess, startMcp, startMcpSystem } from "../support/mcp-server.ts";
import type { System } from "../support/system.ts";

const FEE = "10000000000000000";
const { closes, highs, lows } = input.prices;

const FACTS = {
  checkingAccountStatus: 3,
  duration: 12,
  creditHistory: 4,
  purpose: 3,
  creditAmount: 2_000,
  savings: 2,
  employmentSince: 4,
  installmentRate: 2,
  otherDebtors: 0,
  residenceSince: 3,
  property: 0,
  age: 45,
  otherInstallmentPlans: 2,
  housing: 1,
  creditsAtBank: 1,
  job: 2,
  dependents: 1,
  telephone: 1,
};

let system: System;
let executed: McpProcess;
let asking: McpProcess;

beforeAll(async () => {
  system = await startMcpSystem(["credit", "sentiment", "forecast-vix"]);
  executed = await startMcp(system, "executed", ["credit", "sentiment", "forecast-vix"]);
  const asks = ["--lanes", "BOND", "--ask-fee", FEE, "--min-bond", "5", "--wait-seconds", "3"];
  asking = await startMcp(system, "asking", ["forecast-vix", ...asks]);
});
afterAll(async () => {
  await executed?.stop();
  await asking?.stop();
  await system?.stop();
});

async function connected({ url }: McpProcess): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

describe("assay mcp", () => {
  it("default: credit takes eighteen facts by name, and the chain judges just these", async () => {
    const client = await connected(executed);
    const { tools } = await client.listTools();
    const { inputSchema } = tools.find(({ name }) => name === "call_assay_credit") ?? {};
    expect(inputSchema?.required).toEqual(Object.keys(FACTS));
    const call = (facts: object) => client.callTool({ name: "call_assay_credit", arguments: { ...facts } });
    const { structuredContent } = await call(FACTS);
    const words = writeInt16s(Object.values(FACTS));
    const { model, selector } = system.model("credit");
    const head = [32, words.length / 32].map((n) => n.toString(16).padStart(64, "0")).join("");
    const calldata = Buffer.concat([selector, Buffer.from(head, "hex"), words]);
    const output = execute(prepare(model, selector), calldata);
    expect(structuredContent).toMatchObject({
      status: "final",
      inputHash: keccak256(toHex(calldata)),
      outputHash: keccak256(toHex(output)),
      data: { points: Number(BigInt(toHex(output))) },
    });
    const refused = await call({ ...FACTS, housing: 3 });
    expect(refused.isError).toBe(true);
    expect(refused.structuredContent).toMatchObject({
      code: "INPUTS_INVALID",
      error: expect.stringContaining("housing is 3, must be a whole number from 0 to 2"),
    });
    await client.close();
  });

  it("default: the schema says how long texts and lists may be", async () => {
    const client = await connected(executed);
    const { tools } = await client.listTools();
    const schemas = new Map(tools.map(({ name, inputSchema }) => [name, inputSchema.properties]));
    expect(schemas.get("call_assay_sentiment")).toMatchObject({
      text: { type: "string", maxLength: 1_024, description: expect.stringContaining("1024 bytes of UTF-8") },
    });
    const prices = { type: "array", minItems: 65, maxItems: 65 };
    expect(schemas.get("call_assay_forecast-vix")).toMatchObject({
      closes: prices,
      highs: prices,
      lows: prices,
    });
    await client.close();
  });

  it("behavior: description and instructions say what a call costs", async () => {
    const client = await connected(asking);
    const { tools } = await client.listTools();
    expect(tools[0]?.description).toContain(`0.01 ether`);
    const instructions = client.getInstructions();
    expect(instructions).toContain(`call_assay_forecast-vix may promise 0.01 ether`);
    expect(instructions).toContain("a bond of at least 5 wei and a window of at least 20 s");
    expect(instructions).toContain("waits up to 3 s");
    await client.close();
    const free = await connected(executed);
    expect((await free.listTools()).tools[0]?.description).not.toContain("ether");
    expect(free.getInstructions()).toContain("No call costs anything.");
    await free.close();
  });

  const progressOf = async (call: (onprogress: (progress: object) => void) => Promise<object>) => {
    const received: { progress: number; total: number; message: string }[] = [];
    const result = await call((progress) => received.push(progress as (typeof received)[number]));
    expect(result).toMatchObject({ structuredContent: { status: "pending" } });
    expect(received.length).toBeGreaterThan(1);
    const seconds = received.map(({ progress }) => progress);
    expect(seconds).toEqual([...new Set(seconds)].sort((a, b) => a - b));
    for (const { progress, total, message } of received) {
      expect(progress).toBeLessThanOrEqual(total);
      expect(message).toMatch(/was asked|has no claim yet/);
    }
  };
  const call = { name: "call_assay_forecast-vix", arguments: { closes, highs, lows } };

  it("behavior: progress while a call waits, to a client of 2026-07-28", async () => {
    const client = await connected(asking);
    await progressOf((onprogress) => client.callTool(call, { onprogress }));
    await client.close();
  });

  it("behavior: progress while a call waits, to a client of 2025-11-25", async () => {
    const client = new EarlierClient({ name: "test", version: "1.0.0" });
    await client.connect(new EarlierTransport(new URL(asking.url)) as Transport);
    await progressOf((onprogress) => client.callTool(call, undefined, { onprogress }));
    await client.close();
  });
});
