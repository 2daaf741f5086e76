/** Checks the arrows between folders and looks for import cycles, in those folders that exist. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM_FOLDERS } from "./folders.ts";
import { projectRoot } from "./foundry.ts";

const FOLDERS = [...PROGRAM_FOLDERS, "tools", "test", "bench"];

const { status } = spawnSync(
  process.execPath,
  [
    join(projectRoot, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs"),
    "--config",
    ".dependency-cruiser.cjs",
    ...FOLDERS.filter((folder) => existsSync(join(projectRoot, folder))),
  ],
  { cwd: projectRoot, stdio: "inherit" },
);
process.exitCode = status ?? 1;
