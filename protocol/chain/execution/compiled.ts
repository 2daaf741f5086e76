/** Plans how a model's DOT steps become EVM code, and brings them onto the chain, part by part. Anybody may build any
 *  part, and what is there stays: a stopped run goes on where it was. */
import { type Address, encodeFunctionData, type Hex, zeroAddress } from "viem";
import { toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { type Commitment, commitWeights } from "../../../inference/commit/commitments.ts";
import { rangeSiblings } from "../../../inference/commit/range.ts";
import type { TensorTree } from "../../../inference/commit/tree.ts";
import {
  DOT_VARIANTS,
  isActivationDot,
  isPlanesDot,
  type Model,
  type Program,
  weightIndex,
} from "../../../inference/program/form.ts";
import { iLayerBuilderAbi } from "../../rules/generated/abis.ts";
import type { ModelId } from "../../rules/types.ts";
import type { Action } from "../actions.ts";
import type { Chain } from "../connect.ts";
import { withContext } from "../errors.ts";
import type { ActionSender } from "../sender.ts";
import { type Layer, layerOf } from "./layer.ts";
import { prepareModel } from "./prepare.ts";

/** One contract of compiled code and the transaction that builds it. */
export interface Part {
  readonly step: number;
  /** weight rows firstRow .. firstRow + rows - 1 */
  readonly firstRow: number;
  readonly rows: number;
  /** bytes of code, estimated */
  readonly codeBytes: number;
  /** of the whole transaction, estimated */
  readonly gas: bigint;
}

export interface CompilePlan {
  readonly parts: readonly Part[];
  /** DOT steps that stay interpreted, because they are in the binary32 form */
  readonly interpreted: readonly number[];
  /** of all transactions, estimated; the last one binds the parts */
  readonly gas: bigint;
}

/** Gas of the transaction that writes the directory: base, and for each part and step. Fitted, as all figures here,
 *  to the shipped models and the bench's MLP. */
const BIND_GAS = { base: 109_000, perPart: 10_500, perStep: 850 } as const;
/** Gas of a part: base, and for each byte of code, row, word of weights and product sum that it compiles. */
const BUILD_GAS = { base: 118_000, perByte: 200, perRow: 2_900, perWord: 780, perProduct: 560 } as const;

/** Plans all parts of a program. Costs are estimates for weights without zero words, within a tenth. */
export function planCompilation(program: Program): CompilePlan {
  const parts: Part[] = [];
  const interpreted: number[] = [];
  program.steps.forEach((step, index) => {
    if (step.opcode !== "dot" || isActivationDot(step) || isPlanesDot(step)) return;
    if (DOT_VARIANTS[step.variant] === "binary32") interpreted.push(index);
    else parts.push(...partsOf(layerOf(program, step), index));
  });
  const bind = BIND_GAS.base + BIND_GAS.perPart * parts.length + BIND_GAS.perStep * program.steps.length;
  const gas = parts.reduce((sum, part) => sum + part.gas, parts.length === 0 ? 0n : BigInt(bind));
  return { parts, interpreted, gas };
}

function partsOf(layer: Layer, step: number): Part[] {
  return Array.from({ length: Math.ceil(layer.rows / layer.partRows) }, (_, i) => {
    const firstRow = i * layer.partRows;
    const rows = Math.min(layer.partRows, layer.rows - firstRow);
    const codeBytes = layer.codeBytes(rows);
    const { base, perByte, perRow, perWord, perProduct } = BUILD_GAS;
    const ofRow = perRow + perWord * layer.rowWords + perProduct * layer.products;
    const gas = base + perByte * codeBytes + rows * ofRow;
    return { step, firstRow, rows, codeBytes, gas: BigInt(gas) };
  });
}

export interface CompileProgress {
  /** parts of the model, and how many of them are there */
  readonly parts: number;
  readonly built: number;
  readonly directory: Address | undefined;
}

/** @throws BaseError LANE_NOT_DEPLOYED; RPC_UNREACHABLE, RPC_FAULT (retryable) */
export async function compileProgress(
  chain: Chain,
  modelId: ModelId,
  program: Program,
): Promise<CompileProgress> {
  const { parts } = planCompilation(program);
  const missing = await missingParts(chain, modelId, parts);
  const directory = await boundDirectory(chain, modelId);
  return { parts: parts.length, built: parts.length - missing.length, directory };
}

export interface CompileResult {
  readonly directory: Address;
  /** contracts that this run built, and those that were there before */
  readonly built: number;
  readonly found: number;
  /** gas of this run's transactions */
  readonly gasUsed: bigint;
}

/** Builds every part that is not there, then binds them, and has the plan of a published model written, which names
 *  them. Harmless to repeat and to run twice at once.
 *  @param model registered under this id @param onProgress called before each transaction
 *  @throws BaseError NOTHING_TO_COMPILE, LANE_NOT_DEPLOYED, COMPILE_REFUSED with the builder's reason, and
 *  PREPARATION_REFUSED with the planner's;
 *  RPC_UNREACHABLE, RPC_FAULT, NOT_MINED_YET (retryable) */
export async function compileModel(
  chain: Chain,
  sender: ActionSender,
  modelId: ModelId,
  model: Model,
  onProgress: (message: string) => void = () => undefined,
): Promise<CompileResult> {
  const { parts } = planCompilation(model.program);
  if (parts.length === 0) throw nothingToCompile(modelId);
  const before = await boundDirectory(chain, modelId);
  if (before !== undefined) {
    const gasUsed = (await prepareModel(chain, sender, modelId, onProgress)) ?? 0n;
    return { directory: before, built: 0, found: parts.length, gasUsed };
  }
  const missing = await missingParts(chain, modelId, parts);
  const weights = commitWeights(model);
  let gasUsed = 0n;
  for (const [i, part] of missing.entries()) {
    const { step, firstRow, rows, gas } = part;
    const range = `rows ${firstRow} to ${firstRow + rows - 1} of step ${step}`;
    onProgress(`build ${range}, part ${i + 1} of ${missing.length}, some ${gas} gas`);
    gasUsed += await sent(sender, buildAction(chain, modelId, model.program, weights, part));
  }
  onProgress(`bind ${parts.length} parts`);
  gasUsed += await sent(sender, action(chain, `bind:${modelId}`, bindData(modelId)));
  const directory = await boundDirectory(chain, modelId);
  if (directory === undefined) throw refused(`bind:${modelId}`, "it is not bound afterwards");
  gasUsed += (await prepareModel(chain, sender, modelId, onProgress)) ?? 0n;
  return { directory, built: missing.length, found: parts.length - missing.length, gasUsed };
}

/** The transaction that builds one part. */
export function buildAction(
  chain: Chain,
  modelId: ModelId,
  program: Program,
  weights: Commitment,
  { step, firstRow, rows }: Part,
): Action {
  const index = weightIndex(program.steps[step]?.b as number);
  const tree = weights.tensors[index] as TensorTree;
  const words: Hex[] = [];
  for (let row = firstRow; row < firstRow + rows; row++) {
    for (let word = 0; word < tree.shape.words; word++) words.push(toHex(tree.word(row, word)));
  }
  const siblings = [...rangeSiblings(tree, firstRow, rows), ...weights.roots.siblings(0, index)];
  const data = encodeFunctionData({
    abi: iLayerBuilderAbi,
    functionName: "build",
    args: [modelId, BigInt(step), BigInt(firstRow), words, siblings.map(toHex)],
  });
  return action(chain, `compile:${modelId}:${step}:${firstRow}`, data);
}

const bindData = (modelId: ModelId): Hex =>
  encodeFunctionData({ abi: iLayerBuilderAbi, functionName: "bind", args: [modelId] });

async function missingParts(chain: Chain, modelId: ModelId, parts: readonly Part[]): Promise<Part[]> {
  const address = builderOf(chain);
  const found = await withContext(`look for parts of model ${modelId}`, () =>
    Promise.all(
      parts.map(({ step, firstRow }) =>
        chain.client.readContract({
          address,
          abi: iLayerBuilderAbi,
          functionName: "partOf",
          args: [modelId, BigInt(step), BigInt(firstRow)],
        }),
      ),
    ),
  );
  return parts.filter((_, i) => found[i] === zeroAddress);
}

/** Address of the model's directory, if it is bound. */
async function boundDirectory(chain: Chain, modelId: ModelId): Promise<Address | undefined> {
  return withContext(`look for the compiled code of model ${modelId}`, async () => {
    const directory = await chain.client.readContract({
      address: builderOf(chain),
      abi: iLayerBuilderAbi,
      functionName: "directoryOf",
      args: [modelId],
    });
    const code = await chain.client.getCode({ address: directory });
    return code === undefined || code === "0x" ? undefined : directory;
  });
}

/** @returns gas that this call spent */
async function sent(sender: ActionSender, wanted: Action): Promise<bigint> {
  const result = await sender.send(wanted);
  if (result.status === "retryable") throw result.error;
  if (result.status === "refused") throw refused(wanted.key, result.revert.message);
  return result.status === "sent" ? result.inclusion.gasUsed : 0n;
}

function action(chain: Chain, key: string, data: Hex): Action {
  return { key, to: builderOf(chain), data, value: 0n, doneBy: [] };
}

function builderOf(chain: Chain): Address {
  const builder = chain.deployment.contracts.layerBuilder;
  if (builder !== undefined) return builder;
  throw new BaseError({
    code: "LANE_NOT_DEPLOYED",
    shortMessage: `The deployment on chain ${chain.game.chainId} has no layer builder.`,
    nextStep: "Deploy again with `assay deploy`; until then the model is interpreted.",
  });
}

const nothingToCompile = (modelId: ModelId) =>
  new BaseError({
    code: "NOTHING_TO_COMPILE",
    shortMessage: `Model ${modelId} has no DOT step in integer form, so there is nothing to compile.`,
    nextStep: "Publish it with `assay model publish`: it is interpreted.",
  });

const refused = (key: string, why: string) =>
  new BaseError({
    code: "COMPILE_REFUSED",
    shortMessage: `The layer builder refused ${key}: ${why}.`,
    nextStep: "Check that the model is registered on this chain with `assay model register`.",
  });
