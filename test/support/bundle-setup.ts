import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { projectRoot } from "../../tools/foundry.ts";

/** Starts the program once, which bundles it where that is out of date, so that no test pays for it. */
export default function setup(): void {
  execFileSync(process.execPath, [join(projectRoot, "bin/assay.js"), "--version"]);
}
