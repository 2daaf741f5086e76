/** The precompile behind which the language model stands: what it costs, what it takes, how it fails. */
import type { PrecompileInput } from "@ethereumjs/evm";
import { EVMError, type ExecResult } from "@ethereumjs/evm";
import { encodeErrorResult } from "viem";
import { fromHex } from "../../base/bytes.ts";
import { embeddedExecutorAbi } from "../../protocol/rules/generated/abis.ts";
import type { Answer } from "./tape.ts";

/** Far from the precompiles that Ethereum has or plans. */
export const PRECOMPILE = "0x00000000000000000000000000000000000a9e27";

/** Most bytes of a question and of an answer. */
export const MAX_QUESTION_BYTES = 131_072;
export const MAX_ANSWER_BYTES = 16_384;

/** Gas of a question, whatever its length: what a state-changing call with some storage costs, so that asking a model
 *  is never the cheap part of a transaction. */
const BASE_GAS = 100_000n;
/** Gas of a byte, in and out: what a byte of calldata costs (EIP-2028). */
const BYTE_GAS = 16n;

/** Gas of a question and its answer, bytes. */
export const modelGas = (questionBytes: number, answerBytes: number): bigint =>
  BASE_GAS + BYTE_GAS * BigInt(questionBytes + answerBytes);

/** Runs the precompile. It asks only if the gas would pay for the longest answer, so that nobody has a model asked
 *  for nothing, and charges for the answer that came.
 *  @param answer gives the recorded answer, or records one */
export async function runPrecompile(
  { data, gasLimit }: Pick<PrecompileInput, "data" | "gasLimit">,
  answer: (question: Uint8Array) => Promise<Answer>,
): Promise<ExecResult> {
  if (data.length > MAX_QUESTION_BYTES) {
    const why = failure("QuestionTooLong", [BigInt(data.length), BigInt(MAX_QUESTION_BYTES)]);
    const gas = modelGas(0, why.length);
    return gasLimit < gas ? outOfGas(gasLimit) : resultOf({ ok: false, data: why }, gas);
  }
  if (gasLimit < modelGas(data.length, MAX_ANSWER_BYTES)) return outOfGas(gasLimit);
  const given = await answer(data);
  return resultOf(given, modelGas(data.length, given.data.length));
}

type Failure = "InferenceFailed" | "QuestionTooLong" | "AnswerTooLong" | "QuestionMalformed";

/** Data of one of the errors that `EmbeddedExecutor` declares. */
export function failure(errorName: Failure, args: readonly (string | bigint)[]): Uint8Array {
  return fromHex(encodeErrorResult({ abi: embeddedExecutorAbi, errorName, args } as never));
}

function resultOf({ ok, data }: Answer, executionGasUsed: bigint): ExecResult {
  const result = { executionGasUsed, returnValue: data };
  return ok ? result : { ...result, exceptionError: new EVMError(EVMError.errorMessages.REVERT) };
}

const outOfGas = (gasLimit: bigint): ExecResult => ({
  executionGasUsed: gasLimit,
  returnValue: new Uint8Array(0),
  exceptionError: new EVMError(EVMError.errorMessages.OUT_OF_GAS),
});
