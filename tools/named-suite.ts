/** `npm run test:ezkl` and the like: makes ready what a named suite needs beyond `npm test`, runs it, and ends with one
 *  line that sums up. Where that cannot be had the suite is skipped, and says so. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { NAMED_SUITES } from "../vitest.named.config.ts";
import { canEmulate, EMULATED_CPUS, prepareEmulatedCpus } from "./emulated-cpus.ts";
import { projectRoot } from "./foundry.ts";
import { fetchVersion, VERSIONS } from "./node-versions.ts";
import { NODE_TESTS } from "./onnx-testdata.ts";
import { postgresPrograms } from "./postgres.ts";
import { preparePython } from "./python.ts";
import { type Counts, formatCounts, NONE, runVitest } from "./test.ts";

const SUITES = [...NAMED_SUITES, "long", "deep"] as const;
type SuiteName = (typeof SUITES)[number];

/** Why a suite cannot run: it is skipped where the machine lacks something, and fails where this project is at fault. */
interface Obstacle {
  readonly why: string;
  readonly isFault: boolean;
}

const PREPARATIONS: Readonly<Record<SuiteName, () => Obstacle | undefined>> = {
  "agent-processes": () => undefined,
  browser: () => chromiumIsMissing() ?? buildPages(),
  chaos: () => undefined,
  cpus() {
    // A processor whose parts are missing is skipped in the suite, by its name.
    const missing = prepareEmulatedCpus();
    for (const reason of missing) console.log(reason);
    if (EMULATED_CPUS.some(canEmulate)) return undefined;
    return { why: "No processor can be emulated here.", isFault: false };
  },
  deep: () => undefined,
  long: () => undefined,
  "explorer-pages": () => chromiumIsMissing() ?? buildPages(),
  executor: installLlama,
  ezkl: () =>
    install(["proof", "ezkl"], "ezkl-data", ["PYTHON_MISSING", "PYTHON_TOO_OLD", "EZKL_INSTALL_FAILED"]),
  fleet() {
    if (postgresPrograms() !== undefined) return undefined;
    return { why: "There is no PostgreSQL here: install postgresql.", isFault: false };
  },
  mcp: () => undefined,
  onnx() {
    if (existsSync(NODE_TESTS)) return undefined;
    const why = `There are no tests of the ONNX project in ${NODE_TESTS}: install libonnx-testdata, or set ONNX_TESTDATA.`;
    return { why, isFault: false };
  },
  operators: () => undefined,
  outside: () => undefined,
  packages: preparePackages,
  python() {
    const why = preparePython();
    return why === undefined ? undefined : { why, isFault: false };
  },
  rust: prepareRust,
  sequences: installLlama,
};

/** llama.cpp, and a language model's published weights. */
function installLlama(): Obstacle | undefined {
  return install(["agent", "llama"], "executor-data", ["LLAMA_UNSUPPORTED", "LLAMA_INSTALL_FAILED"]);
}

function chromiumIsMissing(): Obstacle | undefined {
  const chromium = process.env.CHROMIUM ?? "/usr/bin/chromium";
  if (existsSync(chromium)) return undefined;
  return { why: `There is no Chromium at ${chromium} (CHROMIUM).`, isFault: false };
}

/** The pages of the explorer and the gateway, as `npm run build` makes them. */
function buildPages(): Obstacle | undefined {
  const { status } = spawnSync(process.execPath, ["--import", "tsx", "tools/build-pages.ts"], {
    cwd: projectRoot,
    stdio: "inherit",
  });
  return status === 0 ? undefined : { why: "The pages cannot be built.", isFault: true };
}

/** Packs this tree, and gets the versions of Node.js on which the packed files are tried. */
function preparePackages(): Obstacle | undefined {
  const had = VERSIONS.filter((version) => fetchVersion(version) !== undefined);
  const newest = VERSIONS.at(-1);
  if (newest === undefined || !had.includes(newest)) {
    return { why: `Node.js ${newest?.node} cannot be had here.`, isFault: false };
  }
  const args = ["--import", "tsx", "tools/packages/main.ts"];
  const { status } = spawnSync(process.execPath, args, { cwd: projectRoot, stdio: "inherit" });
  return status === 0 ? undefined : { why: "The packages cannot be built.", isFault: true };
}

/** Looks for cargo and downloads the crates that `crates/assay-exact/Cargo.toml` names, once. */
function prepareRust(): Obstacle | undefined {
  const { status, stdout } = spawnSync("cargo", ["--version"], { encoding: "utf8" });
  if (status !== 0) return { why: "There is no cargo: install Rust 1.85 or later.", isFault: false };
  const [, minor = "0"] = /^cargo 1\.(\d+)/.exec(stdout) ?? [];
  if (Number(minor) < 85) {
    return { why: `This is ${stdout.trim()}: install Rust 1.85 or later.`, isFault: false };
  }
  const fetched = spawnSync("cargo", ["fetch"], {
    cwd: join(projectRoot, "crates"),
    encoding: "utf8",
  });
  if (fetched.status === 0) return undefined;
  return { why: fetched.stderr.trim(), isFault: fetched.stderr.includes("manifest") };
}

/** Runs `assay COMMAND install` into a folder of build/, where the suite's tests look for it.
 *  @param unavailable codes of the errors by which it says that it cannot be installed here */
function install(
  command: readonly string[],
  folder: string,
  unavailable: readonly string[],
): Obstacle | undefined {
  const data = join(projectRoot, "build", folder);
  const { status, stderr } = spawnSync(
    process.execPath,
    ["bin/assay.js", ...command, "install", "--data", data, "--json"],
    { cwd: projectRoot, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
  );
  if (status === 0) return undefined;
  const code = /"code": "([A-Z_]+)"/.exec(stderr)?.[1] ?? "";
  return { why: stderr.trim(), isFault: !unavailable.includes(code) };
}

function run(name: SuiteName): Counts {
  const obstacle = PREPARATIONS[name]();
  if (obstacle === undefined) {
    return runVitest(`vitest-${name}`, ["--config", "vitest.named.config.ts", "--project", name]);
  }
  console.log(obstacle.why);
  if (obstacle.isFault) return { ...NONE, failed: 1 };
  console.log(`The suite ${name} is skipped.`);
  return { ...NONE, skipped: 1 };
}

const name = SUITES.find((candidate) => candidate === process.argv[2]);
if (name === undefined) {
  throw new Error(`There is no suite ${process.argv[2] ?? ""}: name one of ${SUITES.join(", ")}.`);
}
const counts = run(name);
console.log(`\n${formatCounts(counts)}`);
process.exitCode = counts.failed === 0 ? 0 : 1;
