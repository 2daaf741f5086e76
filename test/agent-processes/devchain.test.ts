/** Embedded execution with a language model: an agent asks it behind a precompile, inside its own transaction. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Address, BaseError as BaseViemError, encodeErrorResult, type Hex, parseEventLogs } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BlockFile } from "../../agent/devchain/block-file.ts";
import { DevChain } from "../../agent/devchain/dev-chain.ts";
import { BLOCK_GAS } from "../../agent/devchain/genesis.ts";
import type { RunningDevChain } from "../../agent/devchain/main.ts";
import {
  MAX_ANSWER_BYTES,
  MAX_QUESTION_BYTES,
  modelGas,
  PRECOMPILE,
} from "../../agent/devchain/precompile.ts";
import { toHex } from "../../base/bytes.ts";
import { revertReason } from "../../cli/demo/contracts.ts";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import { createClient } from "../../protocol/chain/connect.ts";
import { embeddedExecutorAbi, iercAgentAbi } from "../../protocol/rules/generated/abis.ts";
import { accountAt } from "../support/anvil.ts";
import { temporaryFolder } from "../support/deploy.ts";
import {
  deployEmbedded,
  type EmbeddedAgent,
  finalAnswer,
  MODEL,
  pay,
  SUPPLY,
  startEmbedded,
  stepsOf,
} from "../support/embedded-agent.ts";
import { type Script, type ScriptedLlm, startScriptedLlm } from "../support/scripted-llm.ts";
import { keyOf } from "../support/system.ts";

const ALICE = "0x00000000000000000000000000000000000000A1";
const BOB = "0x00000000000000000000000000000000000000B0";
const ERRORS = ["OwnedAgent", "EmbeddedExecutor", "SimpleSmartContractTool"];

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
let llm: ScriptedLlm;
let running: RunningDevChain;
let agent: EmbeddedAgent;
let script: Script;

beforeEach(async () => {
  folder = temporaryFolder();
  file = join(folder.path, "chain.jsonl");
  script = stepsOf(pay(ALICE, 3n), pay(BOB, 4n), finalAnswer("Both are paid."));
  llm = await startScriptedLlm((request, index) => script(request, index));
  running = await startEmbedded(llm.url, file);
  agent = await deployEmbedded(running.url);
});
afterEach(async () => {
  await running?.close();
  await llm?.stop();
  folder?.remove();
});

const reasonOf = async (attempt: Promise<unknown>): Promise<string> => {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return revertReason(error, ERRORS);
};

/** Opens the kept chain as somebody without a model would. */
const openAgain = () =>
  DevChain.open({
    chainId: 31_338,
    accounts: [accountAt(0).address],
    ask: async () => {
      throw new Error("nobody is to be asked");
    },
    file: new BlockFile(file),
    nowSeconds: () => 0,
  });

describe("IERCAgent.run on a development chain", () => {
  // shows: S-39, D-73, E1-004, E1-007, E1-053
  it("default: three iterations by a language model in one transaction", async () => {
    const blocks = await agent.client.getBlockNumber();
    const receipt = await agent.run("Pay what is owed.", "estimated");
    expect(receipt.status).toBe("success");
    expect(await agent.client.getBlockNumber()).toBe(blocks + 1n);
    const [event] = parseEventLogs({ abi: iercAgentAbi, eventName: "AgentRunResult", logs: receipt.logs });
    expect(event?.args.answer).toBe("Both are paid.");
    expect(event?.args.executionSteps).toHaveLength(2);
    expect(await Promise.all(([ALICE, BOB, agent.tool] as Address[]).map(agent.balanceOf))).toEqual([
      3n,
      4n,
      SUPPLY - 7n,
    ]);
    // Estimates and transaction have one answer to each question.
    expect(llm.requests).toHaveLength(3);
  });

  // shows: E1-007
  it("behavior: a failure at the third iteration undoes the first two", async () => {
    script = stepsOf(pay(ALICE, 3n), pay(BOB, 4n), pay(BOB, SUPPLY));
    expect(await reasonOf(agent.simulate("Pay too much."))).toContain("ToolFailed");
    const receipt = await agent.run("Pay too much.");
    expect(receipt.status).toBe("reverted");
    expect(await Promise.all(([ALICE, BOB, agent.tool] as Address[]).map(agent.balanceOf))).toEqual([
      0n,
      0n,
      SUPPLY,
    ]);
  });

  it("error: the endpoint fails, the transaction says so by name, and the next one asks again", async () => {
    const works = script;
    script = () => ({ status: 500 });
    expect(await reasonOf(agent.simulate("Pay."))).toBe("InferenceFailed(MODEL_REFUSED)");
    expect((await agent.run("Pay.")).status).toBe("reverted");
    script = works;
    expect((await agent.run("Pay.")).status).toBe("success");
    // A failure is part of its block as an answer is.
    expect((await openAgain()).head.block.hash()).toEqual(running.chain.head.block.hash());
  });

  it("error: a model that writes nothing usable, and an answer above the limit", async () => {
    script = () => "no form at all";
    expect(await reasonOf(agent.simulate("One."))).toBe("InferenceFailed(COMPLETION_MALFORMED)");
    script = () => finalAnswer("x".repeat(MAX_ANSWER_BYTES));
    expect(await reasonOf(agent.simulate("Two."))).toMatch(/^AnswerTooLong\(\d+, 16384\)$/);
  });

  it("error: a question above the limit never reaches the model", async () => {
    expect(await reasonOf(agent.simulate("x".repeat(MAX_QUESTION_BYTES)))).toMatch(
      /^QuestionTooLong\(\d+, 131072\)$/,
    );
    expect(llm.requests).toHaveLength(0);
  });

  it("error: a chain without the precompile", async () => {
    const nowhere = await deployEmbedded(running.url, BOB);
    expect(await reasonOf(nowhere.simulate("Pay."))).toBe(`NoModelHere(${BOB})`);
  });
});

