/** A whole system in an EVM of this process: a move takes a millisecond, time is what the caller says, and any state can
 *  be kept and restored. Blocks have one transaction each and no header but what contracts read. */
import { createEVM, type EVM } from "@ethereumjs/evm";
import { type Address as AddressBytes, createAddressFromString } from "@ethereumjs/util";
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  type Log,
  numberToHex,
} from "viem";
import { rulesOf } from "../../agent/devchain/genesis.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import type { ModelIdentity } from "../../inference/commit/commitments.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import type { Program } from "../../inference/program/form.ts";
import type { Action } from "../../protocol/chain/actions.ts";
import {
  type Artifact,
  type Artifacts,
  byProxy,
  layOut,
  type SystemContracts,
} from "../../protocol/chain/deploy/parts.ts";
import { createIn as createPart } from "../../protocol/chain/deploy/rehearsal.ts";
import { decodeRevertData } from "../../protocol/chain/errors.ts";
import { type ChainEvent, decodeEvents } from "../../protocol/chain/events.ts";
import { chunksOf } from "../../protocol/chain/register.ts";
import { iAssayAbi, iModelRegistryAbi } from "../../protocol/rules/generated/abis.ts";
import type { GameAddress } from "../../protocol/rules/ids.ts";
import { type GameConstants, type ModelId, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { analyseJumpsOnce } from "./evm-jumps.ts";

const CHAIN_ID = 31337;
const GAS = 30_000_000n;
/** wei */
export const BASE_FEE = 1n;

type Call = Pick<Action, "to" | "data"> & { readonly value?: bigint };

export interface Sent {
  /** name of the error it reverted with; absent: it did not */
  readonly refusal?: string;
  readonly events: readonly ChainEvent[];
  /** of all contracts */
  readonly logs: readonly Log<bigint, number, false>[];
}

export class EvmWorld {
  readonly contracts: SystemContracts;
  readonly constants: GameConstants;
  readonly #evm: EVM;
  #number = 0n;

  private constructor(evm: EVM, contracts: SystemContracts, constants: GameConstants) {
    this.#evm = evm;
    this.contracts = contracts;
    this.constants = constants;
  }

  static async open(artifacts: Artifacts, constants: GameConstants): Promise<EvmWorld> {
    await analyseJumpsOnce();
    const evm = await createEVM({ common: rulesOf(CHAIN_ID) });
    const { creations, contracts } = layOut(artifacts, constants, byProxy());
    for (const creation of creations) await createPart(evm, creation);
    return new EvmWorld(evm, contracts, constants);
  }

  /** The same registry, judges and adapters with another Assay, in the same state. */
  async another(artifact: Artifact, constants: GameConstants): Promise<EvmWorld> {
    const { registry, judge, traceReader, executionAdapter, proofAdapter } = this.contracts;
    const { answerSeconds, gasPriceFloor, gasBase, gasPerDemand } = constants;
    const assay = await createIn(this.#evm, artifact, [
      ...[registry, judge, traceReader, executionAdapter, proofAdapter],
      ...[answerSeconds, gasPriceFloor, gasBase, gasPerDemand],
    ]);
    return new EvmWorld(this.#evm, { ...this.contracts, assay }, constants);
  }

  get game(): GameAddress {
    return { chainId: CHAIN_ID, assay: this.contracts.assay };
  }

  /** Puts another contract beside the system. @param args of its constructor */
  create(artifact: Artifact, args: readonly unknown[] = []): Promise<Address> {
    return createIn(this.#evm, artifact, args);
  }

  /** @returns its id, and what the registry said of it */
  async register(
    program: Program,
    identity: ModelIdentity,
  ): Promise<{ readonly modelId: ModelId; readonly events: readonly ChainEvent[] }> {
    const to = this.contracts.registry;
    const abi = iModelRegistryAbi;
    const chunks: Address[] = [];
    for (const chunk of chunksOf(encodeProgram(program))) {
      const data = encodeFunctionData({ abi, functionName: "storeChunk", args: [chunk] });
      const { returned } = await this.#run(ZERO_ADDRESS, { to, data }, 1);
      chunks.push(getAddress(`0x${returned.slice(-40)}`));
    }
    const { weightsRoot, selector, lanes, vkHash } = identity;
    const args = [chunks, toHex(weightsRoot), toHex(selector), lanes, toHex(vkHash)] as const;
    const data = encodeFunctionData({ abi, functionName: "register", args });
    const { returned, error, logs } = await this.#run(ZERO_ADDRESS, { to, data }, 1);
    if (error !== undefined) throw new Error(`register: ${decodeRevertData(returned).message}`);
    return { modelId: returned as ModelId, events: decodeEvents(logs) };
  }

  /** A transaction in a block of its own. @param now its second @param baseFee wei */
  async send(from: Address, call: Call, now: number, baseFee = BASE_FEE): Promise<Sent> {
    const { error, returned, logs } = await this.#run(from, call, now, baseFee);
    if (error !== undefined) return { refusal: decodeRevertData(returned).name, events: [], logs: [] };
    return { events: decodeEvents(logs), logs };
  }

  /** A view of Assay. @returns its answer, ABI-encoded */
  read(functionName: string, args: readonly unknown[], now: number): Promise<Hex> {
    const data = encodeFunctionData({ abi: iAssayAbi as Abi, functionName, args });
    return this.call({ to: this.contracts.assay, data }, now);
  }

  /** A view of any contract. @returns its answer, ABI-encoded */
  async call(call: Call, now: number): Promise<Hex> {
    const { error, returned } = await this.#run(ZERO_ADDRESS, call, now);
    if (error !== undefined) throw new Error(decodeRevertData(returned).message);
    return returned;
  }

  /** A word of Assay's storage: a hundredth of a view's time. */
  async stored(slot: Hex): Promise<bigint> {
    const { stateManager } = this.#evm;
    const word = await stateManager.getStorage(bytesOf(this.contracts.assay), fromHex(slot));
    return word.length === 0 ? 0n : BigInt(toHex(word));
  }

  async balance(address: Address): Promise<bigint> {
    return (await this.#evm.stateManager.getAccount(bytesOf(address)))?.balance ?? 0n;
  }

  /** Runs some work and restores the state that was before. */
  async undone<T>(work: () => Promise<T>): Promise<T> {
    const number = this.#number;
    await this.#evm.stateManager.checkpoint();
    try {
      return await work();
    } finally {
      await this.#evm.stateManager.revert();
      this.#number = number;
    }
  }

  async #run(from: Address, { to, data, value = 0n }: Call, now: number, baseFee = BASE_FEE) {
    this.#number += 1n;
    const caller = bytesOf(from);
    const { execResult } = await this.#evm.runCall({
      ...{ caller, origin: caller, to: bytesOf(to), data: fromHex(data), value, gasLimit: GAS },
      skipBalance: true,
      block: { header: headerOf(this.#number, now, baseFee) },
    });
    // A transaction's warm addresses and new contracts end with it.
    await this.#evm.journal.cleanup();
    const { exceptionError: error, returnValue, logs = [] } = execResult;
    const blockNumber = this.#number;
    const hash = numberToHex(blockNumber, { size: 32 });
    const mined = logs.map(([address, topics, content], logIndex) => ({
      address: getAddress(toHex(address)),
      topics: topics.map(toHex),
      data: toHex(content),
      ...{
        blockNumber,
        blockHash: hash,
        transactionHash: hash,
        logIndex,
        transactionIndex: 0,
        removed: false,
      },
    })) as unknown as Log<bigint, number, false>[];
    return { error, returned: toHex(returnValue), logs: mined };
  }
}

async function createIn(evm: EVM, { abi, bytecode }: Artifact, args: readonly unknown[]): Promise<Address> {
  const data = fromHex(encodeDeployData({ abi, bytecode, args }));
  const caller = bytesOf(`0x${"de".repeat(20)}`);
  const { createdAddress, execResult } = await evm.runCall({
    ...{ caller, origin: caller, data, gasLimit: GAS },
    block: { header: headerOf(1n, 1) },
  });
  await evm.journal.cleanup();
  if (createdAddress === undefined || execResult.exceptionError !== undefined) {
    throw new Error(`A contract could not be created: ${execResult.exceptionError?.error}.`);
  }
  return getAddress(createdAddress.toString());
}

const headerOf = (number: bigint, now: number, baseFee = BASE_FEE) => ({
  ...{ number, timestamp: BigInt(now), baseFeePerGas: baseFee, gasLimit: GAS, difficulty: 0n },
  ...{
    coinbase: bytesOf(ZERO_ADDRESS),
    prevRandao: new Uint8Array(32),
    cliqueSigner: () => bytesOf(ZERO_ADDRESS),
  },
  ...{ getBlobGasPrice: () => undefined },
});

const bytesOf = (address: Address): AddressBytes => createAddressFromString(address);
