/** The `abi` section of agent metadata. */
import { toHex } from "../../base/bytes.ts";
import {
  type AbiParameter,
  identifierFault,
  isCamelCase,
  isTuple,
  selectorOf,
  signatureOf,
  typeFault,
} from "./abi.ts";
import { METADATA_LIMITS } from "./metadata-rules.ts";
import { type Checker, kind, quoted } from "./problems.ts";

const MUTABILITY: readonly unknown[] = ["pure", "view", "nonpayable", "payable"];

export function checkAbi(check: Checker, value: unknown): void {
  const abi = check.array(value, "$.abi");
  if (abi === undefined) return;
  if (abi.length === 0) check.error("$.abi", "must hold at least one function", "abi-not-empty");
  if (!isWithin(check, abi, "$.abi", METADATA_LIMITS.functions)) return;
  const names = new Map<string, string>();
  const selectors = new Map<string, string>();
  abi.forEach((entry, i) => {
    checkFunction(check, entry, `$.abi[${i}]`, names, selectors);
  });
}

/** Longer lists are refused unread. */
function isWithin(check: Checker, list: readonly unknown[], path: string, limit: number): boolean {
  if (list.length > limit)
    check.error(path, `has ${list.length} entries, at most ${limit} are read`, "limit");
  return list.length <= limit;
}

function checkFunction(
  check: Checker,
  value: unknown,
  path: string,
  names: Map<string, string>,
  selectors: Map<string, string>,
): void {
  const entry = check.object(value, path);
  if (entry === undefined) return;
  if (entry.type !== "function") {
    const rule = entry.type === undefined ? "required" : "functions-only";
    check.error(`${path}.type`, `must be "function", is ${quoted(entry.type)}`, rule);
  }
  const before = check.errors.length;
  const name = checkMethodName(check, entry.name, path, names);
  const used = new Map<string, string>();
  const inputs = checkParameters(check, entry.inputs, `${path}.inputs`, used, 0);
  checkParameters(check, entry.outputs, `${path}.outputs`, used, 0);
  checkDescription(check, entry, path);
  if (entry.stateMutability !== undefined && !MUTABILITY.includes(entry.stateMutability)) {
    check.error(`${path}.stateMutability`, `must be one of ${MUTABILITY.join(", ")}`, "mutability");
  }
  // Selectors of functions that are not valid mean nothing.
  if (name === undefined || inputs === undefined || check.errors.length > before) return;
  const f = { name, inputs: inputs as AbiParameter[] };
  const selector = toHex(selectorOf(f));
  const other = selectors.get(selector);
  if (other !== undefined) {
    check.error(path, `its selector ${selector} is also that of ${other}`, "selector-unique");
  }
  selectors.set(selector, signatureOf(f));
}

function checkMethodName(
  check: Checker,
  value: unknown,
  path: string,
  names: Map<string, string>,
): string | undefined {
  if (value === "") check.error(`${path}.name`, "must not be empty", "method-name");
  const name = value === "" ? undefined : check.text(value, `${path}.name`);
  if (name === undefined) return undefined;
  const fault = identifierFault(name);
  if (fault !== undefined) check.error(`${path}.name`, fault, "method-name");
  else if (!isCamelCase(name)) check.warn(`${path}.name`, `${quoted(name)} is not camelCase`, "camel-case");
  const other = names.get(name);
  if (other !== undefined) {
    check.error(`${path}.name`, `${quoted(name)} is also the name of ${other}`, "method-unique");
  }
  names.set(name, path);
  return name;
}

/** @param used names of the same scope, with where they stand @param depth tuples around this list */
function checkParameters(
  check: Checker,
  value: unknown,
  path: string,
  used: Map<string, string>,
  depth: number,
): unknown[] | undefined {
  const list = check.array(value, path);
  if (list === undefined || !isWithin(check, list, path, METADATA_LIMITS.parameters)) return undefined;
  list.forEach((entry, i) => {
    checkParameter(check, entry, `${path}[${i}]`, used, depth);
  });
  return list;
}

function checkParameter(
  check: Checker,
  value: unknown,
  path: string,
  used: Map<string, string>,
  depth: number,
): void {
  const entry = check.object(value, path);
  if (entry === undefined) return;
  checkParameterName(check, entry.name, `${path}.name`, used, depth === 0 && path.includes(".inputs["));
  checkDescription(check, entry, path);
  const type = check.text(entry.type, `${path}.type`);
  if (type === undefined) return;
  const fault = typeFault(type);
  if (fault !== undefined) check.error(`${path}.type`, `${quoted(type)}: ${fault.message}`, fault.rule);
  if (isTuple(type)) checkComponents(check, entry.components, `${path}.components`, depth);
}

function checkComponents(check: Checker, value: unknown, path: string, depth: number): void {
  if (!Array.isArray(value) || value.length === 0) {
    const found = Array.isArray(value) ? "an empty one" : kind(value);
    check.error(path, `a tuple must have an array of components, is ${found}`, "tuple-components");
  } else if (depth === METADATA_LIMITS.tupleDepth) {
    check.error(path, `tuples nest deeper than ${METADATA_LIMITS.tupleDepth}`, "limit");
  } else {
    checkParameters(check, value, path, new Map(), depth + 1);
  }
}

function checkParameterName(
  check: Checker,
  name: unknown,
  path: string,
  used: Map<string, string>,
  isRequired: boolean,
): void {
  if (name === "" || (name === undefined && !isRequired)) return;
  if (typeof name !== "string") {
    check.error(path, `must be a string, is ${kind(name)}`, name === undefined ? "required" : "form");
    return;
  }
  const fault = identifierFault(name);
  if (fault !== undefined) check.error(path, fault, "parameter-name");
  else if (!isCamelCase(name)) check.warn(path, `${quoted(name)} is not camelCase`, "camel-case");
  const other = used.get(name);
  if (other !== undefined) {
    check.error(path, `${quoted(name)} is also the name of ${other}`, "parameter-unique");
  }
  used.set(name, path.slice(0, -".name".length));
}

function checkDescription(check: Checker, entry: Record<string, unknown>, path: string): void {
  if (entry.description === undefined) check.warn(`${path}.description`, "is missing", "described");
  else check.text(entry.description, `${path}.description`);
}
