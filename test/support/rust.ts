/** The second implementation of exact inference (`crates/assay-exact`), built by cargo. */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { projectRoot } from "../../tools/foundry.ts";

export const CRATES = join(projectRoot, "crates");
/** Where cargo builds, as `crates/.cargo/config.toml` says. */
export const CARGO_TARGET = join(projectRoot, "build", "cargo");

const WASM_TARGET = "wasm32-unknown-unknown";

/** Runs cargo in a folder of crates.
 *  @returns what it printed to its standard output
 *  @throws with what it printed elsewhere, if it fails */
export function cargo(arguments_: readonly string[], folder = CRATES, target = CARGO_TARGET): string {
  const env = { ...process.env, CARGO_TARGET_DIR: target, CARGO_TERM_COLOR: "never" };
  return execFileSync("cargo", arguments_, { cwd: folder, env, encoding: "utf8", maxBuffer: 1 << 26 });
}

/** @returns the path of the program `assay-exact` */
export function buildProgram(folder = CRATES, target = CARGO_TARGET): string {
  cargo(["build", "--quiet", "--jobs", "1", "--package", "assay-exact"], folder, target);
  return join(target, "debug", "assay-exact");
}

/** @returns the path of the program `assay-exact`, optimized, to measure it */
export function buildExact(): string {
  cargo(["build", "--quiet", "--release", "--package", "assay-exact"]);
  return join(CARGO_TARGET, "release", "assay-exact");
}

/** @returns the path of the program `assay-prove` */
export function buildProver(): string {
  cargo(["build", "--quiet", "--release", "--package", "assay-prove"]);
  return join(CARGO_TARGET, "release", "assay-prove");
}

/** @returns the path of assay-exact as a WebAssembly module; undefined where the target is not installed */
export function buildWasm(): string | undefined {
  const { stdout = "" } = spawnSync("rustup", ["target", "list", "--installed"], { encoding: "utf8" });
  if (!stdout.split("\n").includes(WASM_TARGET)) return undefined;
  cargo(["build", "--quiet", "--release", "--package", "assay-wasm", "--target", WASM_TARGET]);
  return join(CARGO_TARGET, WASM_TARGET, "release", "assay_wasm.wasm");
}
