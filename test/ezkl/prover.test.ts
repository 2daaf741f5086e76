/** A prover as a process that settles by ezkl, and an agent's contract that reads what is final. Before it
 *  `assay proof ezkl install --data build/ezkl-data` ran (tools/named-suite.ts). */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type Address, createWalletClient, type Hex, http, keccak256, parseEventLogs } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { loadArtifact } from "../../cli/artifacts.ts";
import type { Daemon } from "../../cli/demo/processes.ts";
import { iAssayAbi, toolAgentAbi } from "../../protocol/rules/generated/abis.ts";
import {
  LANE,
  type ModelId,
  type Request,
  type RequestId,
  ZERO_ADDRESS,
} from "../../protocol/rules/types.ts";
import { ezklSettleGas } from "../../prover/costs.ts";
import { encodeCalldata } from "../../prover/proof/ezkl/instances.ts";
import { runEzkl } from "../../prover/proof/ezkl/prove.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { longTest } from "../support/long-test.ts";
import { windowNumbers } from "../support/make-ezkl-vectors.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const NAME = "forecast-ezkl";
const EZKL = join(projectRoot, "build/ezkl-data/ezkl");
const NO_CLAIM = {
  requestId: `0x${"00".repeat(32)}`,
  modelId: `0x${"00".repeat(32)}`,
  attempt: 0,
  prover: ZERO_ADDRESS,
  operator: ZERO_ADDRESS,
  outputHash: `0x${"00".repeat(32)}`,
  bond: 0n,
  ticketBond: 0n,
  gasPrice: 0n,
} as const;

let system: System;
let prover: Daemon;
let url: string;

beforeAll(async () => {
  system = await startSystem({ models: ["forecast-vix"], proofModels: [NAME], answerSeconds: 600 });
  prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0", "--ezkl", EZKL]);
  await prover.logged("proofs of this model are possible");
  url = String((await prover.logged("prover is up")).url);
});

afterAll(() => system?.stop());

/** Calldata of the shipped model; each number is another input. */
const calldataOf = (shift: number): Uint8Array => {
  const { selector } = system.proofModel(NAME).manifest.assay;
  return encodeCalldata(
    fromHex(selector),
    windowNumbers().map((number) => number + shift),
  );
};

async function rightOutput(calldata: Uint8Array): Promise<Hex> {
  const [output] = await runEzkl({ folder: EZKL }, system.proofModel(NAME), [calldata]);
  return toHex(output as Uint8Array);
}

/** An agent's contract that takes proofs only, and a question of it. */
async function askAgent(calldata: Uint8Array): Promise<{ agent: Address; request: Request; id: RequestId }> {
  const owner = systemAccount(ROLES.cheat);
  const wallet = createWalletClient({ account: owner, transport: http(system.rpcUrl) });
  const { client, game } = system.chain;
  const mined = (hash: Hex) => client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  const policy = {
    modelId: system.proofModel(NAME).modelId as ModelId,
    inputHash: `0x${"00".repeat(32)}`,
    lanes: LANE.PROOF,
    minBond: 0n,
    minWindow: 2_400,
  } as const;
  const { bytecode } = loadArtifact("ToolAgent");
  const args = [game.assay, owner.address, policy] as const;
  const deployed = await mined(
    await wallet.deployContract({ abi: toolAgentAbi, bytecode, args, chain: null }),
  );
  const agent = deployed.contractAddress as Address;
  const fee = 10n ** 16n;
  const offer = {
    fee,
    deliveryFee: 0n,
    expiry: Number((await client.getBlock()).timestamp) + 3_600,
    callbackGas: 0,
    exclusiveProver: ZERO_ADDRESS,
    exclusiveUntil: 0,
    salt: 1n,
  };
  const contract = { address: agent, abi: toolAgentAbi } as const;
  const hash = await wallet.writeContract({
    ...contract,
    functionName: "ask",
    args: [toHex(calldata), offer],
    value: fee,
    chain: null,
  });
  const [asked] = parseEventLogs({ abi: toolAgentAbi, logs: (await mined(hash)).logs, eventName: "Asked" });
  if (asked === undefined) throw new Error("the question is not on the chain");
  const request = await client.readContract({
    ...contract,
    functionName: "requestFor",
    args: [keccak256(calldata), offer],
  });
  return { agent, request: request as Request, id: asked.args.requestId as RequestId };
}

