/** Decides between nodes that read one block's state differently: its header's hash fixes the state root, and proofs lead
 *  from there to each account and word. So one node that gives the proofs outvotes any number that make a state up. A
 *  call of a contract is executed here, over what is proven. */
import { createCustomCommon, Hardfork, Mainnet } from "@ethereumjs/common";
import { createEVM, EVMError, type EVMMockBlockchainInterface } from "@ethereumjs/evm";
import { type Address, createAddressFromString } from "@ethereumjs/util";
import { type Hex, numberToHex, pad, type RpcBlock } from "viem";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { encodeHeader, HEADER_FIELDS, readHeader } from "../../rules/receipt/header.ts";
import { listOf } from "../../rules/receipt/trie.ts";
import type { Group } from "./agree.ts";
import type { Nodes, RpcCall } from "./nodes.ts";
import { ProvenState } from "./proven-state.ts";

/** What a proof shows: what is read, or with which data the call reverts. */
export type ProvenRead = { readonly value: unknown } | { readonly revert: Hex };

/** Whether an answer that nodes gave is what was proven. */
export type IsSame = (answer: unknown, proven: ProvenRead) => boolean;

/** A view of ours takes some ten thousands; whoever needs more is not decided by proofs. */
const MOST_GAS = 10_000_000n;

interface EthCall {
  readonly to?: Hex;
  readonly from?: Hex;
  readonly data?: Hex;
  readonly input?: Hex;
  readonly value?: Hex;
}

/** What a block's state says by itself. */
type Read = (state: ProvenState, address: Address, slot: Hex) => Promise<Hex>;
const READS: Readonly<Record<string, Read>> = {
  eth_getBalance: async (state, address) => numberToHex((await state.getAccount(address))?.balance ?? 0n),
  eth_getTransactionCount: async (state, address) =>
    numberToHex((await state.getAccount(address))?.nonce ?? 0n),
  eth_getCode: async (state, address) => toHex(await state.getCode(address)),
  eth_getStorageAt: async (state, address, slot) =>
    pad(toHex(await state.getStorage(address, fromHex(pad(slot))))),
};

export class StateProver {
  readonly #nodes: Nodes;
  readonly #chainId: () => Promise<number>;
  readonly #signal: AbortSignal;
  /** nodes that have not proven, and not refused to */
  readonly #asked = new Set<number>();

  /** @param chainId on which enough nodes agree @param signal aborts when nobody waits for a decision any more */
  constructor(nodes: Nodes, chainId: () => Promise<number>, signal: AbortSignal) {
    this.#nodes = nodes;
    this.#chainId = chainId;
    this.#signal = signal;
  }

  /** @param call at a block's hash @param groups what nodes say
   *  @returns what a node says and proofs show; undefined where no node proves anything that some node says */
  async decide(call: RpcCall, groups: readonly Group<unknown>[], isSame: IsSame): Promise<unknown> {
    const params = call.params as readonly unknown[];
    const blockHash = (params.at(-1) as { blockHash: Hex }).blockHash;
    const show = async (node: number) => {
      this.#asked.add(node);
      const proven = await this.#provenBy(node, call.method, params, blockHash).finally(() =>
        this.#asked.delete(node),
      );
      const shown = groups.find(({ value }) => isSame(value, proven));
      if (shown === undefined) throw new RangeError("what is proven, no node says");
      return shown;
    };
    // All at once: one that takes its time keeps no other from proving what it says.
    const nodes = groups.flatMap((group) => group.nodes);
    const proofs = nodes.map(show);
    const awaited = proofs.filter((_, index) => this.#nodes.isProving(nodes[index] as number));
    const firstOf = (some: typeof proofs) => Promise.any(some).catch(() => undefined);
    const right = await Promise.race([firstOf(proofs), firstOf(awaited)]);
    if (right === undefined) return undefined;
    for (const { nodes } of groups.filter((group) => group !== right))
      for (const liar of nodes) this.#nodes.blame(liar, "contradicts");
    return right.value;
  }

