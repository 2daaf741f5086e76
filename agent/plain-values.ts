/** A model's arguments and output as JSON that a person or a language model writes and reads: by name, with their limits
 *  in a JSON Schema, and plain numbers where the codec int16s packs sixteen of them into a word. */
import { concatBytes, fromHex, toHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import { shownValue } from "../base/json.ts";
import { INT16S_PER_WORD, readInt16s, writeInt16s } from "../inference/codecs/int16s.ts";
import { INT16, type NumberEntry, type NumberTensor, sizeOf } from "../inference/manifest/numbers.ts";
import type { Readable } from "../inference/meaning/form.ts";
import type { ModelFunction } from "../protocol/rules/abi.ts";
import type { ModelWord } from "../protocol/rules/words.ts";
import { jsonValue, schemaOfParameters } from "./abi-schema.ts";

type Json = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, unknown>>;

/** The tensors that the codecs pack, as the manifest names them. */
export interface Tensors {
  readonly inputs: readonly NumberTensor[];
  readonly outputs: readonly NumberTensor[];
}

export interface Callable {
  readonly function: ModelFunction;
  readonly word: Pick<ModelWord, "inputCodec" | "inputSize" | "outputCodec">;
  /** absent: of a model of which only the id is known, each side is one tensor */
  readonly tensors?: Tensors;
  /** how its output is read; absent: its manifest does not say it, or is not known */
  readonly readable?: Readable;
}

/** JSON Schema of the arguments that `abiValuesOf` takes. */
export function argumentSchema(model: Callable): Json {
  const { inputCodec: codec, inputSize: size } = model.word;
  if (codec === "int16s") return objectOf(inputsOf(model).flatMap((tensor) => propertiesOf(tensor, model)));
  const schema = schemaOfParameters(model.function.inputs) as { readonly properties: Record<string, Json> };
  const limit = {
    text: { maxLength: size },
    prices: { minItems: size, maxItems: size },
    raw: { minLength: 2 + 2 * size, maxLength: 2 + 2 * size },
  }[codec];
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const declared = typeof property.description === "string" ? [property.description] : [];
    const bytes = codec === "text" ? [`at most ${size} bytes of UTF-8`] : [];
    const description = [...declared, ...bytes].join("; ");
    return [name, { ...property, ...limit, ...(description === "" ? {} : { description }) }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** The values of the function's parameters.
 *  @throws BaseError INPUTS_INVALID naming the value, and what it must be */
export function abiValuesOf(model: Callable, values: Values): Values {
  requireArguments(model, values);
  if (model.word.inputCodec !== "int16s") return values;
  const [{ name: parameter = "" } = {}] = model.function.inputs;
  const tensors = inputsOf(model);
  const names = tensors.flatMap(({ name, numbers }) => numbers?.map((entry) => entry.name) ?? [name]);
  const unknown = Object.keys(values).find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(`${unknown} is unknown`, names);
  const packed = new Int16Array(model.word.inputSize);
  for (const tensor of tensors) {
    const found =
      tensor.numbers === undefined
        ? flat(values[tensor.name], tensor.dims, tensor.name, names)
        : tensor.numbers.map((entry) => numberOf(values[entry.name], entry, names));
    packed.set(found, tensor.offset);
  }
  return { [parameter || "0"]: wordsOf(writeInt16s(packed)) };
}

/** A language model writes arguments, and null is JSON too. @throws BaseError INPUTS_INVALID */
export function requireArguments(model: Callable, values: unknown): void {
  if (typeof values === "object" && values !== null && !Array.isArray(values)) return;
  const names = Object.keys(argumentSchema(model).properties as Json);
  throw invalid(`they are ${shownValue(values)}, must be an object`, names);
}

/** @param output values by the names of the function's outputs
 *  @returns JSON */
export function plainOutputOf(model: Callable, output: Values): Record<string, unknown> {
  const plain = jsonValue(output) as Record<string, unknown>;
  const [words] = Object.values(output);
  if (model.word.outputCodec !== "int16s" || !Array.isArray(words)) return plain;
  const bytes = concatBytes(
    ...words.map((word: bigint) => fromHex(`0x${word.toString(16).padStart(64, "0")}`)),
  );
  const [{ name = "" } = {}] = model.function.outputs;
  const tensors = model.tensors?.outputs ?? [
    { name: name || "0", dims: [words.length * INT16S_PER_WORD], offset: 0 },
  ];
  const count = Math.max(...tensors.map((tensor) => tensor.offset + sizeOf(tensor)));
  const numbers = readInt16s(bytes, count);
  return Object.fromEntries(
    tensors.map((tensor) => {
      const { offset, dims } = tensor;
      return [tensor.name, nested([...numbers.subarray(offset, offset + sizeOf(tensor))], dims)];
    }),
  );
}

function inputsOf({ function: { inputs }, word, tensors }: Callable): readonly NumberTensor[] {
  const [{ name = "" } = {}] = inputs;
  return tensors?.inputs ?? [{ name: name || "0", dims: [word.inputSize], offset: 0 }];
}

const objectOf = (properties: readonly (readonly [string, Json])[]): Json => ({
  type: "object",
  properties: Object.fromEntries(properties),
  required: properties.map(([name]) => name),
  additionalProperties: false,
});

function propertiesOf({ name, dims, numbers }: NumberTensor, { function: { inputs } }: Callable) {
  if (numbers !== undefined) {
    return numbers.map(({ name: of, description, ...range }): [string, Json] => [
      of,
      { ...integerSchema(range), ...(description === undefined ? {} : { description }) },
    ]);
  }
  const array = dims.reduceRight<Json>(
    (items, n) => ({ type: "array", items, minItems: n, maxItems: n }),
    integerSchema({}),
  );
  const declared = inputs.find((input) => input.name === name) as
    | { readonly description?: string }
    | undefined;
  const description = declared?.description === undefined ? {} : { description: declared.description };
  return [[name, { ...array, ...description }] as [string, Json]];
}

const integerSchema = ({ minimum = INT16.least, maximum = INT16.most }: Partial<NumberEntry>): Json => ({
  type: "integer",
  minimum,
  maximum,
});

function numberOf(value: unknown, entry: NumberEntry, names: readonly string[]): number {
  const { name, minimum = INT16.least, maximum = INT16.most } = entry;
  if (typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum)
    return value;
  throw invalid(
    `${name} is ${shownValue(value, 80)}, must be a whole number from ${minimum} to ${maximum}`,
    names,
  );
}

function flat(value: unknown, dims: readonly number[], path: string, names: readonly string[]): number[] {
  const [count, ...inner] = dims;
  if (count === undefined) return [numberOf(value, { name: path }, names)];
  if (!Array.isArray(value) || value.length !== count) {
    const found = Array.isArray(value)
      ? `an array of ${value.length}`
      : value === undefined
        ? "missing"
        : "no array";
    throw invalid(`${path} is ${found}, must be an array of ${count}`, names);
  }
  return value.flatMap((item, i) => flat(item, inner, `${path}[${i}]`, names));
}

function nested(numbers: readonly number[], dims: readonly number[]): unknown {
  const [count, ...inner] = dims;
  if (count === undefined) return numbers[0];
  const size = numbers.length / count;
  return Array.from({ length: count }, (_, i) => nested(numbers.slice(i * size, (i + 1) * size), inner));
}

const wordsOf = (bytes: Uint8Array): bigint[] =>
  Array.from({ length: bytes.length / 32 }, (_, i) => BigInt(toHex(bytes.subarray(32 * i, 32 * (i + 1)))));

const invalid = (why: string, names: readonly string[]) =>
  new BaseError({
    code: "INPUTS_INVALID",
    shortMessage: `The inputs do not fit the model's function: ${why}.`,
    nextStep: `Give a JSON object with ${names.join(", ")}.`,
  });
