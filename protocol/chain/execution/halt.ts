/** Whoever finds that the chain computes something else than the judge stops it: `haltExecution` and `haltOutput` for the
 *  plain interpreter, `haltFast` for plans and compiled layers. */
import { encodeFunctionData, type Hex } from "viem";
import { toHex } from "../../../base/bytes.ts";
import { execute, trace } from "../../../inference/executor/execute.ts";
import type { PreparedModel } from "../../../inference/executor/prepared-model.ts";
import { elementBytes, elementCount, type Program, type Step } from "../../../inference/program/form.ts";
import { storedBytes } from "../../../inference/program/tensor.ts";
import { iFastInterpreterAbi, iInterpreterAbi } from "../../rules/generated/abis.ts";
import type { ModelId } from "../../rules/types.ts";
import type { Action } from "../actions.ts";
import type { Chain } from "../connect.ts";
import { contractOf, inferFastOnChain, inferOnChain, tensorOnChain } from "./infer.ts";

/** What a comparison with the executor found. `output`: every tensor is right and the return data is not, from this
 *  element on. */
export type Difference =
  | { readonly kind: "none" }
  | { readonly kind: "element"; readonly step: number; readonly element: number }
  | { readonly kind: "output"; readonly element: number }
  | { readonly kind: "fast" };

/** Runs an input on the chain, plainly and fast, and here, and finds the first difference.
 *  @param calldata canonical calldata of the model
 *  @throws BaseError as `inferOnChain`; CALLDATA_INVALID from the executor */
export async function findDifference(
  chain: Chain,
  modelId: ModelId,
  prepared: PreparedModel,
  calldata: Uint8Array,
): Promise<Difference> {
  const input = toHex(calldata);
  const right = toHex(execute(prepared, calldata));
  const plain = await inferOnChain(chain, modelId, input);
  if (plain !== right) {
    const element = outputElement(prepared.program, plain, right);
    return (await firstElement(chain, modelId, prepared, calldata)) ?? { kind: "output", element };
  }
  const fast = await inferFastOnChain(chain, modelId, input);
  return { kind: fast === right ? "none" : "fast" };
}

async function firstElement(
  chain: Chain,
  modelId: ModelId,
  prepared: PreparedModel,
  calldata: Uint8Array,
): Promise<Difference | undefined> {
  for (const [step, { type, data }] of trace(prepared, calldata).entries()) {
    const right = toHex(storedBytes(data));
    const found = await tensorOnChain(chain, modelId, toHex(calldata), step);
    if (found === right) continue;
    // A codec step's tensor is compared whole.
    if (prepared.program.steps[step]?.opcode === "codec") return { kind: "element", step, element: 0 };
    const digits = 2 * elementBytes(type);
    let element = 0;
    while (sliceOf(found, element, digits) === sliceOf(right, element, digits)) element++;
    return { kind: "element", step, element };
  }
  return undefined;
}

/** The first element in which return data differ; 0 where it is their form. */
function outputElement({ outputCodec, steps }: Program, found: Hex, right: Hex): number {
  const { type, dims } = steps.at(-1) as Step;
  const size = { words: 32, int16s: 2, raw: elementBytes(type) }[outputCodec];
  const start = outputCodec === "words" ? 0 : 64;
  let at = 0;
  while (sliceOf(found, at, 2) === sliceOf(right, at, 2)) at++;
  const element = Math.floor((at - start) / size);
  return element >= 0 && element < elementCount(dims) ? element : 0;
}

const sliceOf = (bytes: Hex, element: number, digits: number): string =>
  bytes.slice(2 + element * digits, 2 + (element + 1) * digits);

/** The transaction that halts what differs; undefined where there is nothing to halt. */
export function haltAction(
  chain: Chain,
  modelId: ModelId,
  input: Hex,
  difference: Difference,
): Action | undefined {
  const common = { key: `halt:${difference.kind}:${modelId}`, value: 0n };
  if (difference.kind === "element") {
    const args = [modelId, input, BigInt(difference.step), BigInt(difference.element)] as const;
    const data = encodeFunctionData({ abi: iInterpreterAbi, functionName: "haltExecution", args });
    return { ...common, to: contractOf(chain, "interpreter"), data, doneBy: ["ModelHalted"] };
  }
  if (difference.kind === "output") {
    const args = [modelId, input, BigInt(difference.element)] as const;
    const data = encodeFunctionData({ abi: iInterpreterAbi, functionName: "haltOutput", args });
    return { ...common, to: contractOf(chain, "interpreter"), data, doneBy: ["ModelHalted"] };
  }
  if (difference.kind !== "fast") return undefined;
  const args = [modelId, input] as const;
  const data = encodeFunctionData({ abi: iFastInterpreterAbi, functionName: "haltFast", args });
  return { ...common, to: contractOf(chain, "fastInterpreter"), data, doneBy: ["FastModelHalted"] };
}
