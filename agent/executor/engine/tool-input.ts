/** A tool's typed input from the JSON that a model wrote. */
import { decodeAbiParameters, encodeAbiParameters, getAddress, type Hex, isAddress } from "viem";
import { BaseError } from "../../../base/errors.ts";
import { ABI_TYPES, PARAM_TYPES, type Param, type ParamType, quote, type Tool } from "../tool.ts";

/** `IERCAgentTool.Input`. */
export interface ToolInput {
  readonly params: readonly { readonly paramType: number; readonly value: Hex }[];
  /** all values encoded together, as the arguments of a function */
  readonly abiEncodedParams: Hex;
}

export interface NamedValue {
  readonly name: string;
  readonly value: unknown;
}

/** `IERCAgentTool.Input` as a parameter of the ABI. */
export const TOOL_INPUT = {
  type: "tuple",
  components: [
    {
      type: "tuple[]",
      name: "params",
      components: [
        { type: "uint8", name: "paramType" },
        { type: "bytes", name: "value" },
      ],
    },
    { type: "bytes", name: "abiEncodedParams" },
  ],
} as const;

/** How a value of each type of parameter is written in JSON. */
const JSON_FORMS: Readonly<Record<ParamType, string>> = {
  STRING: "a string",
  ADDRESS: "a string of 0x and 40 hex digits",
  BOOL: "true or false",
  INT: "a decimal integer, in quotes if it is above 2^53",
  UINT: "a decimal integer from 0, in quotes if it is above 2^53",
  STRING_ARRAY: "an array of strings",
  ADDRESS_ARRAY: "an array of addresses",
  BOOL_ARAY: "an array of true and false",
  INT_ARRAY: "an array of decimal integers",
  UINT_ARRAY: "an array of decimal integers from 0",
};

/** What stands in the prompt for a value of the type. */
export const PLACEHOLDERS: Readonly<Record<ParamType, string>> = {
  STRING: '"text"',
  ADDRESS: '"0x…"',
  BOOL: "true|false",
  INT: '"integer"',
  UINT: '"integer"',
  STRING_ARRAY: '["text", …]',
  ADDRESS_ARRAY: '["0x…", …]',
  BOOL_ARAY: "[true|false, …]",
  INT_ARRAY: '["integer", …]',
  UINT_ARRAY: '["integer", …]',
};

/** @param json array of {"name", "value"}, one for each parameter, in any order
 *  @returns the input, and the values in the order of the description
 *  @throws BaseError ACTION_INPUT_INVALID: not that JSON, a value of another type, a parameter that is missing, unknown
 *  or given twice */
export function readToolInput(
  { name: tool, params }: Tool,
  json: string,
): { readonly input: ToolInput; readonly values: readonly NamedValue[] } {
  const given = givenValues(tool, json);
  const known = new Set(params.map(({ name }) => name));
  for (const name of given.keys()) {
    if (!known.has(name)) throw invalid(tool, `it has no parameter ${quote(name)}`, params);
  }
  const values = params.map((param) => {
    if (!given.has(param.name)) throw invalid(tool, `the parameter ${quote(param.name)} is missing`, params);
    return readValue(tool, param, given.get(param.name));
  });
  return {
    input: encodeToolInput(params, values),
    values: values.map((value, i) => named(params, i, value)),
  };
}

/** @param values in the order of the description, as viem takes them */
export function encodeToolInput(params: readonly Param[], values: readonly unknown[]): ToolInput {
  const types = params.map(({ type }) => ({ type: ABI_TYPES[type] }));
  return {
    params: params.map(({ type }, index) => ({
      paramType: PARAM_TYPES.indexOf(type),
      value: encodeAbiParameters([{ type: ABI_TYPES[type] }], [values[index]]),
    })),
    abiEncodedParams: encodeAbiParameters(types, values),
  };
}

/** The values of an input in words.
 *  @returns undefined for an input that is not of these parameters */
export function decodeToolInput(params: readonly Param[], input: ToolInput): NamedValue[] | undefined {
  try {
    const values = decodeAbiParameters(
      params.map(({ type }) => ({ type: ABI_TYPES[type] })),
      input.abiEncodedParams,
    );
    return values.map((value, index) => named(params, index, value));
  } catch {
    return undefined;
  }
}

