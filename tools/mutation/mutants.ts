/** Small faults in source code, and one text that holds all of them behind guards: it is compiled once. */
import { createHash } from "node:crypto";
import type { Place } from "./places.ts";
import { findPlaces, type Language, masked } from "./statements.ts";
import { assemblyGuarded, assemblyMutantAt, assemblyVariants } from "./yul.ts";

export interface Mutant {
  /** 0 without a guard: it runs alone */
  readonly id: number;
  readonly file: string;
  readonly line: number;
  /** What was done, with the text before and after. */
  readonly name: string;
}

export const keyOf = ({ file, line, name }: Mutant): string => `${file}:${line} ${name}`;

/** Operators and what each becomes; spaces are the formatters'. */
const FLIPS: readonly (readonly [pattern: RegExp, to: string])[] = [
  [/ < /g, " <= "],
  [/ <= /g, " < "],
  [/ > /g, " >= "],
  [/ >= /g, " > "],
  [/ ===? /g, " != "],
  [/ !==? /g, " == "],
  [/ && /g, " || "],
  [/ \|\| /g, " && "],
  [/ \+ /g, " - "],
  [/ - /g, " + "],
];
const isAssembly = ({ kind }: Place): boolean => kind === "test" || kind === "assignment" || kind === "call";
const NUMBER = /(?<![\w.])\d+n?(?![\w.])/g;

/** What a place becomes, one text a mutant. An empty one leaves the statement out. */
function variants(text: string, place: Place): string[] {
  const own = text.slice(place.start, place.end);
  if (isAssembly(place)) return assemblyVariants(own, place);
  if (own.trim() === "") return [];
  const code = masked(text).slice(place.start, place.end);
  const replaced = (pattern: RegExp, to: (found: string) => string): string[] =>
    [...code.matchAll(pattern)].map(
      ({ 0: found, index }) => own.slice(0, index) + to(found) + own.slice(index + found.length),
    );
  const found = FLIPS.flatMap(([pattern, to]) => replaced(pattern, () => to));
  found.push(...replaced(NUMBER, (number) => number.replace(/\d+/, (digits) => String(BigInt(digits) + 1n))));
  // The opposite of a single comparison is there already, or nearly.
  if (place.kind === "condition" && (found.length === 0 || / && | \|\| /.test(code)))
    found.push(`!(${own.trim()})`);
  if (place.kind === "statement") found.push("");
  return found;
}

/** How a language asks at run time whether a mutant is the one that runs. */
const GUARDS: Readonly<Record<Language, (id: number) => string>> = {
  // The one fact of a block that nothing here reads, and that forge takes from its command line.
  solidity: (id) => `block.coinbase == address(uint160(${id}))`,
  typescript: (id) => `process.env.MUTANT === "${id}"`,
};

/** Mutant whose code is around a column of a line, as a compiler names it. */
export function mutantAt(line: string, column: number): number | undefined {
  const before = line.slice(0, column - 1);
  const guards = [...before.matchAll(/address\(uint160\((\d+)\)\)/g)];
  const id = guards.at(-1)?.[1];
  return id === undefined ? assemblyMutantAt(before) : Number(id);
}

/** A source with one mutant in place of what it changes.
 *  @throws Error when it has no such mutant */
export function applied({ file, line, name }: Mutant, text: string): string {
  for (const place of findPlaces(text, languageOf(file))) {
    if (lineOf(text, place) !== line) continue;
    const own = text.slice(place.start, place.end);
    const variant = variants(text, place).find((one) => nameOf(own, one) === name);
    if (variant !== undefined) return text.slice(0, place.start) + variant + text.slice(place.end);
  }
  throw new Error(`${file} has no mutant ${name} in line ${line}.`);
}

export interface Instrumented {
  readonly text: string;
  readonly mutants: readonly Mutant[];
}

/** Line numbers stay those of the source, whatever stands before. */
const onOneLine = (text: string): string => text.replace(/\/\/[^\n]*/g, "").replace(/\s*\n\s*/g, " ");
const squeezed = (text: string): string => text.replace(/\s+/g, " ").trim();

const languageOf = (file: string): Language => (file.endsWith(".sol") ? "solidity" : "typescript");
const lineOf = (text: string, { start }: Place): number => text.slice(0, start).split("\n").length;
const nameOf = (own: string, variant: string): string =>
  `${squeezed(own)} → ${squeezed(variant) || "(left out)"}`;

/** @param firstId id of the first mutant; 0 is the code as it is
 *  @param isLeftOut mutants that a compiler could not bear */
export function instrument(
  file: string,
  text: string,
  firstId: number,
  isLeftOut: (line: number, name: string) => boolean = () => false,
): Instrumented {
  const language = languageOf(file);
  const mutants: Mutant[] = [];
  let out = "";
  let done = 0;
  for (const place of findPlaces(text, language)) {
    const line = lineOf(text, place);
    const own = text.slice(place.start, place.end);
    const found = variants(text, place).filter((variant) => !isLeftOut(line, nameOf(own, variant)));
    if (found.length === 0 || place.start < done) continue;
    const first = firstId + mutants.length;
    let guarded = place.kind === "statement" ? `{ ${own} }` : `(${own})`;
    if (isAssembly(place)) guarded = onOneLine(assemblyGuarded(own, place, found, first));
    for (let i = found.length - 1; i >= 0 && !isAssembly(place); i--) {
      const variant = onOneLine(found[i] as string);
      const guard = GUARDS[language](first + i);
      guarded =
        place.kind === "statement"
          ? `{ if (${guard}) { ${variant} } else ${guarded} }`
          : `(${guard} ? (${variant}) : ${guarded})`;
    }
    for (const variant of found) {
      mutants.push({ id: firstId + mutants.length, file, line, name: nameOf(own, variant) });
    }
    out += text.slice(done, place.start) + guarded;
    done = place.end;
  }
  return { text: out + text.slice(done), mutants };
}

/** Solidity's guards read the block, which pure functions may not. */
export function withoutPure(text: string): string {
  const code = masked(text);
  let out = "";
  let done = 0;
  for (const { index } of code.matchAll(/\bpure\b/g)) {
    out += `${text.slice(done, index)}view`;
    done = index + "pure".length;
  }
  return out + text.slice(done);
}

export const hashOf = (texts: readonly string[]): string =>
  createHash("sha256").update(texts.join("\0")).digest("hex");
