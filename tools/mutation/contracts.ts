/** Runs mutants of contracts: all of them are compiled once, in a copy of the sources, each behind a guard that asks
 *  for the block's coinbase, which forge takes from its command line. Those whose guard the compiler cannot bear, for
 *  want of stack, are compiled one by one in the source itself. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DEPLOYED_CONTRACTS, type DeployedContract } from "../../protocol/chain/deploy/parts.ts";
import { projectRoot } from "../foundry.ts";
import { collectSources } from "../mutants.ts";
import { applied, hashOf, instrument, keyOf, type Mutant, mutantAt, withoutPure } from "./mutants.ts";
import { type ForgeRun, Scratch } from "./scratch.ts";

/** Stands for whole programs, which run on a chain that holds the contracts with all mutants. */
const PROGRAMS = "test/protocol/chain/execution/programs.test.ts";

export interface ProgramRuns {
  /** @param hint name of the program that runs first
   *  @returns name of a program by which the chain does not do what the executor does, and what it did */
  find(
    id: number,
    hint?: string,
  ): Promise<{ readonly name: string; readonly difference: string } | undefined>;
  close(): Promise<void>;
}

/** @param paths files of the compiled contracts @param count of random programs */
export type OpenPrograms = (
  paths: Readonly<Record<DeployedContract, string>>,
  count: number,
) => Promise<ProgramRuns>;

export interface ContractTarget {
  readonly files: readonly string[];
  /** Test files; a mutant is caught when one of their tests fails that passes without it. */
  readonly tests: readonly string[];
  /** Those that take longer, the quickest first: each sees only what the ones before let through. */
  readonly slow?: readonly string[];
  /** So many random programs run before all tests. */
  readonly programs?: number;
  /** A file whose random records see what all others let through, so many elements of each opcode; before that it runs
   *  with few. */
  readonly records?: { readonly file: string; readonly few: number; readonly many: number };
  /** Ends a test that has no end. */
  readonly gasLimit?: number;
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

const LEAST_TIMEOUT_MS = 180_000;

export class ContractMutants {
  readonly mutants: readonly Mutant[];
  /** As they were when this began, by path. */
  readonly #sources = new Map<string, string>();
  /** The same with guards. */
  #guarded: ReadonlyMap<string, string> = new Map();
  readonly #scratch: Scratch;
  readonly #tests: readonly string[];
  readonly #slow: readonly string[];
  readonly #records: ContractTarget["records"];
  readonly #gasLimit: number | undefined;
  readonly #programs: number;
  readonly #openPrograms: OpenPrograms;
  /** Ends tests that have no end; 0 until it is known how long they take. */
  #timeoutMs = 0;
  /** The chain of the contracts with guards. */
  #runs: ProgramRuns | undefined;
  /** Tests that fail without a mutant: they are about gas or sizes. */
  #baseline: readonly string[] = [];

  /** @param folder scratch, kept between runs so that forge need not compile again */
  constructor(
    folder: string,
    { files, tests, slow = [], records, gasLimit, programs = 0 }: ContractTarget,
    openPrograms: OpenPrograms,
  ) {
    this.#openPrograms = openPrograms;
    this.#scratch = new Scratch(folder);
    this.#records = records;
    this.#gasLimit = gasLimit;
    this.#programs = programs;
    this.#tests = tests;
    this.#slow = slow;
    const sources = this.#sources;
    for (const test of tests) collectSources(test, readSource, sources);
    const unused = files.filter((file) => !sources.has(file));
    if (unused.length > 0) throw new Error(`No test of the target imports ${unused.join(", ")}.`);
    // What the compiler could not bear the last time, with the same sources.
    const version = hashOf(files.map((file) => sources.get(file) as string));
    const leftOut = new Set(this.#scratch.leftOut(version));
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
      if (isCompiled(output)) {
        this.#scratch.keepLeftOut(version, leftOut);
        break;
      }
      const before = leftOut.size;
      for (const [message, file = "", line = "", column = ""] of wrong) {
        const text = (texts.get(file) ?? "").split("\n")[Number(line) - 1] ?? "";
        const id = /[Ss]tack too deep/.test(message) ? undefined : mutantAt(text, Number(column));
        const mutant = mutants.find((one) => one.id === id);
        if (mutant !== undefined) leftOut.add(`${file}:${mutant.line} ${mutant.name}`);
        else
          for (const at of functionAround(texts.get(file) ?? "", Number(line))) leftOut.add(`${file}:${at}`);
      }
      // Assembly that wants more stack is named by a variable alone.
      const [, variable] = /Variable (\w+) is \d+ slot/.exec(output) ?? [];
      if (leftOut.size === before && variable !== undefined)
        for (const file of files)
          for (const at of linesWith(texts.get(file) ?? "", variable)) leftOut.add(`${file}:${at}`);
      if (leftOut.size === before) throw new Error(`The sources do not compile:\n${output.slice(-4000)}`);
      console.log(`${leftOut.size} mutants or lines do not compile with guards`);
    }
    const kept = new Set(guarded.map(keyOf));
    const all = files.flatMap((file) => instrument(file, sources.get(file) as string, 1).mutants);
    const alone = all.filter((mutant) => !kept.has(keyOf(mutant))).map((mutant) => ({ ...mutant, id: 0 }));
    this.mutants = [...guarded, ...alone];
    const start = performance.now();
    this.#baseline = [...new Set(failures(this.#test(0).output).map(({ test }) => test))];
    // On a busy machine all takes longer, and what takes long is not endless.
    this.#timeoutMs = Math.max(LEAST_TIMEOUT_MS, Math.round(2 * (performance.now() - start)));
    console.log(`without a mutant fail: ${this.#baseline.join(", ") || "none"}`);
  }

