import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/** Options of a child of Node.js that runs TypeScript, whatever the folder in which this process was started. */
export const RUNS_TYPESCRIPT: readonly string[] = [
  "--import",
  pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href,
];
