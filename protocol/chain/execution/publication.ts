/** Publishes a model's weights, so that the chain can run it: chunks as data contracts, then their rows folded to the
 *  weights root. Anybody may, anybody may go on where another stopped, and repeating it is harmless. */
import { type Address, encodeFunctionData, type Hex, keccak256 } from "viem";
import { concatBytes, toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import type { Model } from "../../../inference/program/form.ts";
import { weightShape } from "../../../inference/program/shape.ts";
import { iWeightStoreAbi } from "../../rules/generated/abis.ts";
import type { ModelId } from "../../rules/types.ts";
import type { Action } from "../actions.ts";
import type { Chain } from "../connect.ts";
import { withContext } from "../errors.ts";
import type { ActionSender, OnProgress } from "../sender.ts";
import { isPlanned } from "./cost.ts";
import { contractOf } from "./infer.ts";
import { prepareModel } from "./prepare.ts";

/** Bytes of a chunk but the last. Source: docs/PROTOCOL.md, section 1. */
export const CHUNK_BYTES = 24_544;
/** What one call folds at most; the directory's creation still fits into a transaction beside it. */
const FOLD_GAS = 10_000_000;
/** Measured: a weight tensor, and its descriptor's part of every call; a row's copy and path, and each of its words; a
 *  byte of a chunk, calldata included; a step's part of the plan. */
const GAS = {
  tensor: 4_000,
  descriptor: 1_500,
  row: 1_000,
  word: 260,
  byte: 225,
  transaction: 60_000,
  directory: 5_400,
  planStep: 17_000,
} as const;

export interface PublicationPlan {
  /** The stream of all weight rows, in chunks. */
  readonly chunks: readonly Uint8Array[];
  /** Rows of each weight tensor and gas to fold one. */
  readonly tensors: readonly { readonly rows: number; readonly rowGas: number }[];
  /** Estimates of all transactions: how many, and their gas. */
  readonly transactions: number;
  readonly gas: number;
}

export function planPublication(model: Model): PublicationPlan {
  const stream = concatBytes(...model.weights);
  const count = Math.ceil(stream.length / CHUNK_BYTES);
  const chunks = Array.from({ length: count }, (_, i) =>
    stream.subarray(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES),
  );
  const tensors = model.program.weights.map((weight) => {
    const { rows, words } = weightShape(weight);
    return { rows, rowGas: GAS.row + GAS.word * words };
  });
  const folding = tensors.reduce(
    (sum, { rows, rowGas }) => sum + GAS.tensor + GAS.descriptor + rows * rowGas,
    0,
  );
  const transactions = chunks.length + Math.max(1, Math.ceil(folding / FOLD_GAS));
  const gas =
    GAS.byte * stream.length + folding + GAS.transaction * transactions + GAS.directory * (count + 2);
  const isPrepared = isPlanned(model.program);
  const preparing = isPrepared ? GAS.transaction + GAS.planStep * model.program.steps.length : 0;
  return { chunks, tensors, transactions: transactions + (isPrepared ? 1 : 0), gas: gas + preparing };
}

/** Rows from a place on that one call may fold. */
export function rowsOfCall({ tensors }: PublicationPlan, tensor: number, row: number): number {
  let rows = 0;
  let gas: number = GAS.descriptor * tensors.length;
  for (const [index, { rows: all, rowGas }] of tensors.entries()) {
    if (index < tensor) continue;
    const left = index === tensor ? all - row : all;
    gas += GAS.tensor;
    const fit = Math.max(0, Math.min(left, Math.floor((FOLD_GAS - gas) / rowGas)));
    rows += fit;
    gas += fit * rowGas;
    if (fit < left) break;
  }
  return Math.max(1, rows);
}

export interface PublicationResult {
  /** false if the weights were published before */
  readonly isNew: boolean;
  readonly transactions: number;
  /** of the transactions that this call sent */
  readonly gasUsed: bigint;
}

/** Publishes the weights, then prepares the model, if a plan can run it.
 *  @param onProgress called before each transaction
 *  @throws BaseError PUBLICATION_REFUSED with the contract's reason; RPC_UNREACHABLE, RPC_FAULT, NOT_MINED_YET
 *  (retryable): repeat it, it goes on where it stopped */
export async function publishWeights(
  chain: Chain,
  sender: ActionSender,
  modelId: ModelId,
  plan: PublicationPlan,
  onProgress: OnProgress = () => undefined,
): Promise<PublicationResult> {
  const store = contractOf(chain, "weightStore");
  const spent = new Spending(chain, sender);
  const isPublished = () =>
    withContext(`ask whether the weights of ${modelId} are published`, () =>
      chain.client.readContract({
        address: store,
        abi: iWeightStoreAbi,
        functionName: "isPublished",
        args: [modelId],
      }),
    );
  const isNew = !(await isPublished());
  if (isNew) {
    const pointers = await storeChunks(chain, store, plan, spent, onProgress);
    while (!(await isPublished())) await foldRows(chain, store, modelId, plan, pointers, spent, onProgress);
  }
  spent.add(
    await prepareModel(chain, sender, modelId, (message) =>
      onProgress(message, plan.transactions - 1, plan.transactions),
    ),
  );
  return { isNew, transactions: spent.transactions, gasUsed: spent.gasUsed };
}

/** @returns the chunks' contracts */
async function storeChunks(
  chain: Chain,
  store: Address,
  plan: PublicationPlan,
  spent: Spending,
  onProgress: OnProgress,
): Promise<Address[]> {
  const pointers: Address[] = [];
  for (const [index, bytes] of plan.chunks.entries()) {
    const chunk = toHex(bytes);
    const [pointer, stored] = await withContext("look for a chunk of the weights", () =>
      chain.client.readContract({
        address: store,
        abi: iWeightStoreAbi,
        functionName: "chunkOf",
        args: [chunk],
      }),
    );
    pointers.push(pointer);
    if (stored) continue;
    onProgress(
      `store chunk ${index + 1} of ${plan.chunks.length}, ${bytes.length} bytes`,
      index,
      plan.transactions,
    );
    const data = encodeFunctionData({ abi: iWeightStoreAbi, functionName: "storeChunk", args: [chunk] });
    await spent.send({ ...action(store, data), key: `storeWeights:${keccak256(chunk)}` });
  }
  return pointers;
}

/** One call's rows, from where the list of chunks stands. */
async function foldRows(
  chain: Chain,
  store: Address,
  modelId: ModelId,
  plan: PublicationPlan,
  pointers: readonly Address[],
  spent: Spending,
  onProgress: OnProgress,
): Promise<void> {
  const [tensor, row] = (
    await withContext("read how far the weights are folded", () =>
      chain.client.readContract({
        address: store,
        abi: iWeightStoreAbi,
        functionName: "progressOf",
        args: [modelId, pointers],
      }),
    )
  ).map(Number) as [number, number];
  const total = plan.tensors.reduce((sum, { rows }) => sum + rows, 0);
  const done = plan.tensors.slice(0, tensor).reduce((sum, { rows }) => sum + rows, row);
  const rows = rowsOfCall(plan, tensor, row);
  const folds = plan.transactions - plan.chunks.length;
  onProgress(
    `fold rows ${done + 1} to ${Math.min(total, done + rows)} of ${total}`,
    plan.chunks.length + Math.floor((folds * done) / total),
    plan.transactions,
  );
  const args = [modelId, pointers, BigInt(rows)] as const;
  const data = encodeFunctionData({ abi: iWeightStoreAbi, functionName: "publish", args });
  await spent.send({ ...action(store, data), key: `publish:${modelId}:${tensor}:${row}` });
}

const action = (to: Address, data: Hex): Omit<Action, "key"> => ({ to, data, value: 0n, doneBy: [] });

/** Sends one transaction after another and adds up what they cost. */
class Spending {
  transactions = 0;
  gasUsed = 0n;

  constructor(
    private readonly chain: Chain,
    private readonly sender: ActionSender,
  ) {}

  /** @param gas of a transaction, undefined if there was none */
  add(gas: bigint | undefined): void {
    if (gas === undefined) return;
    this.transactions++;
    this.gasUsed += gas;
  }

  async send(wanted: Action): Promise<void> {
    const result = await this.sender.send(wanted);
    if (result.status === "retryable") throw result.error;
    if (result.status === "refused") {
      throw new BaseError({
        code: "PUBLICATION_REFUSED",
        shortMessage: `The chain refused ${wanted.key}: ${result.revert.message}.`,
        nextStep: "Check that the folder's weights are the registered model's with `assay model inspect`.",
        details: { revert: result.revert.name },
      });
    }
    const hash = result.inclusion?.hash;
    if (result.status !== "sent" || hash === undefined) return;
    const { gasUsed } = await withContext("read a receipt", () =>
      this.chain.client.getTransactionReceipt({ hash }),
    );
    this.add(gasUsed);
  }
}
