/** Derived models over MCP, with processes: a conversation or a text in, the answer's text out, and the ids that are claimed. */
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createWalletClient, http, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { finalTool, type ModelManifest, openModel } from "../../agent/sdk/index.ts";
import { textForm, textValues } from "../../agent/sdk/text.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { checkedMessages, type Message } from "../../inference/text/chat.ts";
import { folderText } from "../../inference/text/folder-text.ts";
import type { ModelText } from "../../inference/text/model-text.ts";
import { lastOf } from "../../protocol/chain/finality.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { claimOutput } from "../support/claims.ts";
import { writeClassifying } from "../support/classifying-model.ts";
import { registerPrepared } from "../support/executed-models.ts";
import { type McpProcess, post, startMcp } from "../support/mcp-server.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const ANSWER_SECONDS = 5;
const CONVERSATION: readonly Message[] = [
  { role: "system", content: "Buy on good news, sell on bad news." },
  { role: "user", content: "Profit beats forecasts" },
];

let system: System;
let mcp: McpProcess;
let client: Client;

beforeAll(async () => {
  system = await startSystem({ models: ["choice"], answerSeconds: ANSWER_SECONDS, blocks: "on-demand" });
  const classifier = writeClassifying(join(system.folder, "classifier"));
  const { model, selector, laneBits } = loadModelFolder(classifier);
  const { chain, sender } = await system.open("publisher", ROLES.cheat);
  await registerPrepared(chain, sender, prepare(model, selector), laneBits);
  mcp = await startMcp(system, "text", ["choice", classifier, "--lanes", "BOND", "--wait-seconds", "0"]);
  client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp.url)));
});
afterAll(async () => {
  await client?.close();
  await mcp?.stop();
  await system?.stop();
});

type Structured = Readonly<Record<string, unknown>>;
async function call(name: string, args: object): Promise<Structured> {
  const { structuredContent } = await client.callTool({ name, arguments: { ...args } });
  return structuredContent as Structured;
}

/** The shipped language model, with its text. */
function choice(): {
  readonly prepared: PreparedModel;
  readonly text: ModelText;
  readonly calldata: Uint8Array;
} {
  const { manifest, model, selector, tokenizer } = system.model("choice");
  const { text } = folderText(tokenizer, manifest.assay);
  const [declared] = manifest.abi;
  if (text === undefined || declared === undefined) throw new Error("no text");
  const called = { ...declared, selector: toHex(selector) };
  const calldata = encodeCall(called, textValues({ function: called }, text, CONVERSATION));
  return { prepared: prepare(model, selector), text, calldata: fromHex(calldata) };
}

/** Somebody claims what the model answers, and nobody challenges it. @returns the claim's id */
async function answered(calldata: Uint8Array, output: Uint8Array): Promise<string> {
  const { request, requestId } = await system.ask({ model: system.model("choice"), calldata });
  const { chain, sender } = await system.open("claimer", ROLES.cheat + 1);
  await claimOutput(chain, sender, request, toHex(output));
  await system.control.increaseTime({ seconds: 4 * ANSWER_SECONDS });
  await system.control.mine({ blocks: 1 });
  return String(lastOf(await historyOf(chain, requestId), "Claimed")?.args.claimId);
}

describe("assay mcp", () => {
  it("default: a language model takes a conversation and gives text, beside the ids that are final", async () => {
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === "call_assay_choice");
    expect(Object.keys(tool?.inputSchema.properties ?? {})).toEqual(["messages", "text"]);
    // What ids are as numbers is nothing that this tool gives.
    expect(tool?.description).not.toContain("32,768");
    const { prepared, text, calldata } = choice();
    const output = execute(prepared, calldata);
    const { ids, text: letter } = text.answerOf(output);
    expect(letter).toMatch(/^[TBSH]$/);
    const args = { messages: checkedMessages(CONVERSATION) };
    expect(await call("call_assay_choice", args)).toMatchObject({ status: "failed", code: "NOT_ASKED" });
    const claimId = await answered(calldata, output);
    const final = await call("call_assay_choice", args);
    expect(final).toMatchObject({ status: "final", claimId, data: { text: letter }, ids });
    const verified = await call("verify_claim", { claimId });
    expect(verified).toMatchObject({ status: "final", output: toHex(output), text: letter, ids });
  });

  it("behavior: a tool of the SDK takes and gives text too, once the answer is final", async () => {
    const { chain } = await system.open("caller", ROLES.cheat + 2);
    const account = systemAccount(ROLES.cheat + 2);
    const { manifest } = system.model("choice");
    const model = await openModel(chain, manifest as ModelManifest);
    const { prepared, text, calldata } = choice();
    const wallet = createWalletClient({ account, transport: http(system.rpcUrl) });
    const ask = { wallet, terms: { fee: 10n ** 16n }, finality: { pollIntervalMs: 20 }, waitMs: 120_000 };
    const tool = finalTool({ chain, model, name: "choice", form: textForm(model, text), ask });
    expect(Object.keys(tool.parameters.properties as object)).toEqual(["messages", "text"]);
    await expect(tool.run({ question: "?" })).rejects.toMatchObject({ code: "INPUTS_INVALID" });
    const running = tool.run({ messages: CONVERSATION });
    const inputHash = keccak256(toHex(calldata));
    const { request } = await system.events.until(
      "Requested",
      (event) => event.request.inputHash === inputHash && event.request.requester === account.address,
    );
    const claimer = await system.open("other claimer", ROLES.cheat + 3);
    const output = execute(prepared, calldata);
    await claimOutput(claimer.chain, claimer.sender, request, toHex(output));
    await system.control.increaseTime({ seconds: request.window + 1 });
    await system.control.mine({ blocks: 1 });
    const { text: letter, ids } = text.answerOf(output);
    expect(await running).toMatchObject({ status: "final", lane: "BOND", values: { text: letter }, ids });
  });

  it("default: a classifier by word pieces takes a text", async () => {
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === "call_assay_classifier");
    expect(tool?.inputSchema.properties).toMatchObject({ text: { type: "string" } });
    const asked = await call("call_assay_classifier", { text: "a Bab" });
    expect(asked).toMatchObject({ status: "failed", code: "NOT_ASKED", inputHash: expect.any(String) });
  });

  it("error: what does not fit is refused with the value, the limit and the next step", async () => {
    const long = { messages: [{ role: "user", content: "news ".repeat(400) }] };
    const refused = await call("call_assay_choice", long);
    expect(refused).toMatchObject({ status: "failed", code: "PROMPT_TOO_LONG" });
    expect(refused.error).toMatch(/ ids .* the model takes 208\. Shorten it/);
    const wrong = await call("call_assay_choice", { question: "?" });
    expect(wrong).toMatchObject({ status: "failed", code: "INPUTS_INVALID" });
    expect(wrong.error).toContain('"question", must be messages or text, one alone. Give a JSON object');
  });

  it("error: a body that nests deeply is refused as one, and is no fault of the server", async () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const params = `{"name":"call_assay_choice","arguments":{"text":${deep}}}`;
    const body = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":${params}}`;
    const { status, message } = await post(mcp.url, body, { "mcp-protocol-version": "2025-11-25" });
    expect(status).toBe(400);
    expect(message).toMatchObject({
      error: { code: -32_700, message: expect.stringContaining("deeper than 64") },
    });
  });
});
