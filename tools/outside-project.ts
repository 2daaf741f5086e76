/** A project that is none of this one, with packages of its own from the registry: what developers have who use the SDK.
 *  Assay stands in its node_modules as links to the sources, without the packages of this project. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./foundry.ts";

export const OUTSIDE = join(projectRoot, "build", "outside");
const SOURCES = ["agent", "base", "inference", "protocol", "package.json"];

/** @returns why the packages cannot be had here; undefined when all is ready */
export function prepareOutsideProject(): string | undefined {
  mkdirSync(OUTSIDE, { recursive: true });
  cpSync(join(projectRoot, "test", "outside", "project"), OUTSIDE, { recursive: true });
  const assay = join(OUTSIDE, "node_modules", "assay");
  rmSync(assay, { recursive: true, force: true });
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"];
  const { status, stderr } = spawnSync("npm", args, { cwd: OUTSIDE, encoding: "utf8" });
  if (status !== 0) return `The packages of the outside project cannot be installed: ${stderr.trim()}`;
  mkdirSync(assay, { recursive: true });
  for (const name of SOURCES) symlinkSync(join(projectRoot, name), join(assay, name));
  return undefined;
}
