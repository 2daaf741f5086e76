import { defineConfig } from "vitest/config";

/** The suites that need more than Node.js and npm, each in its own folder: `tools/named-suite.ts` runs one of them. */
export const NAMED_SUITES = ["browser", "executor", "ezkl"] as const;

export default defineConfig({
  test: {
    projects: NAMED_SUITES.map((name) => ({
      test: {
        name,
        include: [`test/${name}/**/*.test.ts`],
        globalSetup: ["test/support/compile-setup.ts"],
        fileParallelism: false,
        // A hang ends the run; a slow machine does not.
        testTimeout: 1_800_000,
        hookTimeout: 1_800_000,
      },
    })),
  },
});
