import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** The suites that need more than Node.js and npm, and the agents as processes, which take minutes, each in its own
 *  folder: `tools/named-suite.ts` runs one of them. */
export const NAMED_SUITES = [
  "agent-processes",
  "browser",
  "chaos",
  "cpus",
  "executor",
  "explorer-pages",
  "ezkl",
  "fleet",
  "mcp",
  "onnx",
  "operators",
  "outside",
  "packages",
  "python",
  "rust",
  "sequences",
] as const;
/** Of these, the ones whose files run beside each other. */
const PARALLEL: readonly string[] = ["agent-processes", "operators", "packages", "python"];

/** Of these, the ones in which a worker loads what its files share once: no module there keeps state. */
const SHARING: readonly string[] = ["agent-processes", "explorer-pages", "operators", "packages"];

/** Tests that take long: not in `npm test`, but in `npm run test:long`, and with more cases in `npm run test:deep`. */
export const LONG = [
  "test/challenger/promises/moves.test.ts",
  "test/cli/anvil-state.test.ts",
  "test/conformance/faults.test.ts",
  "test/integration/{every-step,imported,operators,reorg,trees}.test.ts",
  "test/protocol/chain/execution/planted-programs.test.ts",
  "test/prover/ceremony-chain.test.ts",
  "test/prover/proof/groth16/{random-programs,soundness}.test.ts",
  "test/tools/opcode-missing.test.ts",
];

/** Suites of `npm test` that are played again with many more cases, in a suite of their own: `scaled` gives the
 *  numbers. */
const DEEP = [
  "test/challenger/game.test.ts",
  "test/cli/deploy-sources.test.ts",
  "test/inference/differential/quantized-files.test.ts",
  "test/inference/onnx/operator-faults.test.ts",
  "test/inference/onnx/one-unit-{integers,products,rows}.test.ts",
  "test/protocol/chain/audit-promises.test.ts",
  "test/protocol/chain/execution/{execution,operators,programs}.test.ts",
  "test/protocol/rules/{machine-play,promises,promises-contract,state-space}.test.ts",
  "test/prover/proof/groth16/{compile,gadgets}.test.ts",
];

/** In `npm run test:deep` alone: `npm test` plays games of machine and contract that are shorter. */
export const DEEP_ALONE = ["test/protocol/rules/machine-contract.test.ts"];

/** What takes minutes of two cores, and whose subject others touch on every change: in `npm run test:nightly`, long ones in
 *  `npm run test:deep` too. */
const NIGHTLY = [
  "test/chaos/adversarial-soak.test.ts",
  "test/conformance/faults.test.ts",
  "test/explorer-pages/looks.test.ts",
  "test/ezkl/bench.test.ts",
  "test/protocol/chain/execution/planted-programs.test.ts",
  "test/prover/ceremony-chain.test.ts",
  "test/rust/rust-faults.test.ts",
];
const isShallow = process.env.TEST_DEPTH === undefined;

const SETUP = ["test/support/compile-setup.ts", "test/support/bundle-setup.ts"];
// A hang ends the run; a slow machine does not.
const limits = { testTimeout: 1_800_000, hookTimeout: 1_800_000 };

export default defineConfig({
  test: {
    maxWorkers: availableParallelism() + 1,
    projects: [
      ...NAMED_SUITES.map((name) => ({
        test: {
          name,
          include: [`test/${name}/**/*.test.ts`],
          exclude: isShallow ? NIGHTLY : [],
          globalSetup: [...SETUP, ...(name === "python" ? ["test/support/python-setup.ts"] : [])],
          fileParallelism: PARALLEL.includes(name),
          isolate: !SHARING.includes(name),
          ...limits,
        },
      })),
      {
        test: {
          name: "long",
          include: LONG,
          exclude: isShallow ? NIGHTLY : [],
          globalSetup: SETUP,
          ...limits,
        },
      },
      {
        test: {
          name: "deep",
          include: [...DEEP, ...DEEP_ALONE, ...LONG],
          globalSetup: SETUP,
          env: { TEST_DEPTH: process.env.TEST_DEPTH ?? "deep" },
          ...limits,
        },
      },
    ],
  },
});
