/** What can be seen of the agents' contracts in their sources and documents alone. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";

const contracts = join(projectRoot, "verifier-contracts");
const everySource = readdirSync(contracts, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".sol"))
  .map((name) => ({ name, text: readFileSync(join(contracts, name), "utf8") }));
const sources = everySource.filter(({ name }) => /^(agents|examples)\//.test(name));

/** Files whose declarations come from the texts, which are CC0. */
const DERIVED =
  /^(agents\/(standards\/interfaces\/.*|interfaces\/(IERC.*|ToolResultConverter)|IERCAgent|SimpleSmartContractTool)|examples\/wallet\/(WalletAgent|Pool|ViewBalanceResultConverter))\.sol$/;

describe("verifier-contracts/agents and verifier-contracts/examples", () => {
  // shows: E1-102
  it("default: files from the text carry its licence, all others ours", () => {
    const derived = sources.filter(({ name }) => DERIVED.test(name));
    expect(derived.length).toBeGreaterThanOrEqual(9);
    for (const { name, text } of sources) {
      const licence = DERIVED.test(name) ? "CC0-1.0" : "GPL-3.0-only";
      expect(text, name).toMatch(new RegExp(`^// SPDX-License-Identifier: ${licence}\n`));
    }
  });

  // shows: E0-05, D-08
  it("default: one compiler floor for the interfaces of the text, OpenZeppelin's IERC165", () => {
    const interfaces = sources.filter(({ name }) => /^agents\/interfaces\/(IERC|ToolResult)/.test(name));
    expect(interfaces.map(({ name }) => name).sort()).toEqual(
      ["IERCAgentClient", "IERCAgentExecutor", "IERCAgentTool", "ToolResultConverter"].map(
        (n) => `agents/interfaces/${n}.sol`,
      ),
    );
    for (const { name, text } of interfaces) expect(text, name).toContain("\npragma solidity ^0.8.20;\n");
    for (const { name, text } of sources) expect(text, name).toMatch(/\npragma solidity \^0\.8\.(20|28);\n/);
    for (const name of ["IERCAgentTool", "IERCAgentClient"]) {
      const text = sources.find((source) => source.name === `agents/interfaces/${name}.sol`)?.text ?? "";
      expect(text).toContain('from "@openzeppelin/contracts/utils/introspection/IERC165.sol"');
      expect(text).toContain(`interface ${name} is IERC165`);
    }
  });

  it("default: nothing but examples and tests builds on an example", () => {
    expect(everySource.filter(({ name }) => name.startsWith("examples/")).length).toBeGreaterThan(10);
    const others = everySource.filter(({ name }) => !name.startsWith("examples/"));
    expect(others.filter(({ text }) => text.includes("/examples/")).map(({ name }) => name)).toEqual([]);
  });

  // shows: E0-13
  it("default: the guide compares the modes as they are built", () => {
    const guide = readFileSync(join(projectRoot, "docs", "AGENTS.md"), "utf8");
    const rows = guide.split("\n").filter((line) => line.startsWith("| "));
    for (const row of ["who decides", "trust in decisions", "no answer in time", "money"])
      expect(
        rows.some((line) => line.startsWith(`| ${row} |`)),
        row,
      ).toBe(true);
  });
});
