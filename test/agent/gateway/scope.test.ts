import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../../tools/foundry.ts";

const sources = (folder: string): string[] =>
  readdirSync(join(projectRoot, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(projectRoot, folder, file));

describe("the gateway's rules", () => {
  // shows: D-80
  it("behavior: bind the gateway's agents only: executors of the agent texts, which reason, use none of them", () => {
    const executor = sources("agent/executor");
    expect(executor.length).toBeGreaterThan(0);
    for (const file of executor) expect(readFileSync(file, "utf8")).not.toMatch(/from "[^"]*gateway\//);
  });

  // shows: X-06
  it("default: chat handler, tool service, LLM service, agent service, chat page and composer have files of their names", () => {
    const files = [...sources("agent/gateway"), ...sources("cli")].map((file) =>
      file.slice(projectRoot.length + 1),
    );
    expect(files).toEqual(
      expect.arrayContaining([
        "agent/gateway/chat-handler.ts",
        "agent/gateway/tool-service.ts",
        "agent/gateway/llm-service.ts",
        "agent/gateway/store/agent-service.ts",
        "agent/gateway/http/pages.ts",
        "cli/gateway.ts",
      ]),
    );
  });
});
