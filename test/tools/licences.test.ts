import { describe, expect, it } from "vitest";
import { licencesOf } from "../../tools/licences.ts";

describe("licencesOf", () => {
  it("default: each package once, in order, with its text; one without a text by the name of its licence", () => {
    const text = licencesOf([
      "tools/licences.ts",
      "\0virtual",
      "node_modules/viem/_esm/index.js",
      "node_modules/@sqlite.org/sqlite-wasm/index.mjs",
      "node_modules/@sqlite.org/sqlite-wasm/sqlite-wasm/jswasm/sqlite3.mjs",
    ]);
    const [sqlite, viem, ...others] = text.split(`\n${"-".repeat(80)}\n\n`);
    expect(sqlite).toMatch(/^@sqlite\.org\/sqlite-wasm \S+ \(Apache-2\.0\)\n\nApache-2\.0\n$/);
    expect(viem).toMatch(/^viem \S+ \(MIT\)\n\nMIT License\n/);
    expect(others).toEqual([]);
  });
});
