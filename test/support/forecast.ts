/** The smallest shipped model, as a node loads it, with inputs for it. */
import { join } from "node:path";
import type { Hex } from "viem";
import { toHex } from "../../base/bytes.ts";
import { type LoadedModel, loadModelFolder } from "../../inference/model-folder.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { projectRoot } from "../../tools/foundry.ts";

export const loadForecast = (): LoadedModel => loadModelFolder(join(projectRoot, "models/forecast-vix"));

/** Calldata of realistic prices. @param seed any integer of at least 0 */
export const forecastInput = ({ model, selector }: LoadedModel, seed: number): Hex =>
  toHex(selfTestCalldata(model.program, selector, 2 * seed));
