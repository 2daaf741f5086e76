import { equalBytes } from "../../base/bytes.ts";
import type { CodecInput } from "../codecs/input.ts";
import { readsClaimed, type Tensor } from "../program/form.ts";
import { outputLength } from "../program/shape.ts";
import { findOutput, onePass } from "./find-output.ts";
import type { PreparedModel, SeeTensor } from "./prepared-model.ts";

/** The canonical executor: calldata → return data. Whatever the weights, it has one result.
 *  @throws BaseError as `decodeInput`, for calldata that no request can hold; OUTPUT_NOT_FOUND for a program that reads
 *  the claimed output and is not causal */
export function execute(prepared: PreparedModel, calldata: Uint8Array): Uint8Array {
  const input = prepared.decode(calldata);
  return readsClaimed(prepared.program) ? findOutput(prepared, input) : onePass(prepared, input);
}

/** What one pass shows of an output that somebody states. */
export interface OutputCheck {
  readonly isRight: boolean;
  /** The output. Absent: the program reads what is stated, which is wrong, and one pass does not find what is right. */
  readonly output?: Uint8Array;
}

/** Whether return data are the output of this calldata: one pass, of every program. Of a causal program that reads them
 *  they are if and only if the pass changes nothing. Source: docs/EXACT.md, section 5.
 *  @throws BaseError as `decodeInput` */
export function checkOutput(prepared: PreparedModel, calldata: Uint8Array, stated: Uint8Array): OutputCheck {
  const input = prepared.decode(calldata);
  if (!readsClaimed(prepared.program)) {
    const output = onePass(prepared, input);
    return { isRight: equalBytes(output, stated), output };
  }
  const isRight =
    stated.length === outputLength(prepared.program) && equalBytes(onePass(prepared, input, stated), stated);
  return isRight ? { isRight, output: stated } : { isRight };
}

/** Every step's tensor, in memory of its own. Parameters and errors: as `traceEach`. */
export function trace(
  prepared: PreparedModel,
  calldata: Uint8Array,
  claimed?: Uint8Array,
): readonly Tensor[] {
  return prepared.runApart(...runOf(prepared, calldata, claimed));
}

/** Every step's tensor, one after the other.
 *  @param claimed return data that a claim states: of a program that reads them, the run is that claim's. Absent: the
 *  output of `execute`
 *  @throws BaseError as `execute`; CLAIMED_OUTPUT_LENGTH */
export function traceEach(
  prepared: PreparedModel,
  calldata: Uint8Array,
  claimed: Uint8Array | undefined,
  see: SeeTensor,
): void {
  const [input, output] = runOf(prepared, calldata, claimed);
  prepared.pass(input, output, see);
}

function runOf(
  prepared: PreparedModel,
  calldata: Uint8Array,
  claimed?: Uint8Array,
): readonly [input: CodecInput, claimed?: Uint8Array] {
  const input = prepared.decode(calldata);
  return readsClaimed(prepared.program) ? [input, claimed ?? findOutput(prepared, input)] : [input];
}

/** Every step's tensor, from the content of the CODEC steps in step order. */
export function executeTensors(prepared: PreparedModel, inputs: readonly Tensor[]): Tensor[] {
  return prepared.runTensors(inputs).map(copy);
}

const copy = ({ type, dims, data }: Tensor): Tensor => ({ type, dims, data: data.slice() });
