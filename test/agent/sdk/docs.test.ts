import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../../tools/foundry.ts";

const read = (path: string) => readFileSync(join(projectRoot, path), "utf8");

describe("docs/SDK.md", () => {
  it("default: each snippet of TypeScript stands in an example that is run, or in a test", () => {
    const examples = readdirSync(join(projectRoot, "agent/examples/sdk")).map((name) =>
      read(`agent/examples/sdk/${name}`),
    );
    const tests = ["test/agent/sdk/adapters.test.ts", "test/packages/projects/strict/main.ts"];
    const sources = [...examples, ...tests.map(read)];
    const snippets = [...read("docs/SDK.md").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, text]) => text ?? "");
    expect(snippets.length).toBeGreaterThan(3);
    const unknown = snippets.filter((text) => !sources.some((source) => source.includes(text)));
    expect(unknown).toEqual([]);
  });
});
