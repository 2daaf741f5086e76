/** The published weights of SmolLM2-135M-Instruct, where this machine has them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { llamaFiles } from "../../agent/executor/models/llama/install.ts";
import { projectRoot } from "../../tools/foundry.ts";

/** Path of the GGUF file: what ASSAY_WEIGHTS names, or what `npm run test:executor` and `test:sequences` install.
 *  @returns undefined where there is none */
export function smollm2Weights(): string | undefined {
  const installed = llamaFiles(join(projectRoot, "build", "executor-data", "llama")).model;
  return [process.env.ASSAY_WEIGHTS, installed].find((path) => path !== undefined && existsSync(path));
}
