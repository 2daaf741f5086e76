import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { DEEP_ALONE, LONG, NAMED_SUITES } from "./vitest.named.config.ts";

/** Loaded for each test file anew, from two files instead of a thousand. */
const deps = {
  optimizer: { ssr: { enabled: true, include: ["viem", "viem/accounts", "zod", "commander", "express"] } },
};

/** These look at how modules are loaded, and load them anew. */
const ALONE = ["test/base/{bytes,errors}.test.ts", "test/explorer/site/sqlite.test.ts"];
// A hang ends the run; a slow machine does not.
const limits = { testTimeout: 900_000, hookTimeout: 900_000 };

export default defineConfig({
  test: {
    // Tests with processes wait a good part of their time.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          name: "unit",
          // What files share is loaded once by each worker: no module of theirs keeps state that another would see.
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: [
            ...["integration", "contracts", ...NAMED_SUITES].map((folder) => `test/${folder}/**`),
            ...LONG,
            ...DEEP_ALONE,
            ...ALONE,
          ],
          globalSetup: ["test/support/bundle-setup.ts"],
          ...limits,
          deps,
        },
      },
      { test: { name: "alone", include: ALONE, ...limits } },
      {
        test: {
          name: "integration",
          isolate: false,
          include: ["test/integration/**/*.test.ts"],
          exclude: [...LONG],
          globalSetup: ["test/support/compile-setup.ts", "test/support/bundle-setup.ts"],
          ...limits,
          deps,
        },
      },
    ],
  },
});
