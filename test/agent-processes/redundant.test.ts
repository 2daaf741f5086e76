/** Redundant execution by processes of their own: two that ask an honest prover agree, one that lies dissents, and the
 *  chain's own execution convicts it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Abi, type Address, createWalletClient, type Hex, http, keccak256, parseEventLogs } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postCalldata } from "../../agent/metadata/call.ts";
import { runRedundant } from "../../agent/redundant/main.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { SILENT } from "../../base/log.ts";
import { loadArtifact } from "../../cli/artifacts.ts";
import { publishModels } from "../../cli/demo/models.ts";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import { contractOf } from "../../protocol/chain/execution/infer.ts";
import { modelResultsAbi, redundantResultsAbi } from "../../protocol/rules/generated/abis.ts";
import { encodeText } from "../support/sentiment-call.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const MODEL = "sentiment";
const FEE = 10n ** 15n;
const BOND = 10n ** 17n;
const HOUR = 3_600;
const EXECUTORS = [0, 1, 2].map((i) => ROLES.cheat + i);

let system: System;
let proverUrl: string;
let results: Address;
let truth: Address;
const daemons: Daemon[] = [];

/** Answers as the prover does, but for the last byte. */
const liar = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const output = Buffer.from(await postCalldata(proverUrl, Buffer.concat(parts)));
  output[output.length - 1] = (output.at(-1) ?? 0) ^ 1;
  response.end(output);
});

beforeAll(async () => {
  system = await startSystem({ models: [MODEL], answerSeconds: 60, blocks: "on-demand" });
  const publisher = await system.open("publisher", ROLES.deployer);
  await publishModels(publisher.chain, publisher.sender, [MODEL]);
  const up = await system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up");
  proverUrl = `${up.url}/tools/${MODEL}`;
  await new Promise<void>((resolve) => liar.listen(0, "127.0.0.1", resolve));
  const { modelId } = system.model(MODEL);
  const none = `0x${"00".repeat(20)}`;
  const model = { modelId, lanes: 1, minBond: 0n, minWindow: 0, fee: 0n, expirySeconds: 0 };
  truth = await deploy("ModelResults", [none, contractOf(system.chain, "interpreter"), model]);
  const terms = {
    agreement: 2,
    maxOutputBytes: 4_096,
    fee: FEE,
    bond: BOND,
    commitSeconds: HOUR,
    revealSeconds: HOUR,
    challengeSeconds: HOUR,
    maxAgeSeconds: 0,
  };
  const executors = EXECUTORS.map((index) => systemAccount(index).address);
  results = await deploy("RedundantResults", [executors, terms, truth]);
});
afterAll(async () => {
  await Promise.all(daemons.map((daemon) => daemon.stop()));
  liar.close();
  await system?.stop();
});

const wallet = () =>
  createWalletClient({ account: systemAccount(ROLES.deployer), transport: http(system.rpcUrl) });
const mined = (hash: Hex) => system.client.waitForTransactionReceipt({ hash, pollingInterval: 50 });

async function deploy(name: string, args: readonly unknown[]): Promise<Address> {
  const { abi, bytecode } = loadArtifact(name);
  const hash = await wallet().deployContract({ abi: abi as Abi, bytecode, args, chain: null });
  return (await mined(hash)).contractAddress as Address;
}

function executor(name: string, index: number, url: string): Daemon {
  const args = ["agent", "redundant", "--results", results, "--agent-url", url];
  const { folder, rpcUrl } = system;
  const deployment = join(folder, "deployment.json");
  const daemon = startDaemon({ name, args, key: keyOf(index), folder, rpcUrl, deployment });
  daemons.push(daemon);
  return daemon;
}

const contract = () => ({ address: results, abi: redundantResultsAbi }) as const;
const answerOf = (roundId: Hex, index: number) =>
  system.client.readContract({
    ...contract(),
    functionName: "answerOf",
    args: [roundId, systemAccount(index).address],
  });
const resultOf = (data: Hex) =>
  system.client.readContract({ ...contract(), functionName: "resultOf", args: [data] });

describe("assay agent redundant", () => {
  // shows: S-40
  it("default: three processes answer, two agree, the third dissents and loses its bond to the truth", async () => {
    const [first, second, third] = EXECUTORS as [number, number, number];
    const honest = [executor("first", first, proverUrl), executor("second", second, proverUrl)];
    const lying = executor("third", third, `http://127.0.0.1:${(liar.address() as AddressInfo).port}`);
    await Promise.all([...honest, lying].map((daemon) => daemon.logged("redundant executor is up")));
    const bonds = EXECUTORS.map((index) =>
      system.client.readContract({
        ...contract(),
        functionName: "seats",
        args: [systemAccount(index).address],
      }),
    );
    expect((await Promise.all(bonds)).map(([bond]) => bond)).toEqual([BOND, BOND, BOND]);

    const data = toHex(encodeText(system.model(MODEL), "Profit beats forecasts"));
    const call = { ...contract(), functionName: "request", args: [data], value: FEE, chain: null } as const;
    const asked = await mined(await wallet().writeContract(call));
    const [event] = parseEventLogs({ abi: redundantResultsAbi, eventName: "Requested", logs: asked.logs });
    const roundId = event?.args.roundId as Hex;
    const right = await postCalldata(proverUrl, fromHex(data));

    await Promise.all([...honest, lying].map((daemon) => daemon.logged("sent reveal")));
    expect(await answerOf(roundId, first)).toBe(keccak256(right));
    expect(await answerOf(roundId, third)).not.toBe(keccak256(right));
    expect(await resultOf(data)).toEqual([false, "0x"]);

    // The truth comes to light while the result can still be challenged.
    const record = { address: truth, abi: modelResultsAbi, functionName: "recordExecuted" } as const;
    await mined(await wallet().writeContract({ ...record, args: [data], chain: null }));
    await Promise.race(honest.map((daemon) => daemon.logged("sent convict")));
    const liarAddress = systemAccount(third).address;
    const [bond] = await system.client.readContract({
      ...contract(),
      functionName: "seats",
      args: [liarAddress],
    });
    expect(bond).toBe(0n);
    expect(await resultOf(data)).toEqual([true, toHex(right)]);
    const adapter = await deploy("AgentAdapter", [results]);
    expect((await system.client.call({ to: adapter, data })).data).toBe(toHex(right));
  });

  it("error: a key that is no executor's, and one that was convicted", async () => {
    const third = EXECUTORS[2] as number;
    await daemons.find(({ name }) => name === "third")?.stop();
    const start = async (name: string, index: number) => {
      const chain = await system.chainOf(systemAccount(index));
      const stopping = new AbortController();
      // It must not come up; if it does, it ends, and nothing is rejected.
      const log = {
        ...SILENT,
        info: (_: object, text: string) => text.endsWith("is up") && stopping.abort(),
      };
      const times = { timeoutMs: 1_000, pollIntervalMs: 20, confirmations: 0, maxFee: 10n ** 12n };
      const options = { chain, results, agentUrl: proverUrl, data: join(system.folder, name), log };
      await runRedundant({ ...options, ...times }, stopping.signal);
    };
    await expect(start("stranger", ROLES.cheat + 9)).rejects.toMatchObject({ code: "NOT_EXECUTOR" });
    // The bond that it lost is not put up again, also not for another spelling of the address.
    await expect(start("third", third)).rejects.toMatchObject({ code: "NOT_SEATED" });
    const args = [systemAccount(third).address] as const;
    const [bond] = await system.client.readContract({ ...contract(), functionName: "seats", args });
    expect(bond).toBe(0n);
  });
});
