/** Runs Foundry's programs from their platform packages.
 *
 *  Use this and not `npx forge`: the launcher that the npm packages install exits with 0 when forge fails.
 *  From a shell: `npm run forge -- <arguments>`, or `tsx tools/foundry.ts forge|anvil|cast <arguments>`.
 */
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { BaseError } from "../base/errors.ts";

export type FoundryTool = "forge" | "anvil" | "cast";

/** The repository's root: the folder of foundry.toml. */
export const projectRoot = resolve(dirname(fileURLToPath(import.meta.url)), "..");

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** Path of the native binary of a Foundry tool, to spawn directly (signals and exit codes then work).
 *  @throws BaseError FOUNDRY_MISSING when npm installed no binary for this platform */
export function foundryBinary(tool: FoundryTool): string {
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  const packageName = `@foundry-rs/${tool}-${process.platform}-${architecture}`;
  const suffix = process.platform === "win32" ? ".exe" : "";
  try {
    // The platform package is a dependency of the launcher package, so resolve it from there.
    const launcher = createRequire(import.meta.url).resolve(`@foundry-rs/${tool}/package.json`);
    return createRequire(launcher).resolve(`${packageName}/bin/${tool}${suffix}`);
  } catch (cause) {
    throw new BaseError({
      code: "FOUNDRY_MISSING",
      shortMessage: `Foundry's ${tool} is not installed: there is no package ${packageName}.`,
      nextStep: `Run \`npm install @foundry-rs/${tool}\` beside Assay, in its repository \`npm ci\` without --omit=optional.`,
      cause,
    });
  }
}

/** Runs a tool in the project's root with this process's streams; returns its exit code. */
export function runFoundry(tool: FoundryTool, args: readonly string[], env: NodeJS.ProcessEnv = {}): number {
  const { status, error } = spawnSync(foundryBinary(tool), args, {
    cwd: projectRoot,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (error !== undefined) throw error;
  return status ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [tool, ...args] = process.argv.slice(2);
  if (tool !== "forge" && tool !== "anvil" && tool !== "cast") {
    throw new Error(`expected forge, anvil or cast, got ${tool ?? "nothing"}`);
  }
  process.exitCode = runFoundry(tool, args);
}
