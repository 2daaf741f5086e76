import { defineConfig } from "vitest/config";

/** The suites that need more than Node.js and npm, each in its own folder: `tools/named-suite.ts` runs one of them. */
export const NAMED_SUITES = ["browser", "executor", "ezkl", "onnx"] as const;

/** Tests that take long and seldom find anything: not in `npm test`, but in `npm run test:deep`. */
export const DEEP_ONLY = ["test/prover/ceremony-chain.test.ts"];

/** Suites of `npm test` that are played again with many more cases, in a suite of their own: `scaled` gives the
 *  numbers. */
const DEEP = [
  "test/integration/every-step.test.ts",
  "test/challenger/game.test.ts",
  "test/protocol/execution/{execution,operators}.test.ts",
  "test/protocol/machine-play.test.ts",
  "test/prover/proof/groth16/{compile,gadgets,soundness}.test.ts",
];

// A hang ends the run; a slow machine does not.
const limits = { testTimeout: 1_800_000, hookTimeout: 1_800_000 };

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      ...NAMED_SUITES.map((name) => ({
        test: {
          name,
          include: [`test/${name}/**/*.test.ts`],
          globalSetup: ["test/support/compile-setup.ts"],
          fileParallelism: false,
          ...limits,
        },
      })),
      {
        test: {
          name: "deep",
          include: [...DEEP, ...DEEP_ONLY],
          globalSetup: ["test/support/compile-setup.ts"],
          env: { TEST_DEPTH: "deep" },
          ...limits,
        },
      },
    ],
  },
});