  /** The time is over: notes the nodes whose proofs are still on their way. */
  noteLate(): void {
    for (const node of this.#asked) this.#nodes.noteUnproven(node);
  }

  /** @throws where the node does not serve proofs, or what it gives proves nothing */
  async #provenBy(node: number, method: string, params: readonly unknown[], hash: Hex): Promise<ProvenRead> {
    const ask = async (asked: string, ...given: readonly unknown[]) => {
      this.#signal.throwIfAborted();
      return this.#nodes.askOne(node, { method: asked, params: given });
    };
    const block = (await ask("eth_getBlockByHash", hash, false)) as RpcBlock;
    const rlp = encodeHeader(block);
    const header = readHeader(rlp);
    if (header.hash !== hash) throw new RangeError(`the header has hash ${header.hash}, not ${hash}`);
    // More nodes know blocks by their numbers; another block's state does not lead to this root.
    const number = numberToHex(header.number);
    const state = new ProvenState(header.stateRoot, {
      async proof(address, slot) {
        const proof = (await ask("eth_getProof", address, [slot], number)) as RpcProof;
        return [...proof.accountProof, ...proof.storageProof.flatMap((word) => word.proof)];
      },
      code: async (address) => (await ask("eth_getCode", address, number)) as Hex,
    });
    if (method === "eth_call") return this.#callOver(state, params[0] as EthCall, rlp);
    const [address, slot] = params as readonly [Hex, Hex];
    return { value: await (READS[method] as Read)(state, createAddressFromString(address), slot) };
  }

  async #callOver(state: ProvenState, call: EthCall, header: Hex): Promise<ProvenRead> {
    if (call.to === undefined) throw new RangeError("a creation is not decided by proofs");
    const common = createCustomCommon({ chainId: await this.#chainId() }, Mainnet, {
      hardfork: Hardfork.Prague,
    });
    const evm = await createEVM({ common, stateManager: state, blockchain: UNKNOWN_BLOCKS });
    let halted: string | undefined;
    evm.events.on("afterMessage", ({ execResult: { exceptionError } }) => {
      if (exceptionError !== undefined && MAY_DIFFER.has(exceptionError.error)) halted = exceptionError.error;
    });
    const from = createAddressFromString(call.from ?? NOBODY);
    const { execResult } = await evm.runCall({
      ...{ caller: from, origin: from, to: createAddressFromString(call.to) },
      data: fromHex(call.data ?? call.input ?? "0x"),
      ...{ value: BigInt(call.value ?? 0), skipBalance: true, gasLimit: MOST_GAS, gasPrice: 0n },
      block: { header: environmentOf(header) },
    });
    if (halted !== undefined) throw new RangeError(`a call within the call ends with ${halted}`);
    const { exceptionError: fault, returnValue } = execResult;
    if (fault === undefined) return { value: toHex(returnValue) };
    // Whatever else ends a call, out of gas above all, may end otherwise on a node.
    if (fault.error !== EVMError.errorMessages.REVERT)
      throw new RangeError(`the call ends with ${fault.error}`);
    return { revert: toHex(returnValue) };
  }
}

/** What ends a call here and may not on a node, which gives it more gas and knows the opcodes of later rules: whoever
 *  made the call may go on with another answer. */
const MAY_DIFFER: ReadonlySet<string> = new Set([
  EVMError.errorMessages.OUT_OF_GAS,
  EVMError.errorMessages.CODESTORE_OUT_OF_GAS,
  EVMError.errorMessages.INVALID_OPCODE,
]);

/** Hashes of earlier blocks are not proven. */
const UNKNOWN_BLOCKS: EVMMockBlockchainInterface = {
  getBlock: (): Promise<never> => Promise.reject(new RangeError("an earlier block is not proven")),
  putBlock: async () => {},
  shallowCopy: () => UNKNOWN_BLOCKS,
};

const NOBODY: Hex = `0x${"00".repeat(20)}`;

/** What a contract can ask of its block: by the places in the header, which its hash fixes. What a node calls them by,
 *  and how it writes numbers, is its word alone. */
function environmentOf(rlp: Hex) {
  const fields = listOf(rlp, "the header");
  const bytes = (name: (typeof HEADER_FIELDS)[number]): Hex =>
    (fields[HEADER_FIELDS.indexOf(name)] ?? "0x") as Hex;
  const number = (name: (typeof HEADER_FIELDS)[number]): bigint => BigInt(bytes(name).padEnd(3, "0"));
  return {
    number: number("number"),
    coinbase: createAddressFromString(bytes("miner")),
    ...{
      timestamp: number("timestamp"),
      difficulty: number("difficulty"),
      prevRandao: fromHex(bytes("mixHash")),
    },
    ...{ gasLimit: number("gasLimit"), baseFeePerGas: number("baseFeePerGas") },
    getBlobGasPrice: () => undefined,
  };
}

interface RpcProof {
  readonly accountProof: readonly Hex[];
  readonly storageProof: readonly { readonly proof: readonly Hex[] }[];
}
