/** Downloads what runs this project's onnxruntime on processors that the machine is not: qemu's user mode and Node.js
 *  with its libraries for each architecture, all Debian packages, unpacked below build/ and nowhere else. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./foundry.ts";

/** The first release whose qemu runs onnxruntime 1.30 for arm64: that of the one before crashes as it loads. */
const RELEASE = "trixie";
const FOLDER = join(projectRoot, "build", "emulated-cpus", RELEASE);

/** Architectures by their names in Debian and in qemu. */
const ARCHITECTURES = { amd64: "x86_64", arm64: "aarch64" } as const;
type Architecture = keyof typeof ARCHITECTURES;

export interface EmulatedCpu {
  readonly name: string;
  readonly architecture: Architecture;
  /** qemu's name of the processor. */
  readonly model: string;
}

export const EMULATED_CPUS: readonly EmulatedCpu[] = [
  { name: "Haswell (AVX2, no VNNI)", architecture: "amd64", model: "Haswell" },
  { name: "Nehalem (SSE4.2)", architecture: "amd64", model: "Nehalem" },
  { name: "Cortex-A53", architecture: "arm64", model: "cortex-a53" },
  { name: "Neoverse-N1 (dot products)", architecture: "arm64", model: "neoverse-n1" },
];

const EMULATOR = "emulator";
const folderOf = (part: string): string => join(FOLDER, part);
const isReady = (part: string): boolean => existsSync(folderOf(part));

export const canEmulate = ({ architecture }: EmulatedCpu): boolean =>
  isReady(EMULATOR) && isReady(architecture);

/** Command and first arguments that run Node.js on a processor. */
export function emulatedNode({ architecture, model }: EmulatedCpu): [command: string, arguments_: string[]] {
  const root = folderOf(architecture);
  const qemu = join(folderOf(EMULATOR), "usr", "bin", `qemu-${ARCHITECTURES[architecture]}`);
  return [qemu, ["-cpu", model, "-L", root, join(root, "usr", "bin", "node")]];
}

/** A command's output.
 *  @throws Error with the end of what it says when it fails */
function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    env: { ...process.env, LC_ALL: "C" },
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} … ${args.at(-1)}: ${stderr.trim().slice(-500)}`);
  return stdout;
}

/** The archive that this machine takes its own packages from. */
function archive(): string {
  const targets = run("apt-get", [
    "indextargets",
    "--format",
    "$(REPO_URI)",
    "Created-By: Packages",
    "Label: Debian",
  ]);
  const uri = targets.split("\n")[0] ?? "";
  if (uri === "") throw new Error("apt knows no archive of Debian's: run apt-get update, on Debian.");
  return uri;
}

/** Unpacks a package and all that it needs into a part's folder, by an apt-get with lists, cache and status of its
 *  own: as if nothing were installed, whatever the machine has. The folder is there only once it is whole. */
function unpack(part: string, architecture: string, name: string): void {
  const own = folderOf(`.${part}`);
  rmSync(own, { recursive: true, force: true });
  const [state, cache, root] = [join(own, "state"), join(own, "cache"), join(own, "root")];
  const [status, sources] = [join(own, "status"), join(own, "sources.list")];
  for (const folder of [join(state, "lists/partial"), join(cache, "archives/partial"), root])
    mkdirSync(folder, { recursive: true });
  writeFileSync(status, "");
  writeFileSync(sources, `deb ${archive()} ${RELEASE} main\n`);
  const settings = {
    "Dir::State": state,
    "Dir::State::status": status,
    "Dir::Cache": cache,
    "Dir::Etc::sourcelist": sources,
    "Dir::Etc::sourceparts": "/dev/null",
    "APT::Architecture": architecture,
    "APT::Architectures::": architecture,
    "APT::Sandbox::User": "root",
    "APT::Update::Error-Mode": "any",
    "Acquire::Retries": "3",
    "Acquire::Languages": "none",
  };
  const options = Object.entries(settings).flatMap(([key, value]) => ["-o", `${key}=${value}`]);
  run("apt-get", ["-q", ...options, "update"]);
  run("apt-get", ["-q", ...options, "install", "-y", "--download-only", "--no-install-recommends", name]);
  const archives = join(cache, "archives");
  for (const file of readdirSync(archives).filter((entry) => entry.endsWith(".deb")))
    run("dpkg-deb", ["-x", join(archives, file), root]);
  // Programs name their loader and libraries by these paths; no package but the base system's has the links.
  for (const link of ["lib", "lib64"])
    if (!existsSync(join(root, link))) symlinkSync(`usr/${link}`, join(root, link));
  renameSync(root, folderOf(part));
  rmSync(own, { recursive: true, force: true });
}

/** Downloads the parts that are not there yet.
 *  @returns why a part cannot be had, one sentence each */
export function prepareEmulatedCpus(): string[] {
  const parts = [
    { part: EMULATOR, name: "qemu-user", architecture: () => run("dpkg", ["--print-architecture"]).trim() },
    ...Object.keys(ARCHITECTURES).map((part) => ({ part, name: "nodejs", architecture: () => part })),
  ];
  return parts.flatMap(({ part, name, architecture }) => {
    if (isReady(part)) return [];
    try {
      unpack(part, architecture(), name);
      return [];
    } catch (error) {
      return [`${name} (${part}) cannot be had: ${error instanceof Error ? error.message : String(error)}`];
    }
  });
}
