import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { decodeReturn } from "../../protocol/rules/abi.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { only, readEvents, type SeenEvent } from "../support/gateway.ts";
import { type ChatRequest, ScriptedChat } from "../support/scripted-chat.ts";
import { encodeText, sentimentFunction } from "../support/sentiment-call.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** Long: the window ends when the test lets it. */
const ANSWER_SECONDS = 60;
const HEADLINE = "Profit beats forecasts";
const TOOL = "call_markets_sentiment";

let system: System;
let model: ScriptedChat;
let gateway: Daemon;
let url: string;
let agentId: string;

const run = promisify(execFile);

/** Calls the tool, then says what it returned; makes an answer up if it returned none. */
function script({ messages }: ChatRequest) {
  const last = messages.at(-1);
  if (last?.role !== "tool")
    return { calls: [{ name: TOOL, arguments: JSON.stringify({ text: HEADLINE }) }] };
  const { status, data } = JSON.parse(last.content ?? "") as { status: string; data?: { label: number } };
  return {
    text: status === "final" ? `The label is ${data?.label} (${TOOL}).` : `The label is 2 (${TOOL}).`,
  };
}

/** The assay program, once, with the gateway's key. */
async function assay(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(projectRoot, "bin/assay.js"), ...args], {
    cwd: projectRoot,
    env: {
      PATH: process.env.PATH,
      ASSAY_RPC_URL: system.rpcUrl,
      ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
      ASSAY_DATA: join(system.folder, "gateway"),
      ASSAY_GATEWAY_SERVERS: join(system.folder, "gateway.json"),
    },
  });
  return stdout;
}

async function ask(message: string): Promise<SeenEvent[]> {
  const started = await fetch(`${url}/v1/agents/${agentId}/turns`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message }),
  });
  const { events } = (await started.json()) as { events: string };
  return readEvents(await fetch(`${url}${events}`));
}

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  model = await ScriptedChat.start();
  model.script = script;
  const config = {
    servers: {
      markets: {
        description: "Models of markets",
        apis: {
          sentiment: { kind: "model", model: "sentiment", price: 3, ask: { fee: "10000000000000000" } },
        },
      },
    },
    llm: { baseUrl: model.baseUrl, model: "scripted" },
  };
  writeFileSync(join(system.folder, "gateway.json"), JSON.stringify(config));
  await system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up");
  const created = await assay(
    "gateway",
    "agent",
    "create",
    "--name",
    "Markets",
    "--tools",
    "markets/sentiment",
    "--json",
  );
  agentId = (JSON.parse(created) as { id: string }).id;
  await startGateway();
});

async function startGateway(): Promise<void> {
  gateway = startDaemon({
    name: "gateway",
    args: ["gateway", "serve", "--port", "0", "--servers", join(system.folder, "gateway.json")],
    key: keyOf(ROLES.cheat),
    folder: system.folder,
    rpcUrl: system.rpcUrl,
    deployment: join(system.folder, "deployment.json"),
  });
  url = String((await gateway.logged("gateway is up")).url);
}

afterAll(async () => {
  await gateway?.stop();
  await model?.stop();
  await system?.stop();
});

describe("a gateway in front of a verified model", () => {
  // shows, D-79
  it("behavior: the same question fails with the claim while it is pending, and is answered once it is final", async () => {
    const first = await ask("What is the sentiment?");
    const { requestId } = only(first, "tool_result");
    expect(only(first, "tool_result")).toMatchObject({
      success: false,
      status: "pending",
      code: "NOT_FINAL",
    });
    expect(only(first, "text")).toEqual({
      text: `I was unable to retrieve data from ${TOOL}. Please try again.`,
    });
    const claimed = await system.events.until("Claimed", (args) => args.requestId === requestId);
    expect(claimed.claim.prover).toBe(systemAccount(ROLES.prover).address);

    const second = await ask("What is the sentiment?");
    expect(only(second, "tool_result")).toMatchObject({
      success: false,
      status: "pending",
      claimId: claimed.claimId,
    });
    expect(JSON.stringify(only(second, "tool_result"))).not.toContain("label");
    expect(only(second, "text")).toEqual({
      text: `I was unable to retrieve data from ${TOOL}. Please try again.`,
    });
    expect(await (await fetch(`${url}/v1/claims/${claimed.claimId}`)).json()).toMatchObject({
      state: "ACTIVE",
      final: false,
    });

    await system.passTime(4 * ANSWER_SECONDS);
    const third = await ask("What is the sentiment?");
    const sentiment = system.model("sentiment");
    const output = execute(prepare(sentiment.model, sentiment.selector), encodeText(sentiment, HEADLINE));
    const expected = decodeReturn(sentimentFunction(sentiment), toHex(output));
    expect(only(third, "tool_result")).toMatchObject({
      success: true,
      status: "final",
      claimId: claimed.claimId,
      requestId,
      lane: "BOND",
      data: Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, Number(value)])),
    });
    expect(only(third, "text")).toEqual({ text: `The label is ${String(expected.label)} (${TOOL}).` });
    expect(await (await fetch(`${url}/v1/claims/${claimed.claimId}`)).json()).toMatchObject({ final: true });
    // Asked once, by the gateway; the later calls read what was there.
    const own = systemAccount(ROLES.cheat).address;
    expect(system.events.all("Requested").filter(({ request }) => request.requester === own)).toHaveLength(1);
  });

  // shows, D-65
  it("behavior: the composer lists the server's tools, and the audit log comes out as JSON lines", async () => {
    const listed = JSON.parse(await assay("gateway", "tools", "markets", "--json"));
    expect(listed.servers[0].tools[0]).toMatchObject({ id: "markets/sentiment", name: TOOL, price: 3 });
    expect(await assay("gateway", "agent", "list")).toContain(agentId);
    const rows = (await assay("gateway", "audit", "--agent", agentId, "--kind", "tool_result"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { outcome: string; tool: string; at: string });
    expect(rows.map(({ outcome, tool }) => [tool, outcome])).toEqual([
      [TOOL, "pending"],
      [TOOL, "pending"],
      [TOOL, "final"],
    ]);
  });

  it("behavior: killed in the middle of a turn, it starts again with what it knew, and asks the chain no second time", async () => {
    const other = "Losses widen";
    let asked = 0;
    model.script = ({ messages }) => {
      const last = messages.at(-1);
      if (last?.role !== "tool")
        return { calls: [{ name: TOOL, arguments: JSON.stringify({ text: other }) }] };
      asked += 1;
      return asked === 1 ? { hangs: true } : { text: "It is not final yet." };
    };
    const own = systemAccount(ROLES.cheat).address;
    const requests = () => system.events.all("Requested").filter(({ request }) => request.requester === own);
    const before = requests().length;
    const broken = ask("What is the sentiment of the losses?").catch((error: Error) => error);
    await expect.poll(() => asked, { timeout: 600_000 }).toBe(1);
    process.kill(gateway.pid as number, "SIGKILL");
    await gateway.ended;
    await broken;
    await startGateway();
    const again = await ask("And now?");
    const { status, requestId } = only(again, "tool_result");
    expect(status).toBe("pending");
    expect(requests().slice(before)).toMatchObject([{ requestId }]);
    expect(await assay("gateway", "agent", "list")).toContain(agentId);
  });
});
