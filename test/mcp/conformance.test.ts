/** The protocol's own conformance suite, at both revisions. What it does not pass is listed in conformance-failures.json
 *  with the reason: nothing else may fail, and what is listed must. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runConformance } from "../support/conformance.ts";
import { type McpProcess, startMcp, startMcpSystem } from "../support/mcp-server.ts";
import type { System } from "../support/system.ts";
import listed from "./conformance-failures.json" with { type: "json" };

let system: System;
let mcp: McpProcess;

beforeAll(async () => {
  system = await startMcpSystem(["forecast-vix"]);
  mcp = await startMcp(system, "mcp", ["forecast-vix"]);
});
afterAll(async () => {
  await mcp?.stop();
  await system?.stop();
});

describe("conformance", () => {
  it.each([
    ["2025-11-25", 30],
    ["2026-07-28", 80],
  ] as const)("default: revision %s", async (revision, least) => {
    const folder = join(system.folder, revision);
    mkdirSync(folder);
    const checks = await runConformance(mcp.url, revision, folder);
    const isFault = ({ status }: { status: string }) => status === "FAILURE" || status === "WARNING";
    const found = new Map(checks.filter(isFault).map((check) => [check.id, check.errorMessage]));
    const expected = listed.flatMap((group) => group[revision]);
    // Unexpected failures with what the suite says of them, and unexpected passes.
    expect([...found].filter(([id]) => !expected.includes(id))).toEqual([]);
    expect(expected.filter((id) => !found.has(id))).toEqual([]);
    expect(checks.filter(({ status }) => status === "SUCCESS").length).toBeGreaterThan(least);
  });

  it("default: each failure is listed once, with a reason", () => {
    for (const revision of ["2025-11-25", "2026-07-28"] as const) {
      const ids = listed.flatMap((group) => group[revision]);
      expect(new Set(ids).size).toBe(ids.length);
    }
    for (const { reason } of listed) expect(reason).toMatch(/\w+ \w+.*\.$/);
  });
});
