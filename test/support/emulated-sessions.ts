/** Runs ONNX files by onnxruntime on a processor that this machine is not. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { type EmulatedCpu, emulatedNode } from "../../tools/emulated-cpus.ts";
import { projectRoot } from "../../tools/foundry.ts";
import type { SessionJob, SessionResult } from "./session-jobs.ts";

const PREFIX = join(projectRoot, "build", "sessions-");

/** @throws Error when the process fails: a crash, or a file that onnxruntime refuses */
export async function runOn(cpu: EmulatedCpu, jobs: readonly SessionJob[]): Promise<SessionResult[]> {
  // Below the project's root, so that onnxruntime-node is found from there.
  const folder = mkdtempSync(PREFIX);
  const [runner, input, output] = [
    join(folder, "session-runner.cjs"),
    join(folder, "jobs.json"),
    join(folder, "results.json"),
  ];
  try {
    await build({
      entryPoints: [join(projectRoot, "test/support/session-runner.ts")],
      outfile: runner,
      bundle: true,
      platform: "node",
      format: "cjs",
      external: ["onnxruntime-node"],
    });
    writeFileSync(input, JSON.stringify(jobs));
    const [command, arguments_] = emulatedNode(cpu);
    await promisify(execFile)(command, [...arguments_, runner, input, output], { maxBuffer: 2 ** 26 });
    return JSON.parse(readFileSync(output, "utf8")) as SessionResult[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