/** JSON has no big integers: they are written as text. */
const named = (params: readonly Param[], index: number, value: unknown): NamedValue => ({
  name: params[index]?.name ?? "",
  value: JSON.parse(JSON.stringify(value, (_key, held) => (typeof held === "bigint" ? `${held}` : held))),
});

function givenValues(tool: string, json: string): Map<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (cause) {
    throw invalid(tool, `${quote(json)} is not JSON`, undefined, cause);
  }
  if (!Array.isArray(parsed)) throw invalid(tool, `${quote(json)} is not an array`);
  const given = new Map<string, unknown>();
  for (const entry of parsed as unknown[]) {
    if (!isNamedValue(entry)) {
      throw invalid(tool, `${quote(JSON.stringify(entry))} is not an object with exactly name and value`);
    }
    if (given.has(entry.name)) throw invalid(tool, `the parameter ${quote(entry.name)} is given twice`);
    given.set(entry.name, entry.value);
  }
  return given;
}

function isNamedValue(entry: unknown): entry is NamedValue {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return false;
  const keys = Object.keys(entry);
  return (
    keys.length === 2 &&
    Object.hasOwn(entry, "name") &&
    Object.hasOwn(entry, "value") &&
    typeof (entry as { name: unknown }).name === "string"
  );
}

function readValue(tool: string, param: Param, given: unknown): unknown {
  const element = ELEMENTS[param.type];
  const read = READERS[element ?? (param.type as ScalarType)];
  if (element === undefined) {
    const value = read(given);
    if (value !== undefined) return value;
  } else if (Array.isArray(given)) {
    const values = given.map(read);
    if (!values.includes(undefined)) return values;
  }
  const text = quote(JSON.stringify(given) ?? String(given));
  throw invalid(
    tool,
    `the parameter ${quote(param.name)} is ${text}; ${param.type} is ${JSON_FORMS[param.type]}`,
  );
}

type ScalarType = "STRING" | "ADDRESS" | "BOOL" | "INT" | "UINT";

const ELEMENTS: Readonly<Partial<Record<ParamType, ScalarType>>> = {
  STRING_ARRAY: "STRING",
  ADDRESS_ARRAY: "ADDRESS",
  BOOL_ARAY: "BOOL",
  INT_ARRAY: "INT",
  UINT_ARRAY: "UINT",
};

/** Each gives undefined for what is not of the type. */
const READERS: Readonly<Record<ScalarType, (value: unknown) => unknown>> = {
  // A lone surrogate has no UTF-8: it would reach the tool as another character.
  STRING: (value) => (typeof value === "string" && !/\p{Cs}/u.test(value) ? value : undefined),
  ADDRESS: (value) => (typeof value === "string" && isAddress(value) ? getAddress(value) : undefined),
  BOOL: (value) => (typeof value === "boolean" ? value : undefined),
  INT: (value) => integerWithin(value, -(2n ** 255n), 2n ** 255n - 1n),
  UINT: (value) => integerWithin(value, 0n, 2n ** 256n - 1n),
};

function integerWithin(value: unknown, low: bigint, high: bigint): bigint | undefined {
  const isExact = typeof value === "number" && Number.isSafeInteger(value) && !Object.is(value, -0);
  if (!isExact && !(typeof value === "string" && /^(?:0|-?[1-9]\d{0,77})$/.test(value))) return undefined;
  const integer = BigInt(value);
  return integer >= low && integer <= high ? integer : undefined;
}

const invalid = (tool: string, why: string, params?: readonly Param[], cause?: unknown): BaseError =>
  new BaseError({
    code: "ACTION_INPUT_INVALID",
    shortMessage: `The input for the tool ${quote(tool)} is refused: ${why}.`,
    nextStep: `Give a JSON array of {"name", "value"}, one for each of: ${params?.map(({ name }) => name).join(", ") || "its parameters"}.`,
    ...(cause === undefined ? {} : { cause }),
  });
