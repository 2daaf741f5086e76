/** The container as far as it runs without an engine for containers: what the Dockerfile copies is there, suffices, and
 *  its command serves the example. And the same agents through the command line. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { callAgent } from "../../../agent/metadata/call.ts";
import { type AgentProcess, startAgentProcess } from "../../support/agent-process.ts";

const dockerfile = readFileSync("agent/http/Dockerfile", "utf8");
const copied = [...dockerfile.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, sources = ""]) =>
  sources.split(" "),
);
const command = JSON.parse(/^CMD (.+)$/m.exec(dockerfile)?.[1] ?? "[]") as string[];
const folder = mkdtempSync(join(tmpdir(), "assay-container-"));
const agents: AgentProcess[] = [];
afterAll(() => {
  for (const agent of agents) agent.stop();
  rmSync(folder, { recursive: true });
});

/** @returns its URL */
async function start(args: readonly string[], cwd: string, env: Record<string, string>): Promise<string> {
  const agent = await startAgentProcess(args, env, cwd);
  agents.push(agent);
  return agent.url;
}

const ANALYZE_ABI = [
  {
    type: "function",
    name: "analyze",
    inputs: [{ name: "data", type: "bytes" }],
    outputs: [
      { name: "hash", type: "bytes32" },
      { name: "size", type: "uint256" },
      { name: "valid", type: "bool" },
    ],
    stateMutability: "nonpayable",
  },
] as const;
const analyze = (url: string) =>
  callAgent(url, { abi: ANALYZE_ABI, functionName: "analyze", args: ["0x5b5d"] });

describe("Dockerfile", () => {
  // shows: S-01
  it("default: every path that it copies is there", () => {
    expect(copied.length).toBeGreaterThan(3);
    for (const path of copied) expect([path, existsSync(path)]).toEqual([path, true]);
  });

  // shows: S-01, S-35
  it("default: these paths and the packages are all that its command needs", async () => {
    for (const path of copied) cpSync(path, join(folder, path), { recursive: true });
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
    expect(command[0]).toBe("node");
    const url = await start(command.slice(1), folder, {
      ASSAY_AGENT: "data-processor",
      ASSAY_AGENT_HOST: "127.0.0.1",
      ASSAY_AGENT_PORT: "0",
    });
    expect((await analyze(url)).slice(1)).toEqual([2n, true]);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });
});

describe("assay agent http serve", () => {
  // shows: S-27, S-35
  it("default: an example, and an agent of files of one's own", async () => {
    const serve = ["bin/assay.js", "agent", "http", "serve"];
    const url = await start([...serve, "data-processor", "--port", "0"], ".", {});
    expect((await analyze(url)).slice(1)).toEqual([2n, true]);
    const files = ["--metadata", "agent/examples/http/data-processor.json", "--handlers"];
    const own = await start(
      [...serve, ...files, "agent/examples/http/data-processor.ts", "--port", "0"],
      ".",
      {},
    );
    expect((await analyze(own)).slice(1)).toEqual([2n, true]);
  });
});
