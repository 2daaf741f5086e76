import { defineConfig } from "vitest/config";

/** The suite that needs Python and ezkl: `npm run test:ezkl`. */
export default defineConfig({
  test: {
    include: ["test/ezkl/**/*.test.ts"],
    globalSetup: ["test/support/compile-setup.ts"],
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
});
