/** The node tests of the ONNX project, as Debian's package libonnx-testdata installs them: one model of one operator
 *  each, with inputs and the outputs that the standard's reference gives. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BaseError } from "../../base/errors.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { boundInputs, type NamedTensors, namedOutputs, runNamed } from "../../inference/model-values.ts";
import { numbers, type OnnxTensor } from "../../inference/onnx/graph.ts";
import { type ImportedModel, importOnnx } from "../../inference/onnx/import.ts";
import { OPERATOR_ROWS } from "../../inference/onnx/lower/operator-table.ts";
import { decode } from "../../inference/onnx/proto/decode.ts";
import { encode } from "../../inference/onnx/proto/encode.ts";
import type { Message } from "../../inference/onnx/proto/schema.ts";
import { readTensor } from "../../inference/onnx/tensor.ts";
import { NODE_TESTS } from "../../tools/onnx-testdata.ts";
import { typeCode } from "./onnx-file.ts";
import { openEmitted } from "./onnxruntime.ts";

export interface NodeTest {
  readonly name: string;
  /** Operators with their domains. */
  readonly operators: readonly string[];
  readonly model: Message<"Model">;
  /** By graph input; undefined where the file holds no tensor. */
  readonly inputs: readonly (OnnxTensor | undefined)[];
  readonly outputs: readonly (OnnxTensor | undefined)[];
}

/** Which of a test's inputs the program reads; the others are constants of the file. */
export type Way = "all" | "the first" | "none";

interface Counted {
  readonly elements: number;
  /** Of these, numbers of operators that are exact to one unit and that differ in their bits. */
  readonly near: number;
}

export type Outcome =
  | ({ readonly kind: "passed"; readonly way: Way } & Counted)
  | { readonly kind: "different"; readonly what: string }
  | { readonly kind: "refused"; readonly code: string; readonly reason: string };

export function nodeTests(): NodeTest[] {
  return readdirSync(NODE_TESTS).sort().map(readNodeTest);
}

function readNodeTest(name: string): NodeTest {
  const folder = join(NODE_TESTS, name);
  const model = decode("Model", readFileSync(join(folder, "model.onnx")));
  const tensors = (kind: string, count: number): (OnnxTensor | undefined)[] =>
    Array.from({ length: count }, (_, i) => readData(join(folder, "test_data_set_0", `${kind}_${i}.pb`)));
  const nodes = model.graph?.node ?? [];
  const operators = nodes.map(({ domain, opType }) =>
    (domain ?? "") === "" ? `${opType}` : `${domain}.${opType}`,
  );
  return {
    name,
    operators,
    model,
    inputs: tensors("input", model.graph?.input?.length ?? 0),
    outputs: tensors("output", model.graph?.output?.length ?? 0),
  };
}

function readData(path: string): OnnxTensor | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return readTensor(decode("Tensor", readFileSync(path)), path);
  } catch {
    return undefined; // a sequence, or an element type that no program holds: the import says which
  }
}

/** Runs a test with as few of its inputs constant as import accepts: int64 ones always are (shapes, axes, ids), then
 *  all but the first, then all. */
export async function runNodeTest(test: NodeTest): Promise<Outcome> {
  const isWide = (i: number): boolean => {
    const tensor = test.inputs[i];
    // No codec gives int64, NaN or infinities.
    return tensor?.type === "int64" || (tensor !== undefined && !numbers(tensor).every(Number.isFinite));
  };
  const ways: readonly [Way, (input: number) => boolean][] = [
    ["all", isWide],
    ["the first", (i) => isWide(i) || i > 0],
    ["none", () => true],
  ];
  let refusal: Outcome | undefined;
  for (const [way, isConstant] of ways) {
    const outcome = await attempt(test, isConstant);
    if (outcome.kind === "passed") return { ...outcome, way };
    if (outcome.kind !== "refused") return outcome;
    refusal ??= outcome;
  }
  return refusal as Outcome;
}

type Attempt = Exclude<Outcome, { kind: "passed" }> | ({ readonly kind: "passed" } & Counted);

/** Operators that docs/EXACT.md says to be exact to one unit. */
const TO_ONE_UNIT = new Set(
  OPERATOR_ROWS.filter((row) => row.exactness === "one unit").flatMap((row) => Object.keys(row.operators)),
);

