/** What README and templates/ say is done as an outsider does it: in empty folders, with the packed files. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";
import { packedFile } from "../../tools/packages/pack.ts";
import { FreshProject, NODES } from "../support/fresh-project.ts";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/scale.ts";
import { keyOf, ROLES, type System, startSystem } from "../support/system.ts";

const TSC = "node_modules/typescript/bin/tsc";
const readme = readFileSync(join(projectRoot, "README.md"), "utf8");
const MOST_LINES = 30;

/** The block of this language, as it is printed. */
function printedBlock(language: string): string {
  const [, block = ""] = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(readme) ?? [];
  expect(block.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(10);
  return block;
}

let system: System;
let agent: FreshProject;
let program: FreshProject;
let env: Record<string, string>;

beforeAll(async () => {
  agent = new FreshProject("templates/agent");
  agent.install([packedFile("@assay/sdk")]);
  program = new FreshProject();
  program.write("package.json", "{}");
  program.install([packedFile("assay")]);
  system = await startSystem({ models: ["sentiment"], answerSeconds: 1 });
  await system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up");
  env = {
    ASSAY_RPC_URL: system.rpcUrl,
    ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
    ASSAY_KEY: keyOf(ROLES.cheat),
    MODEL: system.model("sentiment").modelId,
  };
});
afterAll(async () => {
  await system?.stop();
  agent?.remove();
  program?.remove();
});

const compiles = async (...args: readonly string[]) => {
  const { stdout, status } = await agent.node([TSC, ...args]);
  expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
};

describe("README, use it from your project", () => {
  it("default: the ten lines of TypeScript compile as printed, and print a final output", async () => {
    agent.write("readme.ts", printedBlock("ts"));
    await compiles("--module", "nodenext", "--target", "es2023", "--strict", "--types", "node", "readme.ts");
    // The oldest and the newest on every change.
    for (const { by } of sampled(NODES, 2)) {
      const { stdout, stderr } = await agent.node(["readme.js"], { by, env });
      expect({ stderr, stdout }).toEqual({ stderr: "", stdout: expect.stringMatching(/output0: 2n/) });
    }
  });

  it("default: the ten lines of Solidity compile as printed", () => {
    program.install([packedFile("@assay/contracts")]);
    const require = createRequire(program.path("package.json"));
    const solc = createRequire(import.meta.url)("solc") as {
      compile(input: string, callbacks: { import: (path: string) => { contents: string } }): string;
    };
    const content = `// SPDX-License-Identifier: MIT\npragma solidity ^0.8.28;\n${printedBlock("solidity")}`;
    const settings = { outputSelection: { "*": { "*": ["evm.bytecode.object"] } } };
    const input = { language: "Solidity", sources: { "Consumer.sol": { content } }, settings };
    const read = (path: string) => ({ contents: readFileSync(require.resolve(path), "utf8") });
    const output = JSON.parse(solc.compile(JSON.stringify(input), { import: read }));
    const isError = ({ severity }: { readonly severity: string }) => severity === "error";
    expect((output.errors ?? []).filter(isError)).toEqual([]);
    expect(output.contracts["Consumer.sol"].Consumer.evm.bytecode.object.length).toBeGreaterThan(1_000);
  });
});

describe("templates", () => {
  it("default: each has at most thirty lines of own code", () => {
    for (const path of ["agent/agent.ts", "foundry/src/Mood.sol"]) {
      const text = readFileSync(join(projectRoot, "templates", path), "utf8");
      const code = text.split("\n").filter((line) => !/^\s*($|\/\/|\/\*\*|\*)/.test(line));
      expect(code.length, path).toBeLessThanOrEqual(MOST_LINES);
    }
  });

  longTest("default: the agent in TypeScript prints a final answer", async () => {
    await compiles();
    const { stdout, stderr } = await agent.node(["dist/agent.js", "Profit beats all forecasts"], { env });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({ values: { output0: 2 }, lane: expect.any(String) });
  });

  it("default: the configurations of MCP clients start the packed program, which lists the model", async () => {
    const { mcpServers } = JSON.parse(
      readFileSync(join(projectRoot, "templates/mcp/mcpServers.json"), "utf8"),
    );
    const { servers } = JSON.parse(readFileSync(join(projectRoot, "templates/mcp/vscode.json"), "utf8"));
    const { type, ...vscode } = servers.assay;
    expect({ type, vscode }).toEqual({ type: "stdio", vscode: mcpServers.assay });
    const toml = readFileSync(join(projectRoot, "templates/mcp/codex.toml"), "utf8");
    for (const value of [
      mcpServers.assay.command,
      ...mcpServers.assay.args,
      ...Object.values(mcpServers.assay.env),
    ])
      expect(toml).toContain(JSON.stringify(value));
    const { command, args } = mcpServers.assay;
    const node = NODES.at(-1)?.by.env ?? {};
    const path = [program.path("node_modules/.bin"), node.PATH].join(delimiter);
    const own = { ASSAY_RPC_URL: env.ASSAY_RPC_URL ?? "", ASSAY_DEPLOYMENT: env.ASSAY_DEPLOYMENT ?? "" };
    const transport = new StdioClientTransport({
      command,
      args,
      cwd: program.folder,
      env: { ...own, PATH: path },
    });
    const client = new Client({ name: "outside", version: "1" });
    await client.connect(transport);
    const { tools } = await client.listTools();
    await client.close();
    expect(tools.map(({ name }) => name)).toContain("call_assay_sentiment");
  });
});
