/** The messages of the ONNX file format and those of their fields that are read or written, by their numbers.
 *  Every other field is skipped when a file is read. No message can hold one of its own kind, so that nesting is as
 *  deep as this table: the graph of an attribute is bytes, which nobody enters.
 *  Source: onnx.proto (ONNX 1.10 to 1.19 add fields only). */

const SCHEMA = {
  Model: {
    irVersion: [1, "int64"],
    producerName: [2, "string"],
    graph: [7, "Graph"],
    opsetImport: [8, "Opset[]"],
  },
  Opset: { domain: [1, "string"], version: [2, "int64"] },
  Graph: {
    node: [1, "Node[]"],
    name: [2, "string"],
    initializer: [5, "Tensor[]"],
    input: [11, "ValueInfo[]"],
    output: [12, "ValueInfo[]"],
    valueInfo: [13, "ValueInfo[]"],
  },
  Node: {
    input: [1, "string[]"],
    output: [2, "string[]"],
    name: [3, "string"],
    opType: [4, "string"],
    attribute: [5, "Attribute[]"],
    domain: [7, "string"],
  },
  Attribute: {
    name: [1, "string"],
    f: [2, "float"],
    i: [3, "int64"],
    s: [4, "bytes"],
    t: [5, "Tensor"],
    g: [6, "bytes"],
    floats: [7, "float[]"],
    ints: [8, "int64[]"],
    strings: [9, "bytes[]"],
    type: [20, "int32"],
  },
  Tensor: {
    dims: [1, "int64[]"],
    dataType: [2, "int32"],
    segment: [3, "bytes"],
    floatData: [4, "float[]"],
    int32Data: [5, "int32[]"],
    int64Data: [7, "int64[]"],
    name: [8, "string"],
    rawData: [9, "bytes"],
    externalData: [13, "Entry[]"],
    dataLocation: [14, "int32"],
  },
  Entry: { key: [1, "string"], value: [2, "string"] },
  ValueInfo: { name: [1, "string"], type: [2, "Type"] },
  Type: { tensorType: [1, "TensorType"] },
  TensorType: { elemType: [1, "int32"], shape: [2, "Shape"] },
  Shape: { dim: [1, "Dimension[]"] },
  Dimension: { dimValue: [1, "int64"], dimParam: [2, "string"] },
} as const;

/** Fields that are refused before anything in them is read: nothing of the kind lowers to a program. */
export const REFUSED: Readonly<Partial<Record<MessageName, Readonly<Record<number, string>>>>> = {
  Model: { 20: "training information", 25: "model-local functions" },
  Graph: { 15: "sparse tensors" },
  Attribute: { 22: "sparse tensors", 23: "sparse tensors" },
};

/** Wire types of the protocol buffers encoding. */
export const WIRE = { varint: 0, fixed64: 1, delimited: 2, fixed32: 5 } as const;

/** How a number is encoded, and the array that holds a list of them. */
export const NUMBERS = {
  int32: { wire: WIRE.varint, list: Int32Array },
  int64: { wire: WIRE.varint, list: BigInt64Array },
  float: { wire: WIRE.fixed32, list: Float32Array },
} as const;
export type NumberKind = keyof typeof NUMBERS;

type Schema = typeof SCHEMA;
export type MessageName = keyof Schema;

interface Scalars {
  int32: number;
  /** Read as a bigint, written from either. */
  int64: number | bigint;
  float: number;
  string: string;
  bytes: Uint8Array;
}
type Value<Kind> = Kind extends `${infer Element}[]`
  ? Element extends NumberKind
    ? ArrayLike<Scalars[Element]>
    : Value<Element>[]
  : Kind extends keyof Scalars
    ? Scalars[Kind]
    : Kind extends MessageName
      ? Message<Kind>
      : never;

/** A message as it is read and written; what a file leaves out is not there. */
export type Message<Name extends MessageName> = {
  -readonly [Field in keyof Schema[Name]]?: Schema[Name][Field] extends readonly [number, infer Kind]
    ? Value<Kind>
    : never;
};

export interface Field {
  readonly name: string;
  readonly number: number;
  /** Of one element, where it is a list. */
  readonly kind: keyof Scalars | MessageName;
  readonly isList: boolean;
}

const NAMES = Object.keys(SCHEMA) as MessageName[];
const BY_NUMBER = new Map(NAMES.map((name) => [name, byNumber(SCHEMA[name])]));

function byNumber(fields: Readonly<Record<string, readonly [number, string]>>): ReadonlyMap<number, Field> {
  return new Map(
    Object.entries(fields).map(([name, [number, type]]) => {
      const isList = type.endsWith("[]");
      const kind = (isList ? type.slice(0, -2) : type) as Field["kind"];
      return [number, { name, number, kind, isList }];
    }),
  );
}

/** A message's fields by their numbers, lowest first. */
export const fieldsOf = (name: MessageName) => BY_NUMBER.get(name) as ReadonlyMap<number, Field>;

export const isMessage = (kind: Field["kind"]): kind is MessageName => Object.hasOwn(SCHEMA, kind);
export const isNumber = (kind: Field["kind"]): kind is NumberKind => Object.hasOwn(NUMBERS, kind);
