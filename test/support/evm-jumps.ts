/** EthereumJS analyses the jumps of a contract's whole code at every call of it, which takes most of a short call's time.
 *  Codes never change: here each is analysed once. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

type Analyse = (this: unknown, code: Uint8Array) => unknown;
interface InterpreterModule {
  readonly Interpreter: { readonly prototype: { _getValidJumpDestinations: Analyse } };
}

let done: Promise<void> | undefined;

/** For all EVMs of this process. */
export function analyseJumpsOnce(): Promise<void> {
  done ??= patch();
  return done;
}

async function patch(): Promise<void> {
  // The package names no way to this class.
  const entry = pathToFileURL(createRequire(import.meta.url).resolve("@ethereumjs/evm")).href;
  const path = new URL("../esm/interpreter.js", entry).href;
  const { Interpreter } = (await import(/* @vite-ignore */ path)) as InterpreterModule;
  const { prototype } = Interpreter;
  const analyse = prototype._getValidJumpDestinations;
  const known = new WeakMap<Uint8Array, unknown>();
  prototype._getValidJumpDestinations = function (code) {
    const before = known.get(code);
    if (before !== undefined) return before;
    const found = analyse.call(this, code);
    known.set(code, found);
    return found;
  };
}
