/** The demo's agent: a contract that asks models and keeps only final outputs, and the account that owns it. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Address, createWalletClient, type Hex, http, type LocalAccount, parseEventLogs } from "viem";
import { toHex } from "../../base/bytes.ts";
import { selectorOf } from "../../inference/manifest/abi.ts";
import type { Readable } from "../../inference/meaning/form.ts";
import { readManifest } from "../../inference/model-folder.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import type { Artifact } from "../../protocol/chain/deploy/parts.ts";
import { encodeCall, type ModelFunction } from "../../protocol/rules/abi.ts";
import { toolAgentAbi } from "../../protocol/rules/generated/abis.ts";
import { LANE, type ModelId, type RequestId, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { modelFolder } from "../model-source.ts";
import { type ShownOutput, showOutput } from "../shown-output.ts";

export interface Question {
  readonly label: string;
  readonly requestId: RequestId;
}

export interface AskOptions {
  readonly label: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** who alone may claim at first, and for how many seconds */
  readonly prover: Address;
  readonly exclusiveSeconds: number;
}

const FEE = 10n ** 16n;
/** The contract stores the output: a new storage slot for each of its words, and what it keeps beside it. */
const GAS_PER_WORD = 25_000;
const GAS_BESIDE = 200_000;
/** wei for each unit of that gas; what is left goes to whoever delivers */
const DELIVERY_PRICE = 5n * 10n ** 9n;

/** A ToolAgent for one model. */
export class Agent {
  readonly #chain: Chain;
  readonly #owner: LocalAccount;
  readonly #rpcUrl: string;
  readonly #model: ModelFunction;
  readonly #readable: Readable;
  readonly #callbackGas: number;
  readonly address: Address;

  private constructor(
    chain: Chain,
    rpcUrl: string,
    owner: LocalAccount,
    model: ModelFunction,
    readable: Readable,
    address: Address,
  ) {
    this.#chain = chain;
    this.#rpcUrl = rpcUrl;
    this.#owner = owner;
    this.#model = model;
    this.#readable = readable;
    this.#callbackGas = GAS_BESIDE + GAS_PER_WORD * Math.ceil(readable.outputLength / 32);
    this.address = address;
  }

  /** Deploys the contract. Its policy: the bond lane, windows of 4T. */
  static async deploy(
    chain: Chain,
    rpcUrl: string,
    owner: LocalAccount,
    artifact: Artifact,
    modelName: string,
  ): Promise<Agent> {
    const manifest = readManifest(join(modelFolder(modelName), "manifest.json"));
    const called = manifest.abi.find((entry) => toHex(selectorOf(entry)) === manifest.assay.selector);
    if (called === undefined) throw new RangeError(`${modelName} has no function with its selector`);
    const model = { ...called, selector: toHex(selectorOf(called)) };
    const policy = {
      modelId: manifest.assay.modelId as ModelId,
      inputHash: `0x${"00".repeat(32)}`,
      lanes: LANE.BOND,
      minBond: 0n,
      minWindow: 4 * chain.constants.answerSeconds,
    } as const;
    const wallet = createWalletClient({ account: owner, transport: http(rpcUrl) });
    const hash = await wallet.deployContract({
      abi: toolAgentAbi,
      bytecode: artifact.bytecode,
      args: [chain.game.assay, owner.address, policy],
      chain: null,
    });
    const receipt = await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 100 });
    return new Agent(chain, rpcUrl, owner, model, manifest.assay, receipt.contractAddress as Address);
  }

  /** Sends a question and waits until it is on the chain. */
  async ask({ label, inputs, prover, exclusiveSeconds }: AskOptions): Promise<Question> {
    const wallet = createWalletClient({ account: this.#owner, transport: http(this.#rpcUrl) });
    const now = Number((await this.#chain.client.getBlock()).timestamp);
    const deliveryFee = DELIVERY_PRICE * BigInt(this.#callbackGas);
    const offer = {
      fee: FEE,
      deliveryFee,
      expiry: now + 3_600,
      callbackGas: this.#callbackGas,
      exclusiveProver: exclusiveSeconds === 0 ? ZERO_ADDRESS : prover,
      exclusiveUntil: exclusiveSeconds === 0 ? 0 : now + exclusiveSeconds,
      salt: randomBytes(8).readBigUInt64BE(),
    };
    const hash = await wallet.writeContract({
      address: this.address,
      abi: toolAgentAbi,
      functionName: "ask",
      args: [encodeCall(this.#model, inputs), offer],
      value: FEE + deliveryFee,
      chain: null,
    });
    const receipt = await this.#chain.client.waitForTransactionReceipt({ hash, pollingInterval: 100 });
    const [asked] = parseEventLogs({ abi: toolAgentAbi, logs: receipt.logs, eventName: "Asked" });
    if (asked === undefined) throw new RangeError(`the question ${label} was refused in ${hash}`);
    return { label, requestId: asked.args.requestId as RequestId };
  }

  /** What the contract has received as final; undefined before that. */
  async answerTo(requestId: RequestId): Promise<ShownOutput | undefined> {
    const { output, lane } = await this.#chain.client.readContract({
      address: this.address,
      abi: toolAgentAbi,
      functionName: "answerTo",
      args: [requestId],
    });
    return lane === 0
      ? undefined
      : showOutput({ function: this.#model, readable: this.#readable }, output as Hex);
  }
}
