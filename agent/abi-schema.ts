/** JSON Schemas for the parameters of a contract's function, and return values as JSON. */
import type { AbiParameter } from "viem";

interface Described {
  readonly description?: string;
}

/** Integers as numbers up to 53 bits or decimal text, bytes as 0x hex, tuples by name. */
function schemaOfType(parameter: AbiParameter): Record<string, unknown> {
  const { type } = parameter;
  const array = /^(.*)\[(\d*)\]$/.exec(type);
  if (array !== null) {
    const [, element = "", length = ""] = array;
    const items = schemaOfType({ ...parameter, type: element });
    return {
      type: "array",
      items,
      ...(length === "" ? {} : { minItems: Number(length), maxItems: Number(length) }),
    };
  }
  if (type === "tuple" && "components" in parameter) return schemaOfParameters(parameter.components);
  if (type === "bool") return { type: "boolean" };
  if (/^u?int/.test(type)) {
    const sign = type.startsWith("u") ? "" : "-?";
    return { anyOf: [{ type: "integer" }, { type: "string", pattern: `^${sign}[0-9]{1,78}$` }] };
  }
  if (type === "address") return { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" };
  if (type.startsWith("bytes")) return { type: "string", pattern: "^0x([0-9a-fA-F]{2})*$" };
  return { type: "string" };
}

/** An object with every parameter by its name, `0`, `1`, … where it has none, and nothing else. */
export function schemaOfParameters(parameters: readonly AbiParameter[]): Record<string, unknown> {
  const names = parameters.map(({ name }, index) => name || `${index}`);
  const described = parameters.map((parameter) => {
    const { description } = parameter as Described;
    return { ...schemaOfType(parameter), ...(description === undefined ? {} : { description }) };
  });
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name, index) => [name, described[index]])),
    required: names,
    additionalProperties: false,
  };
}

/** Integers that JSON holds exactly become numbers, larger ones decimal text. */
export function jsonValue(value: unknown): unknown {
  if (typeof value === "bigint") {
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  }
  if (Array.isArray(value)) return value.map(jsonValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonValue(item)]));
}
