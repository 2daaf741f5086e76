/** Faults of chain and RPC as errors, reverts as values with the contracts' names. */
import {
  decodeErrorResult,
  type Hex,
  HttpRequestError,
  InsufficientFundsError,
  isHex,
  RpcRequestError,
  TimeoutError,
  BaseError as ViemError,
} from "viem";
import { BaseError, isBaseError } from "../../base/errors.ts";
import { storageFault } from "../../base/storage-fault.ts";
import {
  dailySeriesAbi,
  forecastFeedAbi,
  iAssayAbi,
  iCallbackAgentAbi,
  iExecutionLaneAbi,
  iFastInterpreterAbi,
  iInterpreterAbi,
  iJudgeAbi,
  iLayerBuilderAbi,
  iModelRegistryAbi,
  iPlannerAbi,
  iPromiseReaderAbi,
  iPromisesAbi,
  iRedundantResultsAbi,
  iTraceReaderAbi,
  iWeightStoreAbi,
} from "../rules/generated/abis.ts";

const errorAbi = [
  ...iAssayAbi,
  ...iModelRegistryAbi,
  ...iTraceReaderAbi,
  ...iJudgeAbi,
  ...iLayerBuilderAbi,
  ...iWeightStoreAbi,
  ...iFastInterpreterAbi,
  ...iInterpreterAbi,
  ...iExecutionLaneAbi,
  ...iCallbackAgentAbi,
  ...iPlannerAbi,
  ...iPromiseReaderAbi,
  ...iPromisesAbi,
  ...iRedundantResultsAbi,
  ...dailySeriesAbi,
  ...forecastFeedAbi,
].filter((item) => item.type === "error");

/** Why a contract refused a call. */
export interface Revert {
  /** name of the custom error; "Error" and "Panic" for Solidity's own, "OutOfGas" for a transaction that used its whole
   *  limit, "UnknownRevert" for anything else */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** `name(arg: value, …)` */
  readonly message: string;
}

/** @param data revert data */
export function decodeRevertData(data: Hex): Revert {
  try {
    const { errorName, args = [], abiItem } = decodeErrorResult({ abi: errorAbi, data });
    const names = "inputs" in abiItem ? abiItem.inputs.map(({ name }, index) => name || String(index)) : [];
    const named = Object.fromEntries(names.map((name, index) => [name, (args as readonly unknown[])[index]]));
    const text = Object.entries(named).map(([name, value]) => `${name}: ${String(value)}`);
    return { name: errorName, args: named, message: `${errorName}(${text.join(", ")})` };
  } catch {
    return { name: "UnknownRevert", args: { data }, message: `UnknownRevert(${shortened(data)})` };
  }
}

/** A stranger's contract may revert with a megabyte, which no log is for. */
const MAX_SHOWN_CHARACTERS = 256;
const shortened = (data: Hex): string =>
  data.length <= MAX_SHOWN_CHARACTERS
    ? data
    : `${data.slice(0, MAX_SHOWN_CHARACTERS)}…, ${(data.length - 2) / 2} bytes`;

/** @param gas limit of the transaction */
export const outOfGas = (gas: bigint): Revert => ({
  name: "OutOfGas",
  args: { gas },
  message: `OutOfGas(gas: ${gas})`,
});

/** The revert behind an error of viem, or undefined if the error is no revert. */
export function decodeRevert(error: unknown): Revert | undefined {
  for (const link of causes(error)) {
    const data = revertData(link);
    if (data !== undefined) return decodeRevertData(data);
  }
  for (const link of causes(error)) {
    // Code 3 and this message: a revert without data.
    if (link instanceof Error && /execution reverted|^revert/i.test(link.message))
      return decodeRevertData("0x");
    if (link instanceof RpcRequestError && REVERTED.test(String(link.data))) return decodeRevertData("0x");
  }
  return undefined;
}

/** Wraps an error of viem once, where the context is known. Faults of network, node and disk are retryable.
 *  @param context what was tried: "read the claim" */
export function chainError(error: unknown, context: string): BaseError {
  if (error instanceof BaseError) return error;
  const fault = storageFault(error);
  if (fault !== undefined) return fault;
  const links = [...causes(error)];
  // Viem wraps what the quorum of nodes says as it wraps a node's fault.
  const own = links.find((link) => isBaseError(link));
  if (own !== undefined) return own;
  const first = links.find((link) => link instanceof ViemError);
  const why = first?.shortMessage ?? (error instanceof Error ? error.message : String(error));
  const revert = decodeRevert(error);
  if (revert !== undefined) {
    return new BaseError({
      code: "CALL_REVERTED",
      shortMessage: `Could not ${context}: the contract refused with ${revert.message}.`,
      details: { revert: revert.name },
      cause: error,
    });
  }
  if (links.some((link) => link instanceof InsufficientFundsError)) {
    return new BaseError({
      code: "INSUFFICIENT_FUNDS",
      shortMessage: `Could not ${context}: the account has too little ether for value and gas.`,
      nextStep: "Send ether to the account, or withdraw its credit with `assay withdraw`.",
      retryable: true,
      cause: error,
    });
  }
  const unreachable = links.find((link) => link instanceof HttpRequestError || link instanceof TimeoutError);
  return new BaseError({
    code: unreachable === undefined ? "RPC_FAULT" : "RPC_UNREACHABLE",
    shortMessage: `Could not ${context}${hostOf(unreachable)}: ${why}`,
    nextStep: unreachable
      ? "Check that a node runs at the RPC URL (--rpc-url, ASSAY_RPC_URL)."
      : "Try again; if it stays, read the node's log.",
    retryable: true,
    cause: error,
  });
}

/** Where a request went, without its path, query and user: providers put keys there. */
function hostOf(failed: unknown): string {
  const { url } = (failed ?? {}) as { url?: unknown };
  return typeof url === "string" && URL.canParse(url) ? ` at ${new URL(url).origin}` : "";
}

/** Runs a call and wraps what it throws.
 *  @throws BaseError */
export async function withContext<T>(context: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw chainError(error, context);
  }
}

function* causes(error: unknown): Generator<unknown> {
  for (let link = error; link !== undefined && link !== null; link = (link as { cause?: unknown }).cause) {
    yield link;
  }
}

/** As Nethermind wrote it until 2025: its code and its message say only that the call failed. */
const REVERTED = /^revert(ed)?\b/i;

/** Nodes put revert data into `data` of the RPC error, as hex, behind a word, or one level deeper; wallets wrap that
 *  error once more. */
function revertData(link: unknown): Hex | undefined {
  if (!(link instanceof RpcRequestError || isProviderError(link))) return undefined;
  let found: unknown = link.data;
  for (let depth = 0; depth < MOST_WRAPPED && typeof found === "object" && found !== null; depth++) {
    const { originalError, data: inner } = found as { originalError?: unknown; data?: unknown };
    found = originalError ?? inner;
  }
  const data = typeof found === "string" ? found.replace(/^Reverted /i, "") : found;
  return isHex(data) && data.length >= 10 ? data : undefined;
}

const MOST_WRAPPED = 3;

/** What a wallet's provider throws (EIP-1193). */
const isProviderError = (link: unknown): link is { readonly code: number; readonly data: unknown } =>
  typeof link === "object" &&
  link !== null &&
  typeof (link as { code?: unknown }).code === "number" &&
  "data" in link;
