import { encodeOutput } from "../codecs/output.ts";
import type { Tensor } from "../program/form.ts";
import type { PreparedModel } from "./prepare.ts";

/** The canonical executor: calldata → return data. Whatever the weights, it has one result.
 *  @throws BaseError as `decodeInput`, for calldata that no request can hold */
export function execute(prepared: PreparedModel, calldata: Uint8Array): Uint8Array {
  const tensors = prepared.run(prepared.decode(calldata));
  return encodeOutput(prepared.program, tensors[tensors.length - 1] as Tensor);
}

/** Every step's tensor, in memory of its own. */
export function trace(prepared: PreparedModel, calldata: Uint8Array): Tensor[] {
  return prepared.run(prepared.decode(calldata)).map(copy);
}

/** Every step's tensor, from the content of the CODEC steps in step order. */
export function executeTensors(prepared: PreparedModel, inputs: readonly Tensor[]): Tensor[] {
  return prepared.runTensors(inputs).map(copy);
}

const copy = ({ type, dims, data }: Tensor): Tensor => ({ type, dims, data: data.slice() });
