import { defineConfig } from "vitest/config";

/** The suite that needs the local language model: `npm run test:executor`. */
export default defineConfig({
  test: {
    include: ["test/executor/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
});
