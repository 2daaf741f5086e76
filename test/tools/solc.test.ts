import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";

interface Output {
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly errors?: readonly { readonly severity: string; readonly sourceLocation?: { file: string } }[];
}

const FILES = 60;
const header = "// SPDX-License-Identifier: GPL-3.0-only\npragma solidity ^0.8.28;\n";
const names = Array.from({ length: FILES }, (_, i) => `C${i}`);
/** Each contract creates the one before it, so that shares need each other's. */
const sources = Object.fromEntries(
  names.map((name, i) => [
    `${name}.sol`,
    {
      content: `${header}${i % 5 === 0 ? "" : `import {C${i - 1}} from "./C${i - 1}.sol";\n`}contract ${name} {
  ${i % 5 === 0 ? "uint256 public value = 1;" : `C${i - 1} public other = new C${i - 1}();`}
}`,
    },
  ]),
);
const outputSelection = Object.fromEntries(
  names.map((name) => [`${name}.sol`, { "*": ["abi", "evm.bytecode.object"] }]),
);
const inputOf = (changed: object = {}) =>
  JSON.stringify({
    language: "Solidity",
    sources: { ...sources, ...changed },
    settings: { outputSelection },
  });

function compiled(input: string): Output {
  const { stdout, stderr, status } = spawnSync(join(projectRoot, "tools/solc"), ["--standard-json"], {
    input,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return JSON.parse(stdout) as Output;
}

describe("tools/solc", () => {
  test("default: many files, compiled in shares, are what one compiler makes of them", () => {
    const { compile } = createRequire(import.meta.url)("solc") as { compile: (input: string) => string };
    const output = compiled(inputOf());
    expect(Object.keys(output.contracts ?? {})).toHaveLength(FILES);
    expect(output).toEqual(JSON.parse(compile(inputOf())));
  });

  test("error: a wrong file is told of once", () => {
    const wrong = { "C3.sol": { content: `${header}contract C3 { uint256 value = "text"; }` } };
    const errors = (compiled(inputOf(wrong)).errors ?? []).filter(({ severity }) => severity === "error");
    expect(errors.map(({ sourceLocation }) => sourceLocation?.file)).toEqual(["C3.sol"]);
  });
});