async function attempt(test: NodeTest, isConstant: (input: number) => boolean): Promise<Attempt> {
  const inputs: Record<string, NamedTensors[string]> = {};
  const model = decode("Model", encode("Model", test.model));
  const graph: Required<Message<"Graph">> = {
    ...{ name: "", node: [], initializer: [], input: [], output: [], valueInfo: [] },
    ...model.graph,
  };
  const initializers: Message<"Tensor">[] = [];
  graph.input = graph.input.filter((info, i) => {
    const tensor = test.inputs[i];
    // Data files hold bfloat16 as uint16.
    if (tensor === undefined || typeCode(tensor.type) !== info.type?.tensorType?.elemType) return true;
    if (!isConstant(i)) {
      inputs[info.name ?? ""] = { type: tensor.type, dims: tensor.dims, data: numbers(tensor) };
      return true;
    }
    initializers.push(protoOf(info.name ?? "", tensor));
    return false;
  });
  graph.initializer = [...graph.initializer, ...initializers];
  if (graph.input.length === 0) addCondition(graph, test, inputs);
  let imported: ImportedModel;
  try {
    imported = importOnnx(encode("Model", { ...model, graph }));
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    return { kind: "refused", code: error.code, reason: error.message };
  }
  return compare(test, imported, inputs);
}

function protoOf(name: string, { type, dims, data }: OnnxTensor): Message<"Tensor"> {
  const rawData = new Uint8Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength));
  return { name, dims: [...dims], dataType: typeCode(type), rawData };
}

const elementOf = (elemType: number) => ({ tensorType: { elemType, shape: { dim: [{ dimValue: 1 }] } } });

/** Makes each output `condition ? value : value`, so that the program computes something where all values are known. */
function addCondition(
  graph: Required<Message<"Graph">>,
  test: NodeTest,
  inputs: Record<string, NamedTensors[string]>,
): void {
  const condition = "condition";
  graph.input.push({ name: condition, type: elementOf(typeCode("bool")) });
  inputs[condition] = { type: "bool", dims: [1], data: [1] };
  for (const [i, info] of graph.output.entries()) {
    const [name, known] = [info.name ?? "", `known ${i}`];
    if (test.outputs[i] === undefined) continue;
    for (const node of graph.node) node.output = (node.output ?? []).map((o) => (o === name ? known : o));
    graph.node.push({ opType: "Where", input: [condition, known, known], output: [name] });
  }
}

/** By the canonical executor and by onnxruntime on the emitted file, bit for bit; of operators that are exact to one unit
 *  of float32, 2^-20 of the largest number. */
async function compare(test: NodeTest, imported: ImportedModel, inputs: NamedTensors): Promise<Attempt> {
  const model = {
    onnx: new Uint8Array(0),
    io: imported.io,
    prepared: prepare(imported.model, new Uint8Array(4)),
  };
  const own = runNamed(model, inputs).outputs;
  const emitted = await openEmitted(imported.model, {});
  const [last] = await emitted.run(boundInputs(model, inputs));
  await emitted.close();
  if (last === undefined) throw new TypeError("the emitted file has no output");
  const theirs = namedOutputs(imported.io, last);
  let [elements, near] = [0, 0];
  // What GatherElements picks is a maximum, whose zero is +0.
  const isSigned = !test.operators.includes("GatherElements");
  const isExact = !test.operators.some((name) => TO_ONE_UNIT.has(name));
  for (const [i, info] of (test.model.graph?.output ?? []).entries()) {
    const expected = test.outputs[i];
    if (expected === undefined) return { kind: "different", what: `output ${i} is no tensor` };
    const list = numbers(expected);
    const unit =
      isExact || expected.type !== "float32"
        ? 0
        : list.reduce((most, v) => Math.max(most, Math.abs(v)), 0) * 2 ** -20;
    near += list.filter((v, e) => !Object.is(v, own[info.name ?? ""]?.data[e])).length;
    for (const [by, outputs] of [
      ["executor", own],
      ["emitted file", theirs],
    ] as const) {
      const found = outputs[info.name ?? ""];
      const at = list.findIndex((v, e) => {
        const given = found?.data[e] ?? Number.NaN;
        if (!isSigned && v === 0 && given === 0) return false;
        return !Object.is(v, given) && !(Math.abs(v - given) <= unit && unit > 0);
      });
      if (at >= 0 || found?.data.length !== list.length) {
        return {
          kind: "different",
          what: `output ${i} element ${at} is ${found?.data[at]} by the ${by}, ${list[at]} expected`,
        };
      }
    }
    elements += list.length;
  }
  return { kind: "passed", elements, near };
}