describe("the precompile", () => {
  it("error: bytes that are no question, and gas that would not pay for the longest answer", async () => {
    const call = (data: Hex, gas: bigint) => running.chain.call({ to: PRECOMPILE, data, gas });
    const malformed = await call("0x1234", BLOCK_GAS);
    expect([malformed.ok, toHex(malformed.data)]).toEqual([
      false,
      encodeErrorResult({ abi: embeddedExecutorAbi, errorName: "QuestionMalformed" }),
    ]);
    const poor = await call("0x1234", modelGas(2, MAX_ANSWER_BYTES) - 1n);
    expect(poor.error).toBe("out of gas");
    expect(poor.data).toHaveLength(0);
    expect(llm.requests).toHaveLength(0);
  });

  /** Attack: a run with so little gas that the model is asked and nobody pays for it. */
  it("behavior: a run without the gas for an answer asks nobody", async () => {
    const receipt = await agent.run("Pay.", 250_000n);
    expect(receipt.status).toBe("reverted");
    expect(llm.requests).toHaveLength(0);
  });
});

describe("re-execution", () => {
  // shows: E1-007
  it("default: the file alone leads to the same blocks and state, without a model", async () => {
    await agent.run("Pay what is owed.");
    const again = await openAgain();
    expect(again.blocks.map(({ block }) => toHex(block.hash()))).toEqual(
      running.chain.blocks.map(({ block }) => toHex(block.hash())),
    );
    const paid = await again.call({ to: agent.token, data: `0x70a08231${ALICE.slice(2).padStart(64, "0")}` });
    expect(BigInt(toHex(paid.data))).toBe(3n);
  });

  it("behavior: the last line of a killed process is forgotten, what was confirmed is not", async () => {
    await agent.run("Pay what is owed.");
    appendFileSync(file, '{"block":"0x12');
    const again = await openAgain();
    expect(again.blocks).toHaveLength(running.chain.blocks.length);
    expect(readFileSync(file, "utf8").endsWith("}\n")).toBe(true);
  });

  it("error: an answer that was changed, or taken out", async () => {
    await agent.run("Pay what is owed.");
    const text = readFileSync(file, "utf8");
    const amount = `${"0".repeat(63)}3`;
    expect(text).toContain(amount);
    const answers = text.lastIndexOf('"answers"');
    const changed = text.slice(0, answers) + text.slice(answers).replace(amount, `${"0".repeat(63)}9`);
    for (const other of [changed, `${text.slice(0, answers)}"answers":[]}\n`]) {
      writeFileSync(file, other);
      await expect(openAgain()).rejects.toMatchObject({ code: "BLOCK_DIVERGED" });
    }
  });

  /** Attack on oneself: two processes on one file would each write blocks that the other does not know. */
  it("error: two processes on one file", async () => {
    await openAgain();
    const kept = readFileSync(file);
    appendFileSync(file, "{}\n");
    await expect(agent.run("Pay.")).rejects.toThrow("written to by somebody else");
    writeFileSync(file, kept);
    await agent.run("Pay.");
    expect(await agent.balanceOf(ALICE)).toBe(3n);
  });

  it("error: another chain's file, and no chain's", async () => {
    const other = DevChain.open({
      chainId: 5,
      accounts: [],
      ask: async () => ({ ok: false, data: new Uint8Array() }),
      file: new BlockFile(file),
      nowSeconds: () => 0,
    });
    await expect(other).rejects.toMatchObject({ code: "CHAIN_FILE_OTHER" });
    writeFileSync(file, "nonsense\n");
    await expect(openAgain()).rejects.toMatchObject({ code: "CHAIN_FILE_MALFORMED" });
    expect(readFileSync(file, "utf8")).toBe("nonsense\n");
  });
});

