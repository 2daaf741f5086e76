/** A contract asks an agent off chain: three of its processes answer over HTTP what two must agree on, on a chain of
 *  its own. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import {
  type Abi,
  type Address,
  createWalletClient,
  custom,
  decodeErrorResult,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseEventLogs,
  zeroAddress,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postCalldata } from "../../agent/metadata/call.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { loadArtifact } from "../../cli/artifacts.ts";
import { agentAdapterAbi, iRedundantResultsAbi } from "../../protocol/rules/generated/abis.ts";
import { type AgentProcess, startExampleProcess } from "../support/agent-process.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";

const FEE = 10n ** 15n;
const ORACLE = "test/contracts/agents/adapter/PriceOracle.sol";

let local: LocalChain;
const agents: AgentProcess[] = [];
let asked = 0;
/** The price moves with the third question. */
const source = createServer((_request, response) => {
  asked += 1;
  response.end(`{"eth":{"usd":${asked < 3 ? "3021.4500" : "3022.0"}}}`);
});

beforeAll(async () => {
  local = await startLocalChain();
  await new Promise<void>((resolve) => source.listen(0, "127.0.0.1", resolve));
  for (let i = 0; i < 3; i++) {
    agents.push(
      await startExampleProcess("json-selector", {
        ASSAY_AGENT_ORIGINS: origin(),
        ASSAY_AGENT_ALLOW_PRIVATE: "true",
      }),
    );
  }
});
afterAll(async () => {
  for (const agent of agents) agent.stop();
  source.close();
  await local?.stop();
});

const origin = () => `http://127.0.0.1:${(source.address() as AddressInfo).port}`;
const walletOf = (index: number) =>
  createWalletClient({ account: accountAt(index), transport: custom(local.client) });

async function send(index: number, transaction: { to?: Address; data: Hex; value?: bigint }) {
  const hash = await walletOf(index).sendTransaction({ chain: null, ...transaction });
  const receipt = await local.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  expect(receipt.status).toBe("success");
  return receipt;
}

async function deploy({ abi, bytecode }: { abi: Abi; bytecode: Hex }, args: unknown[]): Promise<Address> {
  const { contractAddress } = await send(0, { data: encodeDeployData({ abi, bytecode, args }) });
  return contractAddress as Address;
}

/** The text's consumer, which is no contract of ours. */
function compileOracle(): { abi: Abi; bytecode: Hex } {
  const solc = createRequire(import.meta.url)("solc") as { compile(input: string): string };
  const input = {
    language: "Solidity",
    sources: { oracle: { content: readFileSync(ORACLE, "utf8") } },
    settings: { outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } },
  };
  const { PriceOracle } = JSON.parse(solc.compile(JSON.stringify(input))).contracts.oracle;
  return { abi: PriceOracle.abi, bytecode: `0x${PriceOracle.evm.bytecode.object}` };
}

/** What a reverted call says. */
async function revertOf(to: Address, data: Hex): Promise<Hex> {
  const request = { method: "eth_call", params: [{ to, data }, "latest"] } as const;
  const answer: unknown = await local.client.request(request).catch((error: unknown) => error);
  for (
    let error = answer as { data?: unknown; cause?: unknown } | undefined;
    error;
    error = error.cause as never
  ) {
    if (typeof error.data === "string") return error.data as Hex;
  }
  throw new Error("the call did not revert", { cause: answer });
}

describe("PriceOracle on an agent off chain", () => {
  // shows: S-32, S-38, S-40, S-41, D-73
  it("default: asks as the error says, three processes answer, two agree, the same call returns the value", async () => {
    const executors = [1, 2, 3].map((index) => accountAt(index).address);
    const terms = {
      agreement: 2,
      maxOutputBytes: 4_096,
      fee: FEE,
      bond: 0n,
      commitSeconds: 3_600,
      revealSeconds: 3_600,
      challengeSeconds: 0,
      maxAgeSeconds: 0,
    };
    const results = await deploy(loadArtifact("RedundantResults"), [executors, terms, zeroAddress]);
    const adapter = await deploy(loadArtifact("AgentAdapter"), [results]);
    const consumer = compileOracle();
    const oracle = await deploy(consumer, [adapter]);
    const getPrice = encodeFunctionData({
      abi: consumer.abi,
      functionName: "getPrice",
      args: [`${origin()}/price`, "eth.usd"],
    });

    // No result yet: the error of the plain call says how to have it made.
    const refused = decodeErrorResult({ abi: agentAdapterAbi, data: await revertOf(oracle, getPrice) });
    if (refused.errorName !== "AgentResultNotFinal") throw new Error(refused.errorName);
    const [target, value, request] = refused.args;
    expect([target.toLowerCase(), value]).toEqual([results.toLowerCase(), FEE]);
    const { logs } = await send(4, { to: target, value, data: request });
    const [event] = parseEventLogs({ abi: iRedundantResultsAbi, eventName: "Requested", logs });
    const { roundId, data } = event!.args;

    // The event's bytes are those that a contract call carries, and those that the agents take.
    expect(data.slice(0, 10)).toBe("0xe207bc0c");
    const replies: Hex[] = [];
    for (const { url } of agents) replies.push(toHex(await postCalldata(url, fromHex(data))));
    expect(replies[0]).toBe(replies[1]);
    expect(replies[2]).not.toBe(replies[0]);

    const salt = keccak256("0x5a");
    const move = (index: number, functionName: "commit" | "reveal", args: unknown[]) =>
      send(index, {
        to: results,
        data: encodeFunctionData({ abi: iRedundantResultsAbi as Abi, functionName, args }),
      });
    for (const [i, reply] of replies.entries()) {
      const commitment = await local.client.readContract({
        address: results,
        abi: iRedundantResultsAbi,
        functionName: "commitmentOf",
        args: [roundId, executors[i]!, keccak256(reply), salt],
      });
      await move(i + 1, "commit", [roundId, commitment]);
    }
    // The one that saw another price first: it changes nothing.
    for (const i of [2, 0, 1]) await move(i + 1, "reveal", [roundId, replies[i], salt]);

    const price = await local.client.readContract({
      address: oracle,
      abi: consumer.abi.map((f) => ({ ...f, stateMutability: "view" })) as Abi,
      functionName: "getPrice",
      args: [`${origin()}/price`, "eth.usd"],
    });
    expect(price).toBe("3021.4500");
    const read = { abi: iRedundantResultsAbi, address: results } as const;
    expect(
      await local.client.readContract({ ...read, functionName: "answerOf", args: [roundId, executors[2]!] }),
    ).toBe(keccak256(replies[2]!));
  });
});
