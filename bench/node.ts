/** What a node does with a model, in a process of its own, so that its memory is that of a node: it loads the model, proves
 *  one that is a folder, checks an answer twice and commits to the trace of one. */
import { execFileSync } from "node:child_process";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { fromHex, toHex } from "../base/bytes.ts";
import { encodeInput } from "../inference/codecs/input.ts";
import { loadModelFolder } from "../inference/model-folder.ts";
import type { CanonicalModel } from "../inference/runtime/canonical-messages.ts";
import { CanonicalPool } from "../inference/runtime/canonical-pool.ts";
import { SELECTOR } from "./chain.ts";
import { bytesFor } from "./dispute.ts";
import { layeredModel } from "./limit-model.ts";
import { mostMemory } from "./memory.ts";

/** A model of `layeredModel`, or a folder with an input and its output. */
export type NodeSubject =
  | { readonly layers: number; readonly width: number }
  | { readonly folder: string; readonly calldata: Uint8Array; readonly output: Uint8Array };

export interface NodeFigures {
  readonly loadSeconds: number;
  /** kernels are made in the first one */
  readonly firstCheckSeconds: number;
  readonly checkSeconds: number;
  /** of a run and its commitment */
  readonly commitSeconds: number;
  /** most that were resident, bytes */
  readonly memory: number;
}

export function asNode(of: NodeSubject): NodeFigures {
  const what =
    "layers" in of ? [`${of.layers}`, `${of.width}`] : [of.folder, toHex(of.calldata), toHex(of.output)];
  const args = ["--import", "tsx", fileURLToPath(import.meta.url), ...what];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

async function measured(of: NodeSubject): Promise<NodeFigures> {
  let since = performance.now();
  const lap = (): number => {
    const seconds = (performance.now() - since) / 1000;
    since = performance.now();
    return seconds;
  };
  const { model, calldata, ...known } = loaded(of);
  const loadSeconds = lap();
  const pool = new CanonicalPool(new Map([["model", model]]));
  const output = known.output ?? (await pool.output("model", calldata));
  await pool.check("model", calldata, output);
  const firstCheckSeconds = lap();
  const { isRight } = await pool.check("model", calldata, output);
  if (!isRight) throw new Error("The answer is wrong.");
  const checkSeconds = lap();
  await pool.trace("model", calldata, { claimed: output });
  const commitSeconds = lap();
  pool.close();
  const memory = mostMemory();
  return { loadSeconds, firstCheckSeconds, checkSeconds, commitSeconds, memory };
}

function loaded(of: NodeSubject): {
  readonly model: CanonicalModel;
  readonly calldata: Uint8Array;
  readonly output?: Uint8Array;
} {
  if ("layers" in of) {
    const model = layeredModel(of.layers, of.width);
    const calldata = encodeInput(model.program, SELECTOR, bytesFor(model));
    return { model: { model, selector: SELECTOR }, calldata };
  }
  const { model, selector, profile } = loadModelFolder(of.folder);
  return { model: { model, selector, profile }, calldata: of.calldata, output: of.output };
}

const [, script, first, second, output] = argv;
if (script === fileURLToPath(import.meta.url)) {
  const of =
    output === undefined
      ? { layers: Number(first), width: Number(second) }
      : { folder: `${first}`, calldata: fromHex(`${second}`), output: fromHex(output) };
  console.log(JSON.stringify(await measured(of)));
}
