/** What one side of a dispute computes, in a process of its own, so that its memory is that of a node: it runs a model and
 *  commits to the trace. */
import { execFileSync } from "node:child_process";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { fromHex, toHex } from "../../base/bytes.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { CanonicalPool } from "../../inference/runtime/canonical-pool.ts";
import { SELECTOR } from "../chain.ts";
import { bytesFor } from "../dispute.ts";
import { layeredModel } from "../limit-model.ts";
import { mostMemory } from "../memory.ts";

/** A model of `layeredModel`, or a folder and what is claimed of it. */
export type SideOf =
  | { readonly layers: number; readonly width: number }
  | { readonly folder: string; readonly calldata: Uint8Array; readonly output: Uint8Array };

export interface SideFigures {
  /** of a run and its commitment */
  readonly seconds: number;
  /** most that were resident, bytes; loading the model and, of a folder, proving it included */
  readonly memory: number;
}

export function sideOf(of: SideOf): SideFigures {
  const what =
    "layers" in of ? [`${of.layers}`, `${of.width}`] : [of.folder, toHex(of.calldata), toHex(of.output)];
  const args = ["--import", "tsx", fileURLToPath(import.meta.url), ...what];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

async function measured(of: SideOf): Promise<SideFigures> {
  const { pool, calldata, claimed } = asked(of);
  // In the first run kernels are made.
  await pool.trace("model", calldata, claimed);
  const began = performance.now();
  await pool.trace("model", calldata, claimed);
  const seconds = (performance.now() - began) / 1000;
  pool.close();
  return { seconds, memory: mostMemory() };
}

function asked(of: SideOf) {
  if ("layers" in of) {
    const model = layeredModel(of.layers, of.width);
    const calldata = encodeInput(model.program, SELECTOR, bytesFor(model));
    return { pool: new CanonicalPool(new Map([["model", { model, selector: SELECTOR }]])), calldata };
  }
  const { model, selector, profile } = loadModelFolder(of.folder);
  const pool = new CanonicalPool(new Map([["model", { model, selector, profile }]]));
  return { pool, calldata: of.calldata, claimed: { claimed: of.output } };
}

const [, script, first, second, output] = argv;
if (script === fileURLToPath(import.meta.url)) {
  const of =
    output === undefined
      ? { layers: Number(first), width: Number(second) }
      : { folder: `${first}`, calldata: fromHex(`${second}`), output: fromHex(output) };
  console.log(JSON.stringify(await measured(of)));
}
