import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EXAMPLES } from "../../../agent/http/serve.ts";
import { requireMetadata } from "../../../agent/metadata/read.ts";
import { withTables } from "../../support/make-agent-docs.ts";

const page = readFileSync("docs/AGENT-METADATA.md", "utf8");

describe("docs/AGENT-METADATA.md", () => {
  it("default: its tables are the code's; else run test/support/make-agent-docs.ts", () => {
    expect(withTables(page)).toBe(page);
  });

  it("default: its metadata is valid", () => {
    const examples = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(([, json = ""]) => json);
    expect(examples).toHaveLength(1);
    for (const json of examples) requireMetadata(new TextEncoder().encode(json), "the example");
  });

  // shows: S-52
  it("default: it has each example agent with its methods and settings", () => {
    for (const name of EXAMPLES) expect(page).toContain(`| \`${name}\` |`);
  });
});
