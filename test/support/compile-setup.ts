import { ensureCompiled } from "../../tools/compile.ts";

/** Compiles the contracts before the first test with processes, so that no test pays for it. */
export default function setup(): void {
  ensureCompiled();
}
