/** Checks the arrows between folders and looks for import cycles, in those folders that exist. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./foundry.ts";

const FOLDERS = [
  "base",
  "inference",
  "protocol",
  "prover",
  "challenger",
  "agent",
  "conformance",
  "explorer",
  "cli",
  "tools",
  "test",
  "bench",
];

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
