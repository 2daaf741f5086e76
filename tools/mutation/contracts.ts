/** Runs mutants of contracts: all of them are compiled once, in a copy of the sources, each behind a guard that asks
 *  for the block's coinbase, which forge takes from its command line. Those whose guard the compiler cannot bear, for
 *  want of stack, are compiled one by one in the source itself. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../foundry.ts";
import { collectSources } from "../mutants.ts";
import { applied, hashOf, instrument, keyOf, type Mutant, mutantAt, withoutPure } from "./mutants.ts";
import { type ForgeRun, Scratch } from "./scratch.ts";

export interface ContractTarget {
  readonly files: readonly string[];
  /** Test files; a mutant is caught when one of their tests fails that passes without it. */
  readonly tests: readonly string[];
  /** Those that take longer, the quickest first: each sees only what the ones before let through. */
  readonly slow?: readonly string[];
}

/** A test that fails with a mutant; without a name the whole file. */
export interface Killer {
  readonly file: string;
  readonly test?: string;
}

export type Outcome =
  | { readonly kind: "caught"; readonly by: Killer }
  | { readonly kind: "survived" }
  /** The tests did not end: look whether the mutant makes an endless loop. */
  | { readonly kind: "timeout" }
  /** A fault without which nothing compiles, such as a 1 for a hash. */
  | { readonly kind: "uncompilable" };

export class ContractMutants {
  readonly mutants: readonly Mutant[];
  /** As they were when this began, by path. */
  readonly #sources = new Map<string, string>();
  /** The same with guards. */
  #guarded: ReadonlyMap<string, string> = new Map();
  readonly #scratch: Scratch;
  readonly #slow: readonly string[];
  /** Tests that fail without a mutant: they are about gas or sizes. */
  #baseline: readonly string[] = [];

  /** @param folder scratch, kept between runs so that forge need not compile again */
  constructor(folder: string, { files, tests, slow = [] }: ContractTarget) {
    this.#scratch = new Scratch(folder);
    this.#slow = slow;
    const sources = this.#sources;
    for (const test of tests) collectSources(test, readSource, sources);
    const unused = files.filter((file) => !sources.has(file));
    if (unused.length > 0) throw new Error(`No test of the target imports ${unused.join(", ")}.`);
    const leftOut = new Set<string>();
    let guarded: readonly Mutant[];
    for (;;) {
      const mutants: Mutant[] = [];
      const texts = new Map<string, string>();
      for (const [file, source] of sources) {
        let text = source;
        if (files.includes(file)) {
          const found = instrument(
            file,
            source,
            mutants.length + 1,
            (line, name) => leftOut.has(`${file}:${line}`) || leftOut.has(`${file}:${line} ${name}`),
          );
          mutants.push(...found.mutants);
          text = found.text;
        }
        texts.set(file, withoutPure(text));
      }
      for (const [file, text] of texts) this.#scratch.write(file, text);
      const output = this.#scratch.build();
      guarded = mutants;
      this.#guarded = texts;
      const wrong = [
        ...output.matchAll(/^Error[^\n]*\n(?:(?!\s*-->)[^\n]+\n){0,3}\s*--> ([^:\s]+):(\d+):(\d+):/gm),
      ];
      if (isCompiled(output)) break;
      const before = leftOut.size;
      for (const [message, file = "", line = "", column = ""] of wrong) {
        const text = (texts.get(file) ?? "").split("\n")[Number(line) - 1] ?? "";
        const id = /[Ss]tack too deep/.test(message) ? undefined : mutantAt(text, Number(column));
        const mutant = mutants.find((one) => one.id === id);
        if (mutant !== undefined) leftOut.add(`${file}:${mutant.line} ${mutant.name}`);
        else
          for (const at of functionAround(texts.get(file) ?? "", Number(line))) leftOut.add(`${file}:${at}`);
      }
      if (leftOut.size === before) throw new Error(`The sources do not compile:\n${output.slice(-4000)}`);
      console.log(`${leftOut.size} mutants or lines do not compile with guards`);
    }
    const kept = new Set(guarded.map(keyOf));
    const all = files.flatMap((file) => instrument(file, sources.get(file) as string, 1).mutants);
    const alone = all.filter((mutant) => !kept.has(keyOf(mutant))).map((mutant) => ({ ...mutant, id: 0 }));
    this.mutants = [...guarded, ...alone];
    this.#baseline = [...new Set(failures(this.#test(0).output).map(({ test }) => test))];
    console.log(`without a mutant fail: ${this.#baseline.join(", ") || "none"}`);
  }

