import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [
            "test/integration/**",
            "test/contracts/**",
            "test/ezkl/**",
            "test/browser/**",
            "test/executor/**",
          ],
          // A hang ends the run; a slow machine does not.
          testTimeout: 900_000,
          hookTimeout: 900_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          globalSetup: ["test/support/compile-setup.ts"],
          fileParallelism: false,
          testTimeout: 900_000,
          hookTimeout: 900_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
