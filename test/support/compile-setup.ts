import { ensureCompiled } from "../../tools/compile.ts";

/** Compiles the contracts before the first integration test, so that no test pays for it. */
export default function setup(): void {
  ensureCompiled();
}
