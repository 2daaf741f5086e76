/** What counts by the terms of `assay mcp`, and what it says of what does not; and what it says of wrong input. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { pad, parseEther, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatAmount } from "../../base/amounts.ts";
import input from "../../cli/demo/input.json" with { type: "json" };
import { Actions } from "../../protocol/chain/actions.ts";
import { lastOf } from "../../protocol/chain/finality.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { claimOutput } from "../support/claims.ts";
import { type McpProcess, startMcp, startMcpSystem } from "../support/mcp-server.ts";
import { ROLES, type System } from "../support/system.ts";

const ANSWER_SECONDS = 5;
const WINDOW = 4 * ANSWER_SECONDS;
const { closes, highs, lows } = input.prices;
const args = { closes, highs, lows };

let system: System;
const running: McpProcess[] = [];

beforeAll(async () => {
  system = await startMcpSystem(["forecast-vix", "sentiment"], ANSWER_SECONDS);
});
afterAll(async () => {
  for (const process of running) await process.stop();
  await system?.stop();
});

type Structured = Readonly<Record<string, unknown>>;
type Call = (name: string, args: object) => Promise<{ isError: boolean; content: Structured }>;

/** A server of its own, and how to call its tools. */
async function served(name: string, ...options: string[]): Promise<Call> {
  const { url, ...process } = await startMcp(system, name, options);
  running.push({ url, ...process });
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  // From now on the client checks results by the tools' schemas.
  await client.listTools();
  return async (tool, values) => {
    const { isError, structuredContent } = await client.callTool({ name: tool, arguments: { ...values } });
    return { isError: isError === true, content: structuredContent as Structured };
  };
}

async function pass(seconds: number): Promise<void> {
  await system.control.increaseTime({ seconds });
  await system.control.mine({ blocks: 1 });
}

/** A claim of zeros about the demo's prices, or about others. @param shift of the prices */
async function claimed(shift: number) {
  const model = system.model("forecast-vix");
  const moved = (prices: readonly string[]) => prices.map((price) => `${Number(price) + shift}`);
  const values = { closes: moved(closes), highs: moved(highs), lows: moved(lows) };
  const [declared] = model.manifest.abi;
  if (declared === undefined) throw new Error("no function");
  const calldata = encodeCall({ ...declared, selector: toHex(model.selector) }, values);
  const { request, requestId } = await system.ask({ model, calldata: Buffer.from(calldata.slice(2), "hex") });
  const { chain, sender } = await system.open(`claimer-${shift}`, ROLES.cheat + 1 + shift);
  await claimOutput(chain, sender, request, pad("0x", { size: 96 }));
  const filed = lastOf(await historyOf(chain, requestId), "Claimed");
  if (filed === undefined) throw new Error("no claim");
  const { claimId, claim } = filed.args;
  return { claimId, values, finalize: new Actions(chain.game).finalize(request, claim) };
}

const NAME = "call_assay_forecast-vix";

describe("assay mcp", () => {
  it("behavior: a claim below the terms is never final, and the tools say what it lacks", async () => {
    const lenient = await served("lenient", "forecast-vix", "--lanes", "BOND", "--wait-seconds", "0");
    const bond = ["--min-bond", `${parseEther("100")}`];
    const strict = await served("strict", "forecast-vix", "--lanes", "BOND", ...bond, "--wait-seconds", "0");
    const executed = await served("executed", "forecast-vix");
    const { claimId, values } = await claimed(0);
    const below = { isError: true, content: { status: "failed", code: "BELOW_TERMS", claimId } };

    for (const status of ["pending", "final"]) {
      const { content } = await lenient("verify_claim", { claimId });
      expect(content).toMatchObject({ status, claimId });
      expect(await strict("verify_claim", { claimId })).toMatchObject(below);
      const called = await strict(NAME, values);
      expect(called).toMatchObject(below);
      const own = formatAmount(BigInt(content.bondWei as string));
      expect(called.content.error).toContain(`its bond is ${own}, and the least that counts is 100 ether`);
      expect(called.content).not.toHaveProperty("data");
      const other = await executed("verify_claim", { claimId });
      expect(other).toMatchObject(below);
      expect(other.content).not.toHaveProperty("output");
      expect(other.content.error).toContain("its lane is BOND, and what counts is EXECUTION");
      await pass(WINDOW);
    }
    expect((await lenient(NAME, values)).content).toMatchObject({ status: "final", claimId });
    const none = await strict(NAME, { ...args, closes: closes.toReversed() });
    expect(none.content).toMatchObject({ status: "failed", code: "NOT_ASKED" });
  });

  it("behavior: `finalAt` is one second, whichever tool says it, when, and whether or not it is booked", async () => {
    const call = await served("clock", "forecast-vix", "--lanes", "BOND", "--wait-seconds", "0");
    const { claimId, values, finalize } = await claimed(1);
    const { content: pending } = await call("verify_claim", { claimId });
    await pass(WINDOW + 7);
    const seen = new Set<unknown>();
    const readAll = async () => {
      for (const { content } of [await call(NAME, values), await call("verify_claim", { claimId })]) {
        expect(content).toMatchObject({ status: "final", claimId });
        seen.add(content.finalAt);
      }
    };
    await readAll();
    await pass(3);
    await readAll();
    const { sender } = await system.open("finalizer", ROLES.cheat);
    const sent = await sender.send(finalize);
    expect(sent.status).toBe("sent");
    await readAll();
    expect([...seen]).toEqual([pending.windowEnd]);
  });

  it("behavior: what the chain runs in the call is the same in every call", async () => {
    const call = await served("again", "forecast-vix");
    const first = await call(NAME, args);
    await pass(5);
    expect(await call(NAME, args)).toEqual(first);
    expect(first.content).toMatchObject({ status: "final", lane: "EXECUTION" });
  });

  it("error: input that the model does not take names the value and its limit, and nothing of the configuration", async () => {
    const fee = ["--ask-fee", "10000000000000000", "--wait-seconds", "0"];
    const asking = await served("asking", "forecast-vix", "sentiment", "--lanes", "BOND", ...fee);
    const executed = await served("executing", "forecast-vix", "sentiment");
    for (const call of [asking, executed]) {
      const long = await call("call_assay_sentiment", { text: "é".repeat(513) });
      expect(long).toMatchObject({ isError: true, content: { status: "failed", code: "TEXT_TOO_LONG" } });
      expect(long.content.error).toContain("1026 bytes, at most 1024");
      const few = await call(NAME, { ...args, highs: highs.slice(1) });
      expect(few).toMatchObject({ isError: true, content: { code: "PRICES_INVALID" } });
      expect(few.content.error).toContain("highs holds 64 prices, must be 65");
      const kind = await call(NAME, { ...args, lows: 3 });
      expect(kind).toMatchObject({ isError: true, content: { code: "INPUTS_INVALID" } });
      for (const { content } of [long, few, kind]) expect(content.error).not.toMatch(/configuration|window/);
    }
  });
});
