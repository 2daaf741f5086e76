/** Values of the Ethereum ABI, strictly: canonical encodings only, so that one value has one encoding.
 *
 *  A value is a string, boolean or bigint, 0x-hex for addresses, `bytes` and `function`, an array, and for a tuple an
 *  object by component name (an array if any component has no name). fixed<M>x<N> is the integer value · 10^N.
 *  viem writes and reads the words; it is lenient with text, names and types, so what it sees is reduced to types that
 *  it takes exactly: text as bytes, tuples without names, `function` as bytes24. */
import {
  decodeAbiParameters,
  encodeAbiParameters,
  getAddress,
  type Hex,
  isAddress,
  isHex,
  size,
  type AbiParameter as WireParameter,
} from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { BaseError, isBaseError } from "../../base/errors.ts";
import { decodeUtf8 } from "../../base/json.ts";
import type { AbiParameter } from "../../inference/manifest/abi.ts";

/** @param values in the parameters' order; integers also as safe numbers or decimal strings, bytes also as Uint8Array
 *  @throws BaseError ABI_VALUE_INVALID with the path of the value */
export function encodeValues(parameters: readonly AbiParameter[], values: readonly unknown[]): Hex {
  const names = parameters.map(({ name }, i) => name || `${i}`);
  if (values.length !== parameters.length) {
    throw invalidValue(
      "the values",
      `${values.length} values`,
      `the ${parameters.length} of (${names.join(", ")})`,
    );
  }
  const wired = parameters.map((parameter, i) => toWire(parameter, values[i], names[i] as string));
  return encodeAbiParameters(parameters.map(wireOf), wired);
}

/** @throws BaseError ABI_DATA_INVALID for bytes that no value encodes to, TEXT_NOT_UNICODE for text that is no UTF-8 */
export function decodeValues(parameters: readonly AbiParameter[], data: Uint8Array): readonly unknown[] {
  const types = parameters.map(wireOf);
  let wired: readonly unknown[];
  try {
    wired = data.length === 0 && types.length === 0 ? [] : (decodeAbiParameters(types, data) as unknown[]);
  } catch (cause) {
    throw invalidData(data, parameters, (cause as Error).message.split("\n")[0] ?? "", cause);
  }
  const values = parameters.map((parameter, i) => fromWire(parameter, wired[i], parameter.name || `${i}`));
  if (!isEncodingOf(types, wired, data)) {
    throw invalidData(data, parameters, "a standard encoder writes these values in another way");
  }
  return values;
}

/** Offsets, padding, sign and spare bytes are as an encoder writes them only if encoding again gives the same. */
function isEncodingOf(types: readonly WireParameter[], wired: readonly unknown[], data: Uint8Array): boolean {
  try {
    return encodeAbiParameters(types, wired as never) === toHex(data);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return false;
  }
}

const ARRAY = /^(.*)\[([0-9]*)\]$/;
const INTEGER = /^(u?)(?:int|fixed)([0-9]+)(?:x[0-9]+)?$/;

function elementOf(
  parameter: AbiParameter,
): { element: AbiParameter; length: number | undefined } | undefined {
  const match = ARRAY.exec(parameter.type);
  if (match === null) return undefined;
  const length = match[2] === "" ? undefined : Number(match[2]);
  return { element: { ...parameter, type: match[1] as string }, length };
}

function wireOf(parameter: AbiParameter): WireParameter {
  const array = elementOf(parameter);
  if (array !== undefined) {
    const element = wireOf(array.element);
    return { ...element, type: `${element.type}[${array.length ?? ""}]` };
  }
  const { type, components = [] } = parameter;
  if (type === "tuple") return { type, components: components.map(wireOf) };
  if (type === "string") return { type: "bytes" };
  if (type === "function") return { type: "bytes24" };
  const integer = INTEGER.exec(type);
  return { type: integer === null ? type : `${integer[1]}int${integer[2]}` };
}

function toWire(parameter: AbiParameter, value: unknown, path: string): unknown {
  const { type } = parameter;
  const array = elementOf(parameter);
  if (array !== undefined) {
    const { element, length } = array;
    if (!Array.isArray(value) || (length !== undefined && value.length !== length)) {
      throw invalidValue(path, value, length === undefined ? "an array" : `an array of ${length}`);
    }
    return value.map((item, i) => toWire(element, item, `${path}[${i}]`));
  }
  if (type === "tuple") return tupleToWire(parameter, value, path);
  const wired = scalarToWire(type, value);
  if (wired === undefined) throw invalidValue(path, value, `a value of ${type}`);
  return wired;
}

