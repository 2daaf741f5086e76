/** EthereumJS analyses the jumps of a contract's whole code at every call of it, which takes most of a short call's time.
 *  Codes never change: here each is analysed once. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { createEVM } from "@ethereumjs/evm";

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
  const require = createRequire(import.meta.url);
  const path = new URL("../esm/interpreter.js", pathToFileURL(require.resolve("@ethereumjs/evm"))).href;
  const importNative = require("./native-import.cjs") as (url: string) => Promise<InterpreterModule>;
  const { Interpreter } = await importNative(path);
  const { prototype } = Interpreter;
  const analyse = prototype._getValidJumpDestinations;
  const known = new WeakMap<Uint8Array, unknown>();
  prototype._getValidJumpDestinations = function (code) {
    const before = known.get(code);
    if (before !== undefined) return before;
    const found = analyse.call(this, code);
    known.set(code, found);
    return found;
  }; // Another instance of the class would be slow without a word.
  const jump = new Uint8Array([0x60, 3, 0x56, 0x5b]);
  await (await createEVM()).runCode({ code: jump, gasLimit: 100n });
  if (!known.has(jump)) throw new Error(`EthereumJS does not use the interpreter of ${path}`);
}
