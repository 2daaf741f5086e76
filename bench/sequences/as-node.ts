/** What a node does with a model's folder, in a process of its own, so that its memory is that of a node: it loads the
 *  model, checks an answer twice and commits to the trace of one. */
import { execFileSync } from "node:child_process";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { fromHex, toHex } from "../../base/bytes.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { CanonicalPool } from "../../inference/runtime/canonical-pool.ts";
import { mostMemory } from "../memory.ts";

export interface NodeFigures {
  readonly loadSeconds: number;
  /** kernels are made in the first one */
  readonly firstCheckSeconds: number;
  readonly checkSeconds: number;
  readonly commitSeconds: number;
  /** most that were resident, bytes */
  readonly memory: number;
}

/** @param output return data of which the answer consists */
export function asNode(folder: string, calldata: Uint8Array, output: Uint8Array): NodeFigures {
  const args = ["--import", "tsx", fileURLToPath(import.meta.url), folder, toHex(calldata), toHex(output)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

async function measured(folder: string, calldata: Uint8Array, output: Uint8Array): Promise<NodeFigures> {
  let since = performance.now();
  const lap = (): number => {
    const seconds = (performance.now() - since) / 1000;
    since = performance.now();
    return seconds;
  };
  const { modelId, model, selector, profile } = loadModelFolder(folder);
  const loadSeconds = lap();
  const pool = new CanonicalPool(new Map([[modelId, { model, selector, profile }]]));
  await pool.check(modelId, calldata, output);
  const firstCheckSeconds = lap();
  const { isRight } = await pool.check(modelId, calldata, output);
  if (!isRight) throw new Error("The answer is wrong.");
  const checkSeconds = lap();
  await pool.trace(modelId, calldata, { claimed: output });
  const commitSeconds = lap();
  pool.close();
  const memory = mostMemory();
  return { loadSeconds, firstCheckSeconds, checkSeconds, commitSeconds, memory };
}

const [, script, folder, calldata, output] = argv;
if (script === fileURLToPath(import.meta.url))
  console.log(JSON.stringify(await measured(`${folder}`, fromHex(`${calldata}`), fromHex(`${output}`))));
