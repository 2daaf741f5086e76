import { defineConfig } from "vitest/config";
import { NAMED_SUITES } from "./vitest.named.config.ts";

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["integration", "contracts", ...NAMED_SUITES].map((folder) => `test/${folder}/**`),
          globalSetup: ["test/support/compile-setup.ts"],
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
          testTimeout: 900_000,
          hookTimeout: 900_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