function tupleToWire({ components = [] }: AbiParameter, value: unknown, path: string): unknown[] {
  const names = components.map(({ name }, i) => name || `${i}`);
  const isObject = typeof value === "object" && value !== null;
  const given = isObject ? Object.keys(value) : [];
  const extra = given.find((key) => !names.includes(key) && !Array.isArray(value));
  if (!isObject || given.length !== names.length || extra !== undefined) {
    throw invalidValue(
      path,
      extra ?? value,
      `an object of ${names.join(", ")}, or an array of ${names.length}`,
    );
  }
  return components.map((component, i) => {
    const name = names[i] as string;
    const part = Array.isArray(value) ? value[i] : (value as Record<string, unknown>)[name];
    return toWire(component, part, `${path}.${name}`);
  });
}

/** undefined for a value of another type */
function scalarToWire(type: string, value: unknown): unknown {
  if (type === "bool") return typeof value === "boolean" ? value : undefined;
  if (type === "string") {
    const isText = typeof value === "string" && !/\p{Surrogate}/u.test(value);
    return isText ? toHex(new TextEncoder().encode(value)) : undefined;
  }
  if (type === "address") return typeof value === "string" && isAddress(value) ? value : undefined;
  const integer = INTEGER.exec(type);
  if (integer !== null) return integerToWire(integer[1] === "", Number(integer[2]), value);
  const given = value instanceof Uint8Array ? toHex(value) : value;
  if (!isHex(given) || given.length % 2 !== 0) return undefined;
  // One value has one encoding, in lower case as everything that is compared with it.
  const hex = given.toLowerCase() as Hex;
  const bytes = type === "function" ? 24 : Number(type.slice("bytes".length));
  return bytes === 0 || size(hex) === bytes ? hex : undefined;
}

function integerToWire(isSigned: boolean, bits: number, value: unknown): bigint | undefined {
  const isIntegral =
    typeof value === "bigint" ||
    (typeof value === "number" && Number.isSafeInteger(value)) ||
    (typeof value === "string" && /^-?[0-9]{1,78}$/.test(value));
  if (!isIntegral) return undefined;
  const number = BigInt(value as bigint | number | string);
  const wrapped = isSigned ? BigInt.asIntN(bits, number) : BigInt.asUintN(bits, number);
  return wrapped === number ? number : undefined;
}

function fromWire(parameter: AbiParameter, wired: unknown, path: string): unknown {
  const array = elementOf(parameter);
  if (array !== undefined) {
    return (wired as unknown[]).map((item, i) => fromWire(array.element, item, `${path}[${i}]`));
  }
  const { type, components = [] } = parameter;
  if (type === "tuple") {
    const parts = components.map((component, i) => {
      return fromWire(component, (wired as unknown[])[i], `${path}.${component.name || i}`);
    });
    if (components.some(({ name }) => !name)) return parts;
    return Object.fromEntries(components.map(({ name }, i) => [name, parts[i]]));
  }
  if (type === "string") return decodeUtf8(fromHex(wired as Hex), path);
  if (type === "address") return getAddress(wired as Hex);
  return INTEGER.test(type) ? BigInt(wired as bigint | number) : wired;
}

function invalidValue(path: string, value: unknown, wanted: string): BaseError {
  const shown = typeof value === "bigint" ? `${value}` : (JSON.stringify(value, bigintAsText) ?? "nothing");
  return new BaseError({
    code: "ABI_VALUE_INVALID",
    shortMessage: `${path} is ${shown.slice(0, 80)}, must be ${wanted}.`,
    nextStep: "Give values of the function's types, integers above 53 bits as decimal strings.",
    details: { path },
  });
}

const bigintAsText = (_key: string, part: unknown) => (typeof part === "bigint" ? `${part}` : part);

function invalidData(
  data: Uint8Array,
  parameters: readonly AbiParameter[],
  why: string,
  cause?: unknown,
): BaseError {
  const types = parameters.map(({ type }) => type).join(", ");
  return new BaseError({
    code: "ABI_DATA_INVALID",
    shortMessage: `The ${data.length} bytes are no encoding of (${types}): ${why}.`,
    nextStep: "Encode the values with a standard ABI encoder.",
    details: { bytes: data.length },
    cause,
  });
}

/** The same failure under the name that the caller's callers know. */
export function renamed(error: unknown, code: string, nextStep?: string): unknown {
  if (!isBaseError(error, "ABI_DATA_INVALID") && !isBaseError(error, "ABI_VALUE_INVALID")) return error;
  const { shortMessage, details, cause } = error;
  return new BaseError({ code, shortMessage, nextStep: nextStep ?? error.nextStep ?? "", details, cause });
}
