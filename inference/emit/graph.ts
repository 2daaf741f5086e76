import { createHash } from "node:crypto";
import { encode } from "../onnx/proto/encode.ts";
import type { Message } from "../onnx/proto/schema.ts";
import { NotEmittable } from "./not-emittable.ts";

export type ElementType =
  | "uint8"
  | "int8"
  | "int32"
  | "uint32"
  | "int64"
  | "uint64"
  | "float"
  | "double"
  | "bool";
/** TensorProto.DataType. */
const CODES: Readonly<Record<ElementType, number>> = {
  float: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  double: 11,
  uint32: 12,
  uint64: 13,
};

/** AttributeProto.AttributeType. */
const [INT, STRING, INTS] = [2, 3, 7];

type AttributeValue = number | string | readonly number[];

/** A value of the graph by its name. */
export type Value = string;

const OPSET = 17;
/** Domain of the contributed operators of onnxruntime. */
const MICROSOFT = "com.microsoft";
const IR_VERSION = 8;

/** onnxruntime reads no file of 2^31 bytes; nodes have what is left. */
const MOST_CONSTANT_BYTES = 2_000_000_000;

/** Builds an ONNX graph node by node. Names are numbered, so the same calls give the same bytes. */
export class GraphBuilder {
  readonly #nodes: Message<"Node">[] = [];
  readonly #initializers: Message<"Tensor">[] = [];
  readonly #inputs: Message<"ValueInfo">[] = [];
  readonly #outputs: Message<"ValueInfo">[] = [];
  readonly #constants = new Map<string, Value>();
  /** what nodes were made of, and what they give */
  readonly #made = new Map<string, Value>();
  readonly #most: number;
  #constantBytes = 0;
  #next = 0;

  /** @param most bytes of all constants */
  constructor(most = MOST_CONSTANT_BYTES) {
    this.#most = most;
  }

  input(name: string, type: ElementType, dims: readonly number[]): Value {
    this.#inputs.push(valueInfo(name, type, dims));
    return name;
  }

  /** Names `value` as an output of the graph. */
  output(name: string, value: Value, type: ElementType, dims: readonly number[]): void {
    this.#nodes.push({ opType: "Identity", input: [value], output: [name] });
    this.#outputs.push(valueInfo(name, type, dims));
  }

  /** Equal constants are one. @param data little-endian elements, as typed arrays hold them @throws NotEmittable */
  constant(type: ElementType, dims: readonly number[], data: ArrayBufferView): Value {
    const rawData = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const key = `${type} ${dims.join()} ${createHash("sha256").update(rawData).digest("hex")}`;
    const known = this.#constants.get(key);
    if (known !== undefined) return known;
    this.#constantBytes += rawData.length;
    if (this.#constantBytes > this.#most)
      throw new NotEmittable(`with it the file's constants have more than ${this.#most} bytes`);
    const name = this.#name("c");
    this.#initializers.push({ name, dataType: CODES[type], dims, rawData: rawData.slice() });
    this.#constants.set(key, name);
    return name;
  }

  int32(value: number): Value {
    return this.constant("int32", [], Int32Array.of(value));
  }

  float(value: number): Value {
    return this.constant("float", [], Float32Array.of(value));
  }

  shape(dims: readonly number[]): Value {
    return this.constant("int64", [dims.length], BigInt64Array.from(dims, BigInt));
  }

  /** The same operator on the same values is one node. */
  node(
    opType: string,
    input: readonly Value[],
    attributes: Readonly<Record<string, AttributeValue>> = {},
    domain = "",
  ): Value {
    const key = JSON.stringify([domain, opType, input, attributes]);
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    const output = this.#name("v");
    this.#made.set(key, output);
    const attribute = Object.entries(attributes).map(([name, value]) => ({ name, ...contentOf(value) }));
    this.#nodes.push({ opType, domain, input: [...input], output: [output], attribute });
    return output;
  }

  /** A contributed operator of onnxruntime, without attributes. */
  microsoft(opType: string, input: readonly Value[]): Value {
    return this.node(opType, input, {}, MICROSOFT);
  }

  cast(value: Value, to: ElementType): Value {
    return this.node("Cast", [value], { to: CODES[to] });
  }

  reshape(value: Value, dims: readonly number[]): Value {
    return this.node("Reshape", [value, this.shape(dims)]);
  }

  /** The file's bytes. */
  finish(): Uint8Array {
    const graph: Message<"Graph"> = {
      name: "assay",
      node: this.#nodes,
      initializer: this.#initializers,
      input: this.#inputs,
      output: this.#outputs,
    };
    return encode("Model", {
      irVersion: IR_VERSION,
      producerName: "assay",
      opsetImport: [
        { domain: "", version: OPSET },
        { domain: MICROSOFT, version: 1 },
      ],
      graph,
    });
  }

  #name(prefix: string): Value {
    return `${prefix}${this.#next++}`;
  }
}

function contentOf(value: AttributeValue): Message<"Attribute"> {
  if (typeof value === "number") return { type: INT, i: value };
  if (typeof value === "string") return { type: STRING, s: Buffer.from(value) };
  return { type: INTS, ints: value };
}

function valueInfo(name: string, type: ElementType, dims: readonly number[]): Message<"ValueInfo"> {
  return {
    name,
    type: { tensorType: { elemType: CODES[type], shape: { dim: dims.map((dimValue) => ({ dimValue })) } } },
  };
}
