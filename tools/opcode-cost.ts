/** What an opcode takes: the source files that one touches today, and the places that are named as missing when a new one
 *  is put into the table of codes and nothing else is written. The new one is put into a copy of the sources.
 *
 *      npx tsx tools/opcode-cost.ts [OPCODE] */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { OPCODE_CODES } from "../inference/program/codes.ts";
import { PROGRAM_FOLDERS } from "./folders.ts";
import { projectRoot } from "./foundry.ts";
import { listFiles } from "./tracked-files.ts";

const SOLIDITY = "verifier-contracts";
/** Contracts that send each opcode to its library. */
const DISPATCHERS = ["Elements", "Rules", "Kernels"];
const TABLE = "inference/program/codes.ts";
/** What uses opcodes and computes nothing that counts: lowerings of ONNX operators, recipes, what tries implementations, and what
 *  shows a step to people. */
const USERS = ["inference/onnx/lower/", "inference/derive/", "conformance/", "explorer/"];

const isSource = (path: string): boolean =>
  [...PROGRAM_FOLDERS, SOLIDITY].some((folder) => path.startsWith(`${folder}/`)) && /\.(ts|sol)$/.test(path);

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");

/** Source files whose code names the opcode; generated ones and its users are not counted. */
export function filesOf(opcode: string): string[] {
  const names = new RegExp(`\\b(OP_)?${opcode}(Rows|Range)?\\b`, "i");
  return listFiles()
    .filter(
      (path) =>
        isSource(path) && !path.includes("/generated/") && !USERS.some((folder) => path.startsWith(folder)),
    )
    .filter((path) => names.test(withoutComments(readFileSync(join(projectRoot, path), "utf8"))))
    .sort();
}

/** A place where something of a new opcode is missing, and who says so. */
export interface Missing {
  /** A file, or one and the function that it lacks. */
  readonly place: string;
  readonly by: "gen:check" | "tsc" | "solc";
}

/** Adds an opcode to a copy of the sources, in the table alone.
 *  @param opcode a name that no opcode has
 *  @returns the places in the order in which they are named: first the generated files, then, once these are written,
 *  what the compilers miss */
export function missingOf(opcode: string): Missing[] {
  const copy = mkdtempSync(join(tmpdir(), "assay-opcode-"));
  try {
    for (const folder of [...PROGRAM_FOLDERS, SOLIDITY, "tools", "package.json", "tsconfig.json"]) {
      if (existsSync(join(projectRoot, folder)))
        cpSync(join(projectRoot, folder), join(copy, folder), { recursive: true });
    }
    symlinkSync(join(projectRoot, "node_modules"), join(copy, "node_modules"));
    addRow(copy, opcode);
    const stale = run(copy, ["node_modules/tsx/dist/cli.mjs", "tools/gen-opcodes.ts", "--check"]);
    run(copy, ["node_modules/tsx/dist/cli.mjs", "tools/gen-opcodes.ts"]);
    const generated = [...stale.matchAll(/^(\S+) is stale/gm)].map(([, file]) => file as string);
    return [
      ...generated.map((place): Missing => ({ place, by: "gen:check" })),
      ...missedByTypeScript(copy).map((place): Missing => ({ place, by: "tsc" })),
      ...missedBySolidity(copy).map((place): Missing => ({ place, by: "solc" })),
    ];
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function addRow(copy: string, opcode: string): void {
  const path = join(copy, TABLE);
  const text = readFileSync(path, "utf8");
  const end = "\n} as const satisfies Readonly<Record<string, OpcodeRow>>;";
  if (text.split(end).length !== 2) throw new Error(`${TABLE} does not end its table as expected: ${end}`);
  const code = Math.max(...Object.values(OPCODE_CODES)) + 1;
  writeFileSync(path, text.replace(end, `\n  ${opcode}: { code: ${code}, variants: {} },${end}`));
}

function run(copy: string, args: readonly string[]): string {
  const { stdout, stderr, error } = spawnSync(process.execPath, args, { cwd: copy, encoding: "utf8" });
  if (error !== undefined) throw error;
  return `${stdout}${stderr}`;
}

function missedByTypeScript(copy: string): string[] {
  const config = {
    extends: "./tsconfig.json",
    compilerOptions: { incremental: false },
    include: PROGRAM_FOLDERS,
  };
  writeFileSync(join(copy, "tsconfig.copy.json"), JSON.stringify(config));
  const output = run(copy, ["node_modules/typescript7/bin/tsc", "-p", "tsconfig.copy.json"]);
  const errors = [...output.matchAll(/^(\S+)\(\d+,\d+\): error TS\d+: (.*)$/gm)];
  if (errors.length === 0) throw new Error(`tsc names nothing: ${output}`);
  const files = errors.map(([, file, message]) => {
    const [, module] = /^Cannot find module '(\.[^']*)'/.exec(message as string) ?? [];
    return module === undefined ? (file as string) : posix.join(dirname(file as string), module);
  });
  return [...new Set(files)].sort();
}

/** The libraries that the dispatchers import, and of empty ones in their place, the functions that they call. */
function missedBySolidity(copy: string): string[] {
  const missing = new Map<string, string>();
  // One by one: solc stops at the first source with a wrong call.
  const errors = DISPATCHERS.flatMap((dispatcher) => {
    compileDispatcher(copy, dispatcher, (path) => {
      missing.set(posix.basename(path, ".sol"), path);
      return { error: "not found" };
    });
    return compileDispatcher(copy, dispatcher, (path) => ({
      contents: `pragma solidity ^0.8.28;\nlibrary ${posix.basename(path, ".sol")} {}\n`,
    }));
  });
  const calls = errors.map((message) => {
    const [, name, library] = /Member "(\w+)" not found .*\(library (\w+)\)/.exec(message) ?? [];
    const path = missing.get(library ?? "");
    if (path === undefined) throw new Error(`solc says something else: ${message}`);
    return `${path} ${name}`;
  });
  return [...missing.values(), ...calls].sort();
}

type Import = { readonly contents: string } | { readonly error: string };

/** @param absent what to give for a file that is not there @returns solc's errors */
function compileDispatcher(copy: string, dispatcher: string, absent: (path: string) => Import): string[] {
  const solc = createRequire(import.meta.url)("solc") as {
    compile(input: string, callbacks: { import(path: string): Import }): string;
  };
  const read = (path: string): Import => {
    const file = join(copy, path.startsWith("@") ? "node_modules" : "", path);
    return existsSync(file) ? { contents: readFileSync(file, "utf8") } : absent(path);
  };
  const path = `${SOLIDITY}/generated/${dispatcher}.sol`;
  const sources = { [path]: { content: readFileSync(join(copy, path), "utf8") } };
  const settings = { outputSelection: { "*": { "": ["ast"] } } };
  const input = JSON.stringify({ language: "Solidity", sources, settings });
  const { errors = [] } = JSON.parse(solc.compile(input, { import: read })) as {
    errors?: readonly { readonly severity: string; readonly message: string }[];
  };
  return errors.flatMap(({ severity, message }) => (severity === "error" ? [message] : []));
}

function main(opcode: string): void {
  const files = filesOf(opcode);
  console.log(`${opcode} touches ${files.length} source files:\n  ${files.join("\n  ")}`);
  console.log("A new opcode, written into the table alone, is missed by:");
  for (const { place, by } of missingOf("throwaway")) console.log(`  ${by.padEnd(9)} ${place}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv[2] ?? "rescale");
