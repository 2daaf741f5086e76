/** What is mutated, and the tests that should notice. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../foundry.ts";
import type { ContractTarget } from "./contracts.ts";
import type { TypeScriptTarget } from "./typescript.ts";

/** Files of a folder, by path from the root. */
const inFolder = (folder: string, ending: string): string[] =>
  readdirSync(join(projectRoot, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`);

const libraries = (...names: readonly string[]): string[] =>
  names.map((name) => `verifier-contracts/libraries/${name}.sol`);
/** But for those of gas, which see guards, not faults. */
const tests = (...folders: readonly string[]): string[] =>
  folders
    .flatMap((folder) => inFolder(`test/contracts/${folder}`, ".t.sol"))
    .filter((file) => !file.endsWith("Gas.t.sol"));

const GAMES = "test/contracts/invariant/Games.t.sol";
const SETTLE = ["SettleByProof", "SettleBatch"].map((name) => `test/contracts/proof/${name}.t.sol`);

const WORDS = ["Swar", "Transpose"].map((name) => `test/contracts/libraries/${name}.t.sol`);

/** Whole programs and layers, the quickest first. */
const RUNS = [
  ...["RunVectors", "compiled/CompiledRuns", "PlanRuns", "compiled/LayerBuilder", "compiled/CompiledLayers"],
  ...["Halts", "WeightStore", "SettleByExecution"],
].map((name) => `test/contracts/execution/${name}.t.sol`);

const RECORDS = { file: "test/contracts/fuzz/Records.t.sol", few: 2_000, many: 60_000 };
/** Random programs, as `npm test` runs them: a second for each hundred. */
const PROGRAM_COUNT = 300;
/** Several times what a test takes without the optimizer. */
const GAS_LIMIT = 2_000_000_000;

/** Programs of all kinds, accepted and not, with what the TypeScript validator says of them. */
const PROGRAMS = "test/contracts/judge/ProgramVectors.t.sol";

export const TARGETS: Readonly<Record<string, ContractTarget | TypeScriptTarget>> = {
  /** The claim machine, `settle` and `settleBatch`. */
  game: {
    files: [
      ...inFolder("verifier-contracts/assay", ".sol"),
      ...libraries("ClaimWord", "RequestWord", "Settlements", "Terms"),
    ],
    tests: [...tests("assay"), ...SETTLE, GAMES],
    slow: [...SETTLE, GAMES],
  },
  judges: {
    files: [
      ...inFolder("verifier-contracts/opcodes", ".sol"),
      "verifier-contracts/generated/Elements.sol",
      ...["CodecJudge", "FloatJudge", "Judge", "TraceReader"].map((name) => `verifier-contracts/${name}.sol`),
      ...libraries("Merkle", "Openings", "Positions", "ProgramReader", "Shapes", "Values"),
    ],
    // The structure rules of an opcode stand beside its meaning.
    tests: tests("judge", "opcodes", "float", "codecs", "libraries", "registry"),
  },
  /** What runs whole tensors: kernels of one record, and the memory that they share. */
  kernels: {
    files: [
      ...inFolder("verifier-contracts/opcodes/rows", ".sol"),
      "verifier-contracts/generated/Kernels.sol",
      ...libraries("Flat", "Machine", "Swar", "Transpose"),
    ],
    tests: [...WORDS, ...tests("opcodes", "fuzz")],
    records: RECORDS,
    gasLimit: GAS_LIMIT,
  },
  codecs: {
    files: [...inFolder("verifier-contracts/opcodes/codecs", ".sol"), ...libraries("HeldTensors")],
    tests: [
      "test/contracts/libraries/HeldTensors.t.sol",
      ...tests("codecs", "execution"),
      "test/contracts/opcodes/WordKernels.t.sol",
    ],
    slow: tests("execution"),
    gasLimit: GAS_LIMIT,
  },
  /** Interpreters, plans, compiled layers, the store of weights. */
  execution: {
    files: [
      ...inFolder("verifier-contracts/execution", ".sol"),
      ...inFolder("verifier-contracts/execution/plan", ".sol"),
      ...inFolder("verifier-contracts/execution/compiled", ".sol"),
      ...libraries("Directory", "WeightStream"),
    ],
    programs: PROGRAM_COUNT,
    // Tests of gas see guards, not faults.
    tests: [
      ...tests("fuzz", "execution", "execution/compiled"),
      "test/contracts/opcodes/Dispatch.t.sol",
    ].filter((file) => !file.endsWith("Gas.t.sol")),
    slow: RUNS,
    records: RECORDS,
    gasLimit: GAS_LIMIT,
  },
  proof: {
    files: inFolder("verifier-contracts/proof", ".sol"),
    tests: tests("proof"),
  },
  registry: {
    files: [
      "verifier-contracts/ModelRegistry.sol",
      "verifier-contracts/generated/Rules.sol",
      ...libraries("ModelWord", "ProgramValidator", "StepRules"),
    ],
    tests: [...tests("registry"), PROGRAMS],
    slow: [PROGRAMS],
  },
  challenger: {
    files: ["challenger/decide.ts"],
    specs: ["test/challenger/decide.test.ts", "test/challenger/game.test.ts"],
  },
  prover: {
    files: ["prover/decide.ts"],
    specs: ["test/prover/decide.test.ts", "test/challenger/game.test.ts"],
  },
};
