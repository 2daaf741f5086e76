/** onnxruntime on the graph of a reference's case, as the file has it. */
import { readOnnx } from "../../../inference/onnx/read.ts";
import { onnxFile } from "../onnx-file.ts";
import { ortTensor } from "../onnx-original.ts";
import { openSession } from "../session.ts";
import type { ReferenceCase } from "./plain.ts";
import { type Found, firstDifference } from "./references.ts";

/** Float32 results that are one unit off at most. */
const loosened = (expected: ReferenceCase["expected"]): ReferenceCase["expected"] =>
  Object.fromEntries(
    Object.entries(expected).map(([name, one]) => [
      name,
      one.isNear ? { ...one, within: 2 ** -20 * Math.max(...one.data.map(Math.abs)) } : one,
    ]),
  );

/** What onnxruntime says of an operator that it has not for a type. */
const MISSING = /Could not find an implementation|NOT_IMPLEMENTED/;

/** The first difference of onnxruntime's outputs; "missing" where it has no kernel, or gives something else on purpose, undefined where they are the same. */
export async function runtimeDifference(made: ReferenceCase): Promise<string | undefined> {
  if (made.isElsewhere !== undefined) return "missing";
  const onnx = onnxFile(made.graph);
  const declared = new Map(readOnnx(onnx).inputs.map((input) => [input.name, input.type]));
  const feeds = Object.fromEntries(
    Object.entries(made.inputs).map(([name, tensor]) => [name, ortTensor(tensor, declared.get(name))]),
  );
  try {
    const session = await openSession(onnx);
    const outputs = await session.run(feeds);
    await session.release();
    const { expected } = made;
    return firstDifference({ ...made, expected: loosened(expected) }, (name): Found | undefined => {
      const found = outputs[name];
      return (
        found && { dims: found.dims, data: Array.from(found.data as Uint8Array | BigInt64Array, Number) }
      );
    });
  } catch (error) {
    if (MISSING.test((error as Error).message)) return "missing";
    throw error;
  }
}
