/** The second implementation of exact inference (`crates/assay-exact`), as a process that answers lines, and its
 *  comparison with the canonical executor. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { concatBytes, type Hex, toHex } from "../../base/bytes.ts";
import type { Subject } from "../../conformance/generate/shaped-program.ts";
import { encodeOutput } from "../../inference/codecs/output.ts";
import { commitTrace, commitWeights } from "../../inference/commit/commitments.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import type { Tensor } from "../../inference/program/form.ts";
import { projectRoot } from "../../tools/foundry.ts";

export const CRATES = join(projectRoot, "crates");
/** Where cargo builds, as `crates/.cargo/config.toml` says. */
export const CARGO_TARGET = join(projectRoot, "build", "cargo");

/** Runs cargo in a folder of crates.
 *  @returns what it printed to its standard output
 *  @throws with what it printed elsewhere, if it fails */
export function cargo(arguments_: readonly string[], folder = CRATES, target = CARGO_TARGET): string {
  const env = { ...process.env, CARGO_TARGET_DIR: target, CARGO_TERM_COLOR: "never" };
  return execFileSync("cargo", arguments_, { cwd: folder, env, encoding: "utf8", maxBuffer: 1 << 26 });
}

/** @returns the path of the program `assay-exact` */
export function buildProgram(folder = CRATES, target = CARGO_TARGET): string {
  cargo(["build", "--quiet", "--jobs", "1"], folder, target);
  return join(target, "debug", "assay-exact");
}

export class RustExecutor {
  readonly #process;
  readonly #answers: AsyncIterator<string>;

  private constructor(binary: string) {
    this.#process = spawn(binary, ["lines"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** Builds it first. */
  static build(folder = CRATES, target = CARGO_TARGET): RustExecutor {
    return new RustExecutor(buildProgram(folder, target));
  }

  /** @returns the words of its answer behind "ok"; undefined where it refuses
   *  @throws Error when it ends instead */
  async ask(...words: readonly string[]): Promise<readonly string[] | undefined> {
    this.#process.stdin.write(`${words.join(" ")}\n`);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error(`assay-exact ended at: ${words.join(" ").slice(0, 200)}`);
    const [verdict, ...answer] = value.split(" ");
    return verdict === "ok" ? answer.filter((word: string) => word !== "") : undefined;
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.stdin.end();
    await once(this.#process, "exit");
  }
}

/** What an answer holds in front of the steps' tensors. */
const PARTS = ["output", "weights root", "trace root"] as const;
const FIRST_STEP = PARTS.length;
const COPIES: readonly string[] = ["codec", "move"];

/** What was compared of some runs, and where they differ. */
export interface RunComparison {
  /** elements of steps that compute: those of CODEC and MOVE apart, which copy */
  readonly computed: number;
  /** elements by opcode */
  readonly byOpcode: ReadonlyMap<string, number>;
  readonly differences: readonly string[];
}

/** A subject's runs on all its inputs: output, weights root, trace root and each step's tensor.
 *  @param expected the canonical executor's tensors of an input */
export async function compareRuns(
  rust: RustExecutor,
  { name, model, selector, inputs }: Subject,
  expected = (calldata: Uint8Array): Tensor[] => trace(prepare(model, selector), calldata),
): Promise<RunComparison> {
  const { program } = model;
  const differences: string[] = [];
  const byOpcode = new Map<string, number>();
  const words = [encodeProgram(program), concatBytes(...model.weights), selector].map(toHex);
  for (const [i, calldata] of inputs.entries()) {
    const tensors = expected(calldata);
    const roots = [commitWeights(model).root, commitTrace(program, tensors).root];
    const parts = [encodeOutput(program, tensors.at(-1) as Tensor), ...roots, ...tensors.map(storedBytes)];
    const answer = await rust.ask("run", ...words, toHex(calldata));
    if (answer?.length !== parts.length) {
      differences.push(`${name}, input ${i}: ${answer === undefined ? "refused" : `${answer.length} parts`}`);
      continue;
    }
    const wrong = [...parts.entries()].filter(([part, bytes]) => answer[part] !== toHex(bytes));
    // Steps behind the first wrong one go on from it.
    const first = wrong.find(([part]) => part >= FIRST_STEP)?.[0] ?? FIRST_STEP;
    for (const [part, bytes] of wrong) {
      if (part > first) break;
      differences.push(`${name}, input ${i}: ${placeOf(part, program.steps, answer[part] as Hex, bytes)}`);
    }
    for (const [step, { opcode }] of program.steps.entries()) {
      byOpcode.set(opcode, (byOpcode.get(opcode) ?? 0) + (tensors[step] as Tensor).data.length);
    }
  }
  const computed = [...byOpcode].reduce(
    (sum, [opcode, count]) => sum + (COPIES.includes(opcode) ? 0 : count),
    0,
  );
  return { computed, byOpcode, differences };
}

function placeOf(
  part: number,
  steps: readonly { readonly opcode: string }[],
  found: Hex,
  bytes: Uint8Array,
): string {
  const step = part - FIRST_STEP;
  const name = PARTS[part] ?? `step ${step} (${steps[step]?.opcode})`;
  const expected = toHex(bytes);
  const digit = [...expected].findIndex((character, i) => character !== found[i]);
  if (digit < 0) return `${name}: ${found.length / 2 - 1} bytes, executor ${bytes.length}`;
  const byte = Math.floor(digit / 2) - 1;
  const some = (text: string): string => text.slice(2 + 2 * byte, 18 + 2 * byte);
  return `${name}, byte ${byte} of ${bytes.length} on: ${some(found)}, executor ${some(expected)}`;
}

/** A tensor's elements as they are stored, rows without padding. */
function storedBytes({ data }: Tensor): Uint8Array {
  if (data instanceof Uint8Array) return data;
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  const bytes = new Uint8Array(4 * bits.length);
  const view = new DataView(bytes.buffer);
  for (const [i, word] of bits.entries()) view.setUint32(4 * i, word);
  return bytes;
}
