import { bundleProgram } from "../../tools/bundle.ts";
import { ensureCompiled } from "../../tools/compile.ts";

/** Compiles the contracts and bundles the program before the first test, so that no test pays for it. */
export default async function setup(): Promise<void> {
  ensureCompiled();
  await bundleProgram();
}
