/** Runs the assay program, as a process or in this one. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { vi } from "vitest";
import type { runProgram } from "../../cli/output.ts";
import type { createProgram, loadCommands } from "../../cli/program.ts";
import { projectRoot } from "../../tools/foundry.ts";

export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param env besides this process's; ASSAY_* of this process are left out
 *  @param cwd folder in which it starts, by default this process's */
export const runAssay = (
  args: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
): Promise<ProgramResult> => runNode([join(projectRoot, "bin/assay.js"), ...args], env, cwd);

/** Runs a program of Node.js. Not synchronously: a process started by this one, such as a chain, stops when nobody reads
 *  what it prints.
 *  @param args path of the program, and its arguments; env and cwd as above */
export function runNode(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
): Promise<ProgramResult> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("ASSAY_"));
  const child = spawn(process.execPath, args, {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd !== undefined && { cwd }),
  });
  const out: string[] = [];
  const err: string[] = [];
  child.stdout.on("data", (part: Buffer) => out.push(part.toString()));
  child.stderr.on("data", (part: Buffer) => err.push(part.toString()));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? -1, stdout: out.join(""), stderr: err.join("") }));
  });
}

interface Program {
  readonly createProgram: typeof createProgram;
  readonly loadCommands: typeof loadCommands;
  readonly runProgram: typeof runProgram;
}
let program: Promise<Program> | undefined;

/** The parts of the bundle: two thousand files would take each test file seconds to load. */
async function loadProgram(): Promise<Program> {
  const importNative = createRequire(import.meta.url)("./native-import.cjs") as (
    url: string,
  ) => Promise<Program>;
  const current = readFileSync(join(projectRoot, "build/program/current.json"), "utf8");
  const folder = dirname(join(projectRoot, (JSON.parse(current) as { entry: string }).entry));
  const parts = ["program.mjs", "output.mjs"].map((name) =>
    importNative(pathToFileURL(join(folder, name)).href),
  );
  return Object.assign({}, ...(await Promise.all(parts)));
}

/** The same in this process, ten times as fast: for commands that end by themselves. One at a time. */
export async function runInProcess(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<ProgramResult> {
  const capture = (method: "log" | "error") => {
    const lines: string[] = [];
    const spy = vi.spyOn(console, method).mockImplementation((line) => void lines.push(`${line}\n`));
    return { lines, spy };
  };
  const [out, err] = [capture("log"), capture("error")];
  const before = process.exitCode;
  process.exitCode = undefined;
  for (const name of Object.keys(process.env)) if (name.startsWith("ASSAY_")) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  try {
    program ??= loadProgram();
    const { createProgram, loadCommands, runProgram } = await program;
    await runProgram(createProgram(await loadCommands(args)), ["node", "assay", ...args]);
    return { code: Number(process.exitCode ?? 0), stdout: out.lines.join(""), stderr: err.lines.join("") };
  } finally {
    process.exitCode = before;
    vi.unstubAllEnvs();
    out.spy.mockRestore();
    err.spy.mockRestore();
  }
}
