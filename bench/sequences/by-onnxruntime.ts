/** What onnxruntime takes for one pass of the emitted file. */
import { equalBytes } from "../../base/bytes.ts";
import type { CodecInput } from "../../inference/codecs/input.ts";
import { encodeOutput } from "../../inference/codecs/output.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import type { Tensor } from "../../inference/program/form.ts";
import { openEmitted } from "../../test/support/onnxruntime.ts";

/** Seconds of the fastest run. A program that reads the claimed output is given it.
 *  @throws Error if a run finds another output */
export async function leastByOnnxruntime(
  prepared: PreparedModel,
  [input, output]: readonly [input: CodecInput, output: Uint8Array],
  { threads, runs }: { readonly threads: number; readonly runs: number },
): Promise<number> {
  const { model, program } = prepared;
  const emitted = await openEmitted(model, { claimed: true }, threads);
  const tensors = prepared.inputTensors(input, output);
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) {
    const began = performance.now();
    const [found] = await emitted.run(tensors);
    least = Math.min(least, (performance.now() - began) / 1000);
    if (!equalBytes(encodeOutput(program, found as Tensor), output))
      throw new Error("onnxruntime gives another output than the executor.");
  }
  await emitted.close();
  return least;
}
