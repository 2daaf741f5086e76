import { viewOf } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Program, Step, TensorData } from "../program/form.ts";
import { outputLength } from "../program/shape.ts";
import { outputPlaces } from "./output.ts";
import { rawTensor } from "./raw.ts";

/** Writes the content of a CODEC step of variant claimed: what stands in the places of the elements. Whatever else the
 *  bytes hold does not count, so that all bytes of the right length have one tensor. Source: docs/EXACT.md, section 5.
 *  @param output return data, as they are claimed
 *  @throws BaseError CLAIMED_OUTPUT_LENGTH for bytes that no claim on this model can state */
export function fillClaimedTensor(program: Program, step: Step, output: Uint8Array, out: TensorData): void {
  const length = outputLength(program);
  if (output.length !== length) refuse(output.length, length);
  const { start, size } = outputPlaces(program);
  if (program.outputCodec === "raw") {
    rawTensor(output.subarray(start), step.type, out, 0);
    return;
  }
  const view = viewOf(output);
  for (let i = 0; i < out.length; i++) {
    const end = start + (i + 1) * size;
    if (program.outputCodec === "int16s") out[i] = view.getInt16(end - 2);
    else if (step.type === "s32") out[i] = view.getInt32(end - 4);
    else out[i] = (output[end - 1] as number) ^ (step.type === "s8" ? 0x80 : 0);
  }
}

function refuse(bytes: number, limit: number): never {
  throw new BaseError({
    code: "CLAIMED_OUTPUT_LENGTH",
    shortMessage: `The claimed output has ${bytes} bytes, the outputs of this model have ${limit}.`,
    nextStep: "Give the return data that the claim states.",
    details: { bytes, limit },
  });
}