/** Processes of the daemon that run a stage of ezkl. */
const workersOf = ({ pid }: Daemon): number[] =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, ...args]) => Number(parent) === pid && args.join(" ").includes("ezkl_worker.py"))
    .map(([own]) => Number(own));

describe("a prover with ezkl", () => {
  it("default: proves, settles, and an agent's contract reads what is final", async () => {
    const calldata = calldataOf(0);
    const output = await rightOutput(calldata);
    const { agent, request, id } = await askAgent(calldata);
    const { client, game } = system.chain;
    const accept = (held: Hex) =>
      client.simulateContract({
        address: agent,
        abi: toolAgentAbi,
        functionName: "accept",
        args: [request, NO_CLAIM, held],
      });
    await expect(accept(output)).rejects.toThrow();
    const settled = await system.events.until("Settled", ({ requestId }) => requestId === id);
    const submitter = systemAccount(ROLES.prover).address;
    expect(settled).toMatchObject({ submitter, lane: LANE.PROOF, output });
    // `accept` asks requireFinal: it takes this output and no other.
    await expect(accept(output)).resolves.toBeDefined();
    await expect(accept(toHex(fromHex(output).with(31, 1 ^ (fromHex(output)[31] ?? 0))))).rejects.toThrow();
    const wallet = createWalletClient({
      account: systemAccount(ROLES.requester),
      transport: http(system.rpcUrl),
    });
    const hash = await wallet.writeContract({
      address: agent,
      abi: toolAgentAbi,
      functionName: "accept",
      args: [request, NO_CLAIM, output],
      chain: null,
    });
    await client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
    const answer = await client.readContract({
      address: agent,
      abi: toolAgentAbi,
      functionName: "answerTo",
      args: [id],
    });
    expect(answer).toMatchObject({ output, lane: LANE.PROOF });
    // What the prover reckoned with covers what it paid.
    const [event] = await client.getContractEvents({
      address: game.assay,
      abi: iAssayAbi,
      eventName: "Settled",
      args: { requestId: id },
      fromBlock: 0n,
    });
    const receipt = await client.getTransactionReceipt({ hash: event?.transactionHash as Hex });
    const reckoned = ezklSettleGas(system.proofModel(NAME));
    expect(receipt.gasUsed).toBeLessThan(reckoned);
    expect(receipt.gasUsed).toBeGreaterThan((reckoned * 3n) / 4n);
  });

  it("behavior: a worker that dies is started again", async () => {
    const calldata = calldataOf(1);
    const { ofRequest } = await asked(calldata);
    let workers: number[] = [];
    while (workers.length === 0) {
      workers = workersOf(prover);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    for (const pid of workers) process.kill(pid, "SIGKILL");
    const job = await prover.logged("a job is not done yet");
    expect(job.reason).toMatch(/^no evidence by ezkl: ezkl's stage \w+ failed: it ended with SIGKILL/);
    const settled = await system.events.until("Settled", ofRequest);
    expect(settled).toMatchObject({ lane: LANE.PROOF, output: await rightOutput(calldata) });
  });

  longTest("behavior: HTTP answers calldata, unverified before and final after", async () => {
    const calldata = calldataOf(2);
    const output = await rightOutput(calldata);
    const ask = (query = "") =>
      fetch(`${url}/tools/${NAME}${query}`, {
        method: "POST",
        body: Buffer.from(calldata),
        headers: { "content-type": "application/octet-stream" },
      });
    const before = await ask();
    expect([before.status, before.headers.get("assay-status")]).toEqual([200, "unverified"]);
    expect(toHex(new Uint8Array(await before.arrayBuffer()))).toBe(output);
    const { ofRequest } = await asked(calldata);
    await system.events.until("Settled", ofRequest);
    const after = await ask("?finality=final&timeout=600");
    expect(after.headers.get("assay-status")).toBe("final");
    const quoted = await fetch(`${url}/v1/quote?model=${NAME}`);
    expect(await quoted.json()).toMatchObject({ bond: "0" });
  });
});

async function asked(calldata: Uint8Array) {
  const model = system.proofModel(NAME);
  const { requestId } = await system.ask({ model, calldata, lanes: LANE.PROOF });
  return { requestId, ofRequest: (event: { requestId: string }) => event.requestId === requestId };
}
