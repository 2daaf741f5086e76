/** The ONNX file that becomes a circuit: the user's, with one more input that ties a proof to who submits it. */
import { BaseError } from "../../../base/errors.ts";
import { count, type OnnxValueInfo } from "../../../inference/onnx/graph.ts";
import { encode } from "../../../inference/onnx/proto/encode.ts";
import type { Message } from "../../../inference/onnx/proto/schema.ts";
import { contentsOf, withContents } from "../../../inference/onnx/proto/splice.ts";
import { type ReadOptions, readOnnx } from "../../../inference/onnx/read.ts";
import { BINDING_ELEMENTS, MAX_INPUTS } from "./instances.ts";

const FLOAT = 1;
/** No node reads it; its values are public, and a proof is one of all public values. */
const BINDING_NAME = "assay_binding";

export interface CircuitOnnx {
  readonly bytes: Uint8Array;
  /** the user's, in declared order; static shapes */
  readonly inputs: readonly OnnxValueInfo[];
  /** names in declared order */
  readonly outputs: readonly string[];
}

/** @param dims sizes of symbolic dims; one that is not named is 1
 *  @throws BaseError as readOnnx does; EZKL_MODEL_REFUSED for inputs or outputs that are not float32, and for too many
 *  input elements */
export function circuitOnnx(bytes: Uint8Array, dims: ReadOptions["dims"] = new Map()): CircuitOnnx {
  const graph = readOnnx(bytes, { dims });
  for (const { name, type } of [...graph.inputs, ...graph.outputs]) {
    if (type !== "float32") throw refused(`${name} is of ${type}, must be float32`, "Export a float model.");
  }
  const total = graph.inputs.reduce((sum, input) => sum + count(input.dims), 0);
  if (total < 1 || total > MAX_INPUTS) {
    throw refused(
      `the inputs have ${total} elements, must have 1 to ${MAX_INPUTS}`,
      "Give the model fewer inputs.",
    );
  }
  const taken = new Set([
    ...graph.constants.keys(),
    ...graph.inputs.map(({ name }) => name),
    ...graph.nodes.flatMap(({ outputs }) => outputs),
  ]);
  if (taken.has(BINDING_NAME))
    throw refused(`it has a value called ${BINDING_NAME}`, "Give it another name.");
  const infos = [
    ...graph.inputs.map(({ name, dims: shape }) => valueInfo(name, shape)),
    valueInfo(BINDING_NAME, [1, BINDING_ELEMENTS]),
  ].map((info) => encode("ValueInfo", info));
  const graphs = contentsOf("Model", bytes, "graph").map((g) => withContents("Graph", g, "input", infos));
  return {
    bytes: withContents("Model", bytes, "graph", graphs),
    inputs: graph.inputs,
    outputs: graph.outputs.map(({ name }) => name),
  };
}

/** Operators of a model's nodes, in order. @throws BaseError as readOnnx does */
export const circuitNodes = (bytes: Uint8Array): string[] =>
  readOnnx(bytes, { dims: new Map() }).nodes.map(({ op }) => op);

const valueInfo = (name: string, dims: readonly number[]): Message<"ValueInfo"> => ({
  name,
  type: { tensorType: { elemType: FLOAT, shape: { dim: dims.map((dimValue) => ({ dimValue })) } } },
});

const refused = (why: string, nextStep: string): BaseError =>
  new BaseError({
    code: "EZKL_MODEL_REFUSED",
    shortMessage: `The model cannot be proven: ${why}.`,
    nextStep,
  });