  /** @param hint test that caught it before: it runs first */
  run(mutant: Mutant, hint?: Killer): Outcome {
    if (mutant.id !== 0) return this.#run(mutant.id, hint);
    const { file } = mutant;
    this.#scratch.write(file, withoutPure(applied(mutant, this.#sources.get(file) as string)));
    try {
      const compiles = isCompiled(this.#scratch.build());
      return compiles ? this.#run(0, hint) : { kind: "uncompilable" };
    } finally {
      this.#scratch.write(file, this.#guarded.get(file) as string);
    }
  }

  #run(id: number, hint?: Killer): Outcome {
    const rounds = this.#slow.map((file) => ["--match-path", file]);
    rounds.unshift(rounds.length === 0 ? [] : ["--no-match-path", `{${this.#slow.join(",")}}`]);
    if (hint !== undefined) rounds.unshift(this.#only(hint));
    for (const chosen of rounds) {
      const { output, isTimeout } = this.#test(id, ["--fail-fast", ...chosen]);
      if (isTimeout) return { kind: "timeout" };
      const by = failures(output).find(({ test }) => !this.#baseline.includes(test));
      if (by !== undefined) return { kind: "caught", by };
    }
    return { kind: "survived" };
  }

  /** One test if it is still there; what failed may have been its file's setUp. */
  #only({ file, test }: Killer): string[] {
    const isThere = test?.startsWith("test") && this.#sources.get(file)?.includes(`function ${test}(`);
    return ["--match-path", file, ...(isThere ? ["--match-test", `^${test}\\b`] : [])];
  }

  /** Hash of test files with all that they import; an outcome holds as long as it does. */
  fingerprint(tests: readonly string[]): string {
    const found = new Map<string, string>();
    for (const test of tests) collectSources(test, (file) => this.#sources.get(file) ?? "", found);
    return hashOf([...found].flat());
  }

  #test(id: number, chosen: readonly string[] = []): ForgeRun {
    const without =
      this.#baseline.length === 0 ? [] : ["--no-match-test", `^(${this.#baseline.join("|")})\\b`];
    const coinbase = `0x${id.toString(16).padStart(40, "0")}`;
    return this.#scratch.test(["--block-coinbase", coinbase, ...chosen, ...without]);
  }
}

const readSource = (file: string): string => readFileSync(join(projectRoot, file), "utf8");

const isCompiled = (output: string): boolean => /Compiler run successful|No files changed/.test(output);

/** A reason may hold any bytes, ends of lines too, and forge may lose the bracket behind them. */
function failures(output: string): Required<Killer>[] {
  const found: Required<Killer>[] = [];
  let file = "";
  for (const [, path, test] of output.matchAll(
    /^Ran \d+ tests? for ([^:\n]+):|^\[FAIL[\s\S]*? (test\w+|invariant\w+|setUp)\(/gm,
  )) {
    if (path !== undefined) file = path;
    else if (test !== undefined) found.push({ file, test });
  }
  return found;
}

/** Lines of the function that holds a line. */
function functionAround(text: string, line: number): number[] {
  const lines = text.split("\n");
  const isStart = (at: number): boolean => /^\s*(function|modifier|constructor)\b/.test(lines[at - 1] ?? "");
  let first = line;
  while (first > 1 && !isStart(first)) first--;
  let last = line + 1;
  while (last <= lines.length && !isStart(last)) last++;
  return Array.from({ length: last - first }, (_, i) => first + i);
}
