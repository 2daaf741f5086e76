/** Faults for the contracts that run programs, in a copy of their sources: two steps that meet wrongly in memory, in a
 *  plan or at the end of a chunk. A fuzzer that does not find one of them would not find it in the contracts either. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadArtifacts, readArtifact } from "../../cli/artifacts.ts";
import type { Artifact, DeployedContract } from "../../protocol/chain/deploy/parts.ts";
import { foundryBinary, projectRoot } from "../../tools/foundry.ts";
import type { Mutant } from "../../tools/mutant.ts";
import { collectSources, mutate } from "../../tools/mutants.ts";

/** What runs programs, and is compiled anew for each fault. */
const CONTRACTS = ["Interpreter", "FastInterpreter", "Planner", "LayerBuilder"] as const;

const ROWS = "verifier-contracts/opcodes/rows";
const PLAN = "verifier-contracts/execution/plan";
const caughtBy = "programs.test.ts";

const planted = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  caughtBy,
  edits: [{ file, from, to }],
});

export const PLANTED: readonly Mutant[] = [
  planted(
    "a MOVE that shares memory begins at another element",
    `${ROWS}/MoveRows.sol`,
    "plan.word(0) * Shapes.elementBytes(out.code()));",
    "plan.word(0));",
  ),
  planted(
    "a MOVE of a plan that shares memory begins at another element",
    `${PLAN}/PlanMoves.sol`,
    "first * Shapes.elementBytes(out.code()));",
    "first);",
  ),
  planted(
    "a MOVE that shares memory takes a repeat for a run",
    `${ROWS}/MoveRows.sol`,
    "plan.word(MovePlan.COUNT) == 1 && plan.word(MovePlan.STEP) == 1",
    "plan.word(MovePlan.COUNT) == 1",
  ),
  planted(
    "an ARITH step's tensor is given back as soon as it is made",
    `${ROWS}/ArithRows.sol`,
    "flat = out.allocate();\n            uint256 free = Memory.mark();",
    "uint256 free = Memory.mark();\n            flat = out.allocate();",
  ),
  planted(
    "the weights are given back with a DOT step's memory",
    `${ROWS}/DotRows.sol`,
    "Machines.hold(m);\n            uint256 free = Memory.mark();",
    "uint256 free = Memory.mark();",
  ),
  planted(
    "tensors of a plan overlap by a part of a word",
    `${PLAN}/PlanWriter.sol`,
    "d.top += (size + 63) & ~uint256(31);",
    "d.top += size & ~uint256(31);",
  ),
  planted(
    "scratch memory of a plan's DOT overlaps its result",
    `${PLAN}/PlanWriter.sol`,
    ".with(DOT_SCRATCH, d.top)",
    ".with(DOT_SCRATCH, d.top - 64)",
  ),
  planted(
    "a plan's cast of s32 reads on where its operand is one element",
    `${PLAN}/PlanElements.sol`,
    "else if (wide && aStep != 0) return _cast(d, out, a);",
    "else if (wide) return _cast(d, out, a);",
  ),
  planted(
    "a text's ids stand on what an earlier step left in memory",
    `${PLAN}/PlanRun.sol`,
    "if eq(codec, INPUT_TEXT) {",
    "if 0 {",
  ),
  planted(
    "a short strided run spills over the pad or operand behind",
    `${ROWS}/CopyRuns.sol`,
    "mstore(end, behind)",
    "",
  ),
  planted(
    "a look-up row that runs over a chunk's end reads zeros, in a plan",
    `${PLAN}/PlanLookup.sol`,
    "if gt(offset, sub(CHUNK_BYTES, rowBytes)) {",
    "if 0 {",
  ),
  planted(
    "a look-up row that runs over a chunk's end reads zeros",
    `${ROWS}/LookupRows.sol`,
    "if gt(rest, CHUNK_BYTES) {",
    "if 0 {",
  ),
  planted(
    "weights of a plan that run over a chunk's end go on in the same chunk",
    `${PLAN}/PlanRun.sol`,
    "chunk := add(chunk, 0x20)\n                offset := 0",
    "offset := 0",
  ),
  planted(
    "parts of a compiled layer begin one row early",
    "verifier-contracts/execution/LayerBuilder.sol",
    "packPart(step, layer.width * row, made, part)",
    "packPart(step, layer.width * (row == 0 ? 0 : row - 1), made, part)",
  ),
];

const read = (file: string): string => readFileSync(join(projectRoot, file), "utf8");

/** The sources that the faults are planted in. */
export function plantedSources(): Map<string, string> {
  const sources = new Map<string, string>();
  for (const name of CONTRACTS) collectSources(`verifier-contracts/execution/${name}.sol`, read, sources);
  return sources;
}

/** Compiles the contracts with one fault at a time, in a folder that `close` removes. */
export class PlantedContracts {
  readonly #folder = mkdtempSync(join(tmpdir(), "assay-planted-"));
  readonly #sources: ReadonlyMap<string, string> = plantedSources();
  readonly #artifacts = loadArtifacts();

  constructor() {
    const solc = JSON.stringify(join(projectRoot, "tools", "solc"));
    const config = read("foundry.toml")
      .replace('solc = "tools/solc"', `solc = ${solc}`)
      .replace(/^(out|cache_path) = "build\/(.*)"$/gm, '$1 = "$2"');
    this.#write("foundry.toml", config);
    // The packages that contracts import.
    symlinkSync(join(projectRoot, "node_modules"), join(this.#folder, "node_modules"));
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** @throws Error when a fault's place is not there any more, or the compiler refuses it */
  compile(mutant: Mutant): Record<DeployedContract, Artifact> {
    for (const [file, text] of mutate(this.#sources, mutant)) this.#write(file, text);
    const { status, error, stdout, stderr } = spawnSync(foundryBinary("forge"), ["build"], {
      cwd: this.#folder,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
      env: { ...process.env, FOUNDRY_PROFILE: "default" },
    });
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(`forge build failed:\n${stdout}${stderr}`);
    const compiled = CONTRACTS.map((name) => [name, this.#read(name)] as const);
    return { ...this.#artifacts, ...Object.fromEntries(compiled) };
  }

  #read(name: string): Artifact {
    return readArtifact(join(this.#folder, "out", `${name}.sol`, `${name}.json`));
  }

  #write(file: string, text: string): void {
    const path = join(this.#folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
