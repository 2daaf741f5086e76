/** ABI entries of a manifest: grammar of types, canonical signatures and selectors. Source: specs/003, the Ethereum ABI. */

import { keccak256 } from "../commit/keccak.ts";
import { METADATA_LIMITS } from "./metadata-rules.ts";
import { quoted } from "./problems.ts";

export interface AbiParameter {
  readonly name?: string;
  readonly type: string;
  readonly components?: readonly AbiParameter[];
  readonly description?: string;
}

export interface AbiFunction {
  readonly type: "function";
  readonly name: string;
  readonly inputs: readonly AbiParameter[];
  readonly outputs: readonly AbiParameter[];
  readonly description?: string;
  readonly stateMutability?: string;
}

export interface TypeFault {
  readonly rule: "type" | "array-syntax" | "limit";
  readonly message: string;
}

/** What is wrong with an ABI type, or undefined. All canonical types of the Ethereum ABI pass, no alias does. */
export function typeFault(type: string): TypeFault | undefined {
  const bracket = type.indexOf("[");
  const base = bracket < 0 ? type : type.slice(0, bracket);
  const suffix = bracket < 0 ? "" : type.slice(bracket);
  if (!/^(?:\[(?:[1-9][0-9]*)?\])*$/.test(suffix)) {
    return { rule: "array-syntax", message: "array suffixes must be [] or [N] with N from 1" };
  }
  const lengths = suffix.slice(1, -1).split("][");
  if (lengths.length > METADATA_LIMITS.arrayDimensions || lengths.some(({ length }) => length > 9)) {
    const { arrayDimensions } = METADATA_LIMITS;
    return {
      rule: "limit",
      message: `at most ${arrayDimensions} array suffixes of at most 999999999 elements are read`,
    };
  }
  return isBaseType(base) ? undefined : { rule: "type", message: `${quoted(base)} is not an ABI type` };
}

function isBaseType(base: string): boolean {
  if (["string", "bytes", "bool", "address", "tuple", "function"].includes(base)) return true;
  const [, name = "", size = "", decimals] =
    /^(u?int|bytes|u?fixed)([1-9][0-9]{0,2})(?:x([1-9][0-9]?))?$/.exec(base) ?? [];
  const isFixed = name.endsWith("fixed");
  if (name === "" || isFixed !== (decimals !== undefined)) return false;
  if (name === "bytes") return Number(size) <= 32;
  return Number(size) % 8 === 0 && Number(size) <= 256 && Number(decimals ?? 0) <= 80;
}

export const isTuple = (type: string): boolean => /^tuple(\[|$)/.test(type);

function canonicalType(parameter: AbiParameter): string {
  if (!isTuple(parameter.type)) return parameter.type;
  const inner = (parameter.components ?? []).map(canonicalType).join(",");
  return `(${inner})${parameter.type.slice("tuple".length)}`;
}

/** `name(type1,type2,…)` with tuples expanded. */
export const signatureOf = (f: Pick<AbiFunction, "name" | "inputs">): string =>
  `${f.name}(${f.inputs.map(canonicalType).join(",")})`;

/** First 4 bytes of the hash of the signature. */
export const selectorOf = (f: Pick<AbiFunction, "name" | "inputs">): Uint8Array =>
  keccak256(new TextEncoder().encode(signatureOf(f))).slice(0, 4);

const KEYWORDS = new Set(
  (
    "abstract address after alias anonymous apply as assembly auto bool break byte bytes calldata case catch constant " +
    "constructor continue contract copyof days default define delete do else emit enum error ether event external " +
    "fallback false final fixed for from function gwei hex hours if immutable implements import in indexed inline " +
    "int interface internal is let library macro mapping match memory minutes modifier mutable new null of override " +
    "partial payable pragma private promise public pure receive reference relocatable return returns revert sealed " +
    "seconds sizeof static storage string struct super supports switch this throw true try type typedef typeof " +
    "ufixed uint unchecked unicode unique using var view virtual weeks wei while years"
  ).split(" "),
);
/** Words that Solidity allows as names although the language uses them. */
const ALLOWED = new Set(["error", "from", "revert", "indexed", "unique"]);

/** What is wrong with a Solidity identifier, or undefined. */
export function identifierFault(name: string): string | undefined {
  if (!/^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name)) return `${quoted(name)} is not a Solidity identifier`;
  const sized = /^(?:(?:u?int|bytes)[0-9]+|u?fixed[0-9]+x[0-9]+)$/.test(name);
  if (sized || (KEYWORDS.has(name) && !ALLOWED.has(name))) return `${name} is a word of Solidity`;
  return undefined;
}

export const isCamelCase = (name: string): boolean => /^_?[a-z][A-Za-z0-9]*$/.test(name);