describe("JSON-RPC", () => {
  it("args: logs by address and topic, blocks by number, unknown methods and bad parameters", async () => {
    const receipt = await agent.run("Pay what is owed.");
    const { client, token } = agent;
    const logs = await client.getLogs({ address: token, fromBlock: 0n });
    expect(logs.map(({ blockNumber }) => blockNumber).slice(1)).toEqual([
      receipt.blockNumber,
      receipt.blockNumber,
    ]);
    const [topic] = logs[0]?.topics ?? [];
    const filter = { address: [agent.agent], topics: [topic], fromBlock: "0x0" };
    expect(await client.request({ method: "eth_getLogs", params: [filter as never] })).toEqual([]);
    const block = await client.getBlock({ blockNumber: receipt.blockNumber, includeTransactions: true });
    expect(block.transactions[0]?.hash).toBe(receipt.transactionHash);
    expect(block.transactions[0]?.from.toLowerCase()).toBe(accountAt(0).address.toLowerCase());
    const before = { address: token, abi: BALANCE, functionName: "balanceOf", args: [ALICE] } as const;
    const [then, now] = await Promise.all([
      client.readContract({ ...before, blockNumber: receipt.blockNumber - 1n }),
      client.readContract(before),
    ]);
    expect([then, now]).toEqual([0n, 3n]);
    await expect(client.request({ method: "eth_mine" as never })).rejects.toThrow("no method eth_mine");
    await expect(
      client.request({ method: "eth_getBalance", params: ["0x12" as never, "latest"] }),
    ).rejects.toThrow(BaseViemError);
  });

  it("behavior: a transaction that is sent again is mined once; a wrong nonce is refused", async () => {
    const account = accountAt(0);
    const request = { chainId: 31_338, to: ALICE, value: 1n, gas: 21_000n, type: "eip1559" } as const;
    const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n };
    const nonce = await agent.client.getTransactionCount({ address: account.address });
    const raw = await account.signTransaction({ ...request, ...fees, nonce });
    const send = (serializedTransaction: Hex) => agent.client.sendRawTransaction({ serializedTransaction });
    expect(await send(raw)).toBe(await send(raw));
    expect(await agent.client.getBalance({ address: ALICE })).toBe(1n);
    const far = await account.signTransaction({ ...request, ...fees, nonce: nonce + 5 });
    await expect(send(far)).rejects.toThrow("not mined");
    expect(await agent.client.getBalance({ address: ALICE })).toBe(1n);
  });
});

const BALANCE = [
  {
    type: "function",
    name: "balanceOf",
    stateMutability: "view",
    inputs: [{ name: "account", type: "address" }],
    outputs: [{ name: "", type: "uint256" }],
  },
] as const;

describe("assay agent devchain", () => {
  const daemons: Daemon[] = [];
  let endpoint: ScriptedLlm;
  beforeAll(async () => {
    endpoint = await startScriptedLlm(stepsOf(finalAnswer("Nothing is owed.")));
  });
  afterAll(async () => {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
    await endpoint.stop();
  });

  it("default: a process of its own keeps its chain over a restart", async () => {
    const args = ["agent", "devchain", "--port", "0", "--model", `${MODEL}=openai:m`];
    args.push("--endpoint", endpoint.url, "--file", join(folder.path, "own.jsonl"));
    const start = async (name: string) => {
      const options = { name, args, key: keyOf(0), folder: folder.path, rpcUrl: "http://127.0.0.1:1" };
      const daemon = startDaemon({ ...options, deployment: "none" });
      daemons.push(daemon);
      return { daemon, up: await daemon.logged("devchain is up") };
    };
    const first = await start("first");
    // The executor is there before anybody is answered: whoever sends at once finds the accounts as they stay.
    expect(await createClient(first.up.url as string).getBlockNumber()).toBe(1n);
    const own = await deployEmbedded(first.up.url as string);
    expect(await own.simulate("Anything?")).toEqual([-1n, "Nothing is owed."]);
    const { transactionHash } = await own.run("Anything?");
    await first.daemon.stop();
    const { up } = await start("second");
    const receipt = await createClient(up.url as string).getTransactionReceipt({ hash: transactionHash });
    expect(receipt.status).toBe("success");
    expect(up.reasoning).toBe("attested");
  });
});
