/** Finds what can be changed in blocks of assembly, and how it is guarded there. */
import { closing, type Place } from "./places.ts";

/** Adds the places of the block whose brace is at `open`, in order. @returns the position after the block */
export function assemblyPlaces(code: string, open: number, places: Place[]): number {
  const end = closing(code, open);
  for (let at = skip(code, open + 1); at < end; at = skip(code, at)) at = statement(code, at, places);
  return end + 1;
}

function skip(code: string, at: number): number {
  let next = at;
  while (/\s/.test(code[next] ?? "x")) next++;
  return next;
}

/** @returns the position after the expression at `at`: a name, a literal or a call */
function expressionEnd(code: string, at: number): number {
  const name = /^[\w.$]+/.exec(code.slice(at, at + 200))?.[0] ?? "";
  if (name === "") throw new Error(`No expression of assembly begins with "${code.slice(at, at + 20)}".`);
  const end = at + name.length;
  return code[end] === "(" ? closing(code, end) + 1 : end;
}

/** @returns the position after the statement at `at` */
function statement(code: string, at: number, places: Place[]): number {
  if (code[at] === "{") return assemblyPlaces(code, at, places);
  const word = /^\w+/.exec(code.slice(at, at + 20))?.[0] ?? "";
  const next = skip(code, at + word.length);
  if (word === "default") return assemblyPlaces(code, next, places);
  if (word === "function") return assemblyPlaces(code, code.indexOf("{", at), places);
  if (word === "case" || word === "switch" || word === "if") {
    const end = expressionEnd(code, next);
    if (word === "if") places.push({ kind: "test", start: next, end });
    return word === "switch" ? end : assemblyPlaces(code, skip(code, end), places);
  }
  if (word === "for") {
    const test = skip(code, assemblyPlaces(code, next, places));
    const end = expressionEnd(code, test);
    places.push({ kind: "test", start: test, end });
    const body = assemblyPlaces(code, skip(code, end), places);
    return assemblyPlaces(code, skip(code, body), places);
  }
  const assigned = /^(?:let )?([\w.]+(?:,\s*\w+)*)(?:\s*:=\s*)?/.exec(code.slice(at, at + 300));
  const isAssignment = assigned?.[0].includes(":=") ?? false;
  if (word === "let" && !isAssignment) return at + (assigned?.[0].length ?? 0);
  const end = expressionEnd(code, at + (isAssignment ? (assigned?.[0].length ?? 0) : 0));
  if (isAssignment && assigned?.[1]?.includes(",") !== true)
    places.push({ kind: "assignment", start: at, end });
  if (!isAssignment) places.push({ kind: "call", start: at, end });
  return end;
}

/** What a call becomes, by its name. */
const CALLS: Readonly<Record<string, (inner: string) => string>> = {
  lt: (inner) => `iszero(gt(${inner}))`,
  gt: (inner) => `iszero(lt(${inner}))`,
  slt: (inner) => `iszero(sgt(${inner}))`,
  sgt: (inner) => `iszero(slt(${inner}))`,
  eq: (inner) => `iszero(eq(${inner}))`,
  iszero: (inner) => `iszero(iszero(${inner}))`,
  add: (inner) => `sub(${inner})`,
  sub: (inner) => `add(${inner})`,
  and: (inner) => `or(${inner})`,
  or: (inner) => `and(${inner})`,
  xor: (inner) => `or(${inner})`,
  shl: (inner) => `shr(${inner})`,
  shr: (inner) => `shl(${inner})`,
  sar: (inner) => `shr(${inner})`,
  sdiv: (inner) => `div(${inner})`,
};
const CALL = new RegExp(`\\b(${Object.keys(CALLS).join("|")})\\(`, "g");
const LITERAL = /(?<![\w.])(?:0x[\dA-Fa-f]+|\d+)(?![\w.])/g;

/** What a place becomes, one text a mutant. An empty one leaves the statement out. */
export function assemblyVariants(own: string, { kind }: Place): string[] {
  const found: string[] = [];
  for (const { 0: head, 1: name = "", index } of own.matchAll(CALL)) {
    const open = index + head.length - 1;
    const close = closing(own, open);
    const to = (CALLS[name] as (inner: string) => string)(own.slice(open + 1, close));
    found.push(own.slice(0, index) + to + own.slice(close + 1));
  }
  for (const { 0: digits, index } of own.matchAll(LITERAL)) {
    const higher = BigInt(digits) + 1n;
    const to = digits.startsWith("0x") ? `0x${higher.toString(16)}` : String(higher);
    found.push(own.slice(0, index) + to + own.slice(index + digits.length));
  }
  if (kind === "call" || (kind === "assignment" && !own.startsWith("let "))) found.push("");
  return found;
}

/** A place's code with its mutants. A test has no statement to choose by: there all are computed, and one is taken. */
export function assemblyGuarded(
  own: string,
  { kind }: Place,
  variants: readonly string[],
  firstId: number,
): string {
  const isId = (i: number): string => `eq(coinbase(), ${firstId + i})`;
  if (kind === "test")
    return variants.reduce(
      (text, variant, i) => `xor(${text}, mul(${isId(i)}, xor(${own}, ${variant})))`,
      own,
    );
  const set = (text: string): string => text.replace(/^let /, "");
  // No switch: its value would stay on the stack.
  const cases = variants.map((variant, i) => `if ${isId(i)} { ${set(variant)} }`);
  const declared = /^let \w+/.exec(own)?.[0] ?? "";
  const isOther = `gt(sub(coinbase(), ${firstId}), ${variants.length - 1})`;
  return `${declared} ${cases.join(" ")} if ${isOther} { ${set(own)} }`;
}

/** Mutants of assembly whose code is around a column of a line. */
export function assemblyMutantAt(before: string): number | undefined {
  const ids = [...before.matchAll(/eq\(coinbase\(\), (\d+)\)/g)].at(-1);
  const id = ids?.[1];
  return id === undefined ? undefined : Number(id);
}
