/** The files that the repository holds, or will hold. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./foundry.ts";

/** Paths from the root: tracked files, and new ones that git does not ignore. */
export function listFiles(): string[] {
  const { stdout, status } = spawnSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], {
    cwd: projectRoot,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error("git ls-files failed: run this in a clone of the repository");
  return stdout.split("\0").filter((file) => file !== "" && existsSync(join(projectRoot, file)));
}
