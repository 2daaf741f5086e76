/** An agent of a real chain that is run from here: decided by a scripted endpoint, its tools used by transactions. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { localExecutor } from "../../agent/executor/agent-executor.ts";
import { createEngineRegistry } from "../../agent/executor/engine/engine.ts";
import { agentOnChain, runAgent } from "../../agent/executor/run-agent.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { requireAccount, type SigningChain } from "../../protocol/chain/sender.ts";
import { type DataFolder, openDataFolder } from "../../protocol/service/data-folder.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { deployLocal, QUICK, temporaryFolder } from "../support/deploy.ts";
import {
  deployEmbedded,
  type EmbeddedAgent,
  finalAnswer,
  pay,
  SUPPLY,
  scriptedModels,
  stepsOf,
} from "../support/embedded-agent.ts";
import { type Script, type ScriptedLlm, startScriptedLlm } from "../support/scripted-llm.ts";

const ALICE = "0x00000000000000000000000000000000000000A1";
const BOB = "0x00000000000000000000000000000000000000B0";

let local: LocalChain;
let chain: SigningChain;
let keep: ReturnType<typeof temporaryFolder>;
let folder: DataFolder;
let deployed: EmbeddedAgent;
let llm: ScriptedLlm;
let script: Script;

beforeEach(async () => {
  local = await startLocalChain();
  const deployment = await deployLocal(local);
  chain = requireAccount(await connect({ rpcUrl: local.rpcUrl, deployment, account: accountAt(1) }));
  keep = temporaryFolder();
  folder = openDataFolder(keep.path, chain, [], QUICK);
  deployed = await deployEmbedded(local.rpcUrl);
  llm = await startScriptedLlm((request, index) => script(request, index));
});
afterEach(async () => {
  await folder?.close();
  await llm?.stop();
  await local?.stop();
  keep?.remove();
});

const run = async (name: string, question: string) => {
  const agent = await agentOnChain(chain, folder.sender, deployed.agent, name);
  const executor = localExecutor({
    client: chain.client,
    models: scriptedModels(llm.url),
    engines: createEngineRegistry(),
  });
  return runAgent(agent, executor, question);
};
const sentBy = () => local.client.getTransactionCount({ address: accountAt(1).address });

describe("runAgent", () => {
  it("default: reads the agent on chain, uses its tool twice by transactions, and answers", async () => {
    script = stepsOf(pay(ALICE, 3n), pay(BOB, 4n), finalAnswer("Both are paid."));
    const { answer, toolResults } = await run("first", "Pay what is owed.");
    expect(answer).toBe("Both are paid.");
    expect(toolResults).toEqual(["Paid", "Paid"]);
    expect(await deployed.balanceOf(ALICE)).toBe(3n);
    expect(await deployed.balanceOf(BOB)).toBe(4n);
    expect(await sentBy()).toBe(2);
    expect(llm.requests[0]?.prompt).toContain("You pay tokens out.");
    expect(llm.requests[2]?.prompt).toContain("Observation: Paid");
  });

  it("behavior: the same run again pays nobody twice, another run does", async () => {
    script = stepsOf(pay(ALICE, 3n), finalAnswer("Paid."));
    await run("one", "Pay Alice.");
    await run("one", "Pay Alice.");
    expect(await deployed.balanceOf(ALICE)).toBe(3n);
    await run("two", "Pay Alice.");
    expect(await deployed.balanceOf(ALICE)).toBe(6n);
  });

  it("error: a tool that fails ends the run; what was done before stays done", async () => {
    script = stepsOf(pay(ALICE, 3n), pay(BOB, SUPPLY), finalAnswer("never said"));
    await expect(run("greedy", "Pay too much.")).rejects.toMatchObject({ code: "TOOL_FAILED" });
    expect(await deployed.balanceOf(ALICE)).toBe(3n);
    expect(await deployed.balanceOf(BOB)).toBe(0n);
    expect(llm.requests).toHaveLength(2);
  });

  it("error: an address that is no agent", async () => {
    await expect(agentOnChain(chain, folder.sender, deployed.token, "none")).rejects.toMatchObject({
      code: "CALL_REVERTED",
    });
  });
});
