/** Makes the file that npm would publish. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../foundry.ts";

/** Where the files are put: build/packages/<name>-<version>.tgz */
export const PACKED = join(projectRoot, "build", "packages");

/** Every package has the version of this repository. */
export const VERSION = (
  JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { version: string }
).version;

/** `@assay/sdk` is packed as assay-sdk. */
export const packedFile = (name: string): string =>
  join(PACKED, `${name.replace("@", "").replace("/", "-")}-${VERSION}.tgz`);

export interface PackageSource {
  /** below packages/: its package.json, README.md and LICENSE */
  readonly folder: string;
  /** writes everything else */
  readonly build: (folder: string) => void | Promise<void>;
}

/** @returns path of the packed file
 *  @throws Error with npm's message */
export async function pack({ folder, build }: PackageSource): Promise<string> {
  const made = join(PACKED, folder);
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  await build(made);
  cpSync(join(projectRoot, "packages", folder), made, { recursive: true });
  const path = join(made, "package.json");
  const { name, ...rest } = JSON.parse(readFileSync(path, "utf8")) as { name: string };
  writeFileSync(path, `${JSON.stringify({ name, version: VERSION, ...rest }, null, 2)}\n`);
  const { status, stderr } = spawnSync("npm", ["pack", "--pack-destination", PACKED, "--ignore-scripts"], {
    cwd: made,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`npm pack of ${name} failed: ${stderr.trim()}`);
  return packedFile(name);
}
