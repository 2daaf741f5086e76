/** Signed answers over MCP, with processes: taken where the server was told to, followed to their end, and refused by
 *  name where nobody should take them. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type Hex, keccak256, parseEther, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { renderPresented } from "../../protocol/rules/promises/presented.ts";
import { type PromisesAddress, typedSignedClaim } from "../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { type McpProcess, startMcp } from "../support/mcp-server.ts";
import { type AnsweringProver, startAnsweringProver } from "../support/promises/answering-prover.ts";
import { type AttackParts, signedAttacks } from "../support/promises/signed-attacks.ts";
import { encodeText } from "../support/sentiment-call.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const ANSWER_SECONDS = 5;
const NAME = "call_assay_sentiment";
const TEXT = "Profit rises above all estimates";
const LIAR = systemAccount(ROLES.cheat + 1);

let system: System;
let at: PromisesAddress;
let liar: AnsweringProver;
let proverUrl: string;
const running: McpProcess[] = [];

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS, blocks: "on-demand" });
  const { chain, sender } = await system.open("liar", ROLES.cheat + 1);
  at = promisesOf(chain.deployment);
  const actions = new PromiseActions(at, chain.game);
  for (const owner of [systemAccount(ROLES.prover).address, LIAR.address])
    await sender.send(actions.deposit(owner, parseEther("10"), owner));
  const { timestamp } = await system.client.getBlock();
  await sender.send(actions.setSigner(LIAR.address, Number(timestamp) + 1_000_000));
  liar = await startAnsweringProver();
  const signs = ["prover", "--port", "0", "--sign", "on", "--batch-seconds", "1"];
  const prover = system.daemon("prover", ROLES.prover, signs);
  proverUrl = String((await prover.logged("prover is up")).url);
});
afterAll(async () => {
  for (const process of running) await process.stop();
  await liar?.stop();
  await system?.stop();
});

type Structured = Readonly<Record<string, unknown>>;
type Answer = { readonly isError: boolean; readonly content: Structured };
type Call = (name: string, args: object) => Promise<Answer>;

async function served(name: string, ...options: string[]): Promise<{ call: Call; tools: string[] }> {
  const bonded = ["sentiment", "--lanes", "BOND", "--wait-seconds", "0"];
  const { url, ...process } = await startMcp(system, name, [...bonded, ...options]);
  running.push({ url, ...process });
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  // From now on the client checks results by the tools' schemas.
  const { tools } = await client.listTools();
  const call: Call = async (tool, values) => {
    const { isError, structuredContent } = await client.callTool({ name: tool, arguments: { ...values } });
    return { isError: isError === true, content: structuredContent as Structured };
  };
  return { call, tools: tools.map((tool) => tool.name) };
}

/** Asks until the answer is none of these. */
async function until(ask: () => Promise<Answer>, ...passing: unknown[]): Promise<Structured> {
  for (;;) {
    const { content } = await ask();
    if (!passing.includes(content.code ?? content.status)) return content;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe("assay mcp --accept-signed", () => {
  it("default: signed at once, then batched, then final; and nothing of it without the setting", async () => {
    const strict = await served("strict");
    expect(strict.tools).toEqual([NAME, "verify_claim"]);
    expect(await strict.call(NAME, { text: TEXT })).toMatchObject({
      ...{ isError: true, content: { status: "failed", code: "NOT_ASKED" } },
    });

    const { call, tools } = await served("signed", "--accept-signed", proverUrl, "--batch-signed", "on");
    expect(tools).toEqual([NAME, "verify_claim", "verify_signed_claim"]);
    // Until it has bound its key, the prover refuses.
    const signed = await until(() => call(NAME, { text: TEXT }), "PROVER_REFUSED");
    expect(signed).toMatchObject({ status: "signed", lane: "BOND", meaning: { kind: "classes" } });
    const { signedClaim, digest, outputHash } = signed;
    const verify = () => call("verify_signed_claim", { signedClaim });
    const batched = await until(verify, "signed");
    expect(batched).toMatchObject({ status: "batched", digest, outputHash });
    expect(keccak256(batched.output as Hex)).toBe(outputHash);
    await system.control.increaseTime({ seconds: 4 * ANSWER_SECONDS });
    await system.control.mine({ blocks: 1 });
    const final = await until(verify, "batched");
    expect(final).toMatchObject({ status: "final", digest, outputHash, meaning: signed.meaning });
  });

  it("error: what nobody may take is refused by name, as an answer and as somebody's signed claim", async () => {
    const { call } = await served("lied", "--accept-signed", liar.url);
    const model = system.model("sentiment");
    const { address: requester } = systemAccount(ROLES.challenger);
    const now = Number((await system.client.getBlock()).timestamp);
    // Of the right length: what is in it, nobody here runs.
    const output: Hex = `0x${"00".repeat(128)}`;
    const sign: AttackParts["sign"] = async ({ key = LIAR, ...changes }, isOther = false) => {
      const input = toHex(encodeText(model, isOther ? "Losses" : TEXT));
      const claim = {
        ...{ prover: LIAR.address, modelId: model.modelId as ModelId, inputHash: keccak256(input) },
        ...{ outputHash: keccak256(output), requester, issuedAt: now, expiry: now + 86_400 },
        ...{ minBond: 0n, salt: 1n, ...changes },
      };
      return { claim, signature: await key.signTypedData(typedSignedClaim(at, claim)), input, output };
    };
    const verify = (signedClaim: unknown) => call("verify_signed_claim", { signedClaim });
    const honest = await sign({});
    liar.answers(at, honest);
    expect((await call(NAME, { text: TEXT })).content).toMatchObject({ status: "signed" });
    for (const attack of await signedAttacks({ at, now, stranger: systemAccount(20), sign })) {
      const { what, at: where, presented, code, reason } = attack;
      const error = expect.stringMatching(reason);
      liar.answers(where, presented);
      const refused = { isError: true, content: { status: "failed", code, error } };
      expect(await call(NAME, { text: TEXT }), what).toMatchObject(refused);
      if (code === "INPUT_MISMATCH") continue;
      expect(await verify(renderPresented(where, presented)), what).toMatchObject(refused);
    }
    const json = renderPresented(at, honest);
    expect((await verify(json)).content).toMatchObject({ status: "signed", prover: LIAR.address });
    for (const [changed, code] of [
      [{ ...json, input: json.output }, "INPUT_MISMATCH"],
      [{ ...json, output: json.input }, "OUTPUT_MISMATCH"],
      [{ ...json, signature: json.signature.slice(0, -2) }, "SIGNED_CLAIM_INVALID"],
      [7, "SIGNED_CLAIM_INVALID"],
    ] as const)
      expect((await verify(changed)).content).toMatchObject({ status: "failed", code });
  });
});