  /** @param hint test that caught it before, or one like it: it runs first
   *  @param isQuick leaves out slow tests and the long run of random records */
  async run(mutant: Mutant, hint?: Killer, isQuick = false): Promise<Outcome> {
    if (mutant.id !== 0) {
      this.#runs ??= await this.#open();
      return (await this.#play(this.#runs, mutant.id, hint)) ?? this.#run(mutant.id, hint, isQuick);
    }
    const { file } = mutant;
    this.#scratch.write(file, withoutPure(applied(mutant, this.#sources.get(file) as string)));
    try {
      if (!isCompiled(this.#scratch.build())) return { kind: "uncompilable" };
      const runs = await this.#open(false);
      try {
        return (await this.#play(runs, 0, hint)) ?? this.#run(0, hint, isQuick);
      } finally {
        await runs?.close();
      }
    } finally {
      this.#scratch.write(file, this.#guarded.get(file) as string);
    }
  }

  async close(): Promise<void> {
    await this.#runs?.close();
  }

  /** @param isWhole they must all run as the executor does */
  async #open(isWhole = true): Promise<ProgramRuns | undefined> {
    if (this.#programs === 0) return undefined;
    const paths = this.#scratch.artifactPaths(DEPLOYED_CONTRACTS);
    const runs = await this.#openPrograms(paths, this.#programs);
    const wrong = isWhole ? await runs.find(0) : undefined;
    if (wrong === undefined) return runs;
    await runs.close();
    throw new Error(`Without a mutant ${wrong.name} fails: ${wrong.difference}`);
  }

  async #play(runs: ProgramRuns | undefined, id: number, hint?: Killer): Promise<Outcome | undefined> {
    const found = await runs?.find(id, hint?.file === PROGRAMS ? hint.test : undefined);
    return found && { kind: "caught", by: { file: PROGRAMS, test: found.name } };
  }

  #run(id: number, hint: Killer | undefined, isQuick: boolean): Outcome {
    const rounds = isQuick ? [] : this.#slow.map((file) => ["--match-path", file]);
    rounds.unshift(this.#slow.length === 0 ? [] : ["--no-match-path", `{${this.#slow.join(",")}}`]);
    // A result may be older than the target's list of tests.
    if (hint !== undefined && this.#sources.has(hint.file)) rounds.unshift(this.#only(hint));
    const { few, many, file = "" } = this.#records ?? {};
    const runs = rounds.map((chosen) => ({ chosen, elements: few }));
    if (many !== undefined && !isQuick) {
      // First those of the opcode that saw a fault of the same file.
      if (hint?.file === file) runs.push({ chosen: this.#only(hint), elements: many });
      runs.push({ chosen: ["--match-path", file], elements: many });
    }
    for (const { chosen, elements } of runs) {
      const { output, isTimeout } = this.#test(id, ["--fail-fast", ...chosen], elements);
      if (isTimeout) return { kind: "timeout" };
      const by = failures(output).find(({ test }) => !this.#baseline.includes(test));
      if (by !== undefined) return { kind: "caught", by };
    }
    return { kind: "survived" };
  }

  /** All that a mutant is put to. */
  get tests(): readonly string[] {
    return this.#programs > 0 ? [PROGRAMS, ...this.#tests] : this.#tests;
  }

  /** One test if it is still there; what failed may have been its file's setUp. */
  #only({ file, test }: Killer): string[] {
    const isThere = test?.startsWith("test") && this.#sources.get(file)?.includes(`function ${test}(`);
    return ["--match-path", file, ...(isThere ? ["--match-test", `^${test}\\b`] : [])];
  }

  /** Hash of test files with all that they import; an outcome holds as long as it does. */
  fingerprint(tests: readonly string[]): string {
    const found = new Map<string, string>();
    for (const test of tests) {
      if (test !== PROGRAMS) collectSources(test, (file) => this.#sources.get(file) ?? "", found);
      else
        for (const [file, text] of [...collectSources(test, readSource), ...this.#sources])
          found.set(file, text);
    }
    return hashOf([...found].flat());
  }

  #test(id: number, chosen: readonly string[] = [], elements = this.#records?.many): ForgeRun {
    const without =
      this.#baseline.length === 0 ? [] : ["--no-match-test", `^(${this.#baseline.join("|")})\\b`];
    const coinbase = `0x${id.toString(16).padStart(40, "0")}`;
    const gas = this.#gasLimit === undefined ? [] : ["--gas-limit", String(this.#gasLimit)];
    const env: Record<string, string> = elements === undefined ? {} : { RECORD_ELEMENTS: String(elements) };
    const args = ["--block-coinbase", coinbase, ...gas, ...chosen, ...without];
    return this.#scratch.test(args, this.#timeoutMs, env);
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

/** Lines of all functions whose assembly uses a variable. */
function linesWith(text: string, variable: string): number[] {
  const found = text
    .split("\n")
    .flatMap((line, i) => (new RegExp(`\\b${variable} :=`).test(line) ? [i + 1] : []));
  return found.flatMap((line) => functionAround(text, line));
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
