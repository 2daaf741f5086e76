/** Models of demonstrations. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { Address, Hex } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { type LoadedModel, loadModelFolder } from "../../inference/model-folder.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { contractOf } from "../../protocol/chain/execution/infer.ts";
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import type { Sender } from "../../protocol/chain/sender.ts";
import { modelFolder } from "../model-source.ts";

/** Registers the models and publishes their weights, so that contracts can run them. */
export async function publishModels(
  chain: Chain,
  sender: Sender,
  names: readonly string[],
  log: (line: string) => void = () => undefined,
): Promise<Map<string, LoadedModel>> {
  const models = new Map<string, LoadedModel>();
  for (const name of names) {
    const loaded = loadModelFolder(modelFolder(name));
    const { model, commitment, selector, laneBits: lanes, manifest } = loaded;
    const identity = { ...commitment, selector, lanes, vkHash: fromHex(manifest.assay.vkHash) };
    const { modelId } = await registerModel(chain, sender, encodeProgram(model.program), identity);
    const { gasUsed, transactions } = await publishWeights(chain, sender, modelId, planPublication(model));
    log(`published ${name}: ${transactions} transactions, ${gasUsed.toLocaleString("en")} gas`);
    models.set(name, loaded);
  }
  return models;
}

/** A folder of these models alone: a node that is given it loads no others.
 *  @param parent where it is made */
export function folderOf(parent: string, name: string, models: readonly string[]): string {
  const folder = join(parent, name);
  for (const model of models) cpSync(modelFolder(model), join(folder, model), { recursive: true });
  return folder;
}

/** A model as contracts take it: OnChainModel. */
export function onChainModel(
  chain: Chain,
  models: ReadonlyMap<string, LoadedModel>,
  name: string,
): { interpreter: Address; id: Hex; selector: Hex } {
  const { modelId, selector } = models.get(name) as LoadedModel;
  return { interpreter: contractOf(chain, "interpreter"), id: modelId, selector: toHex(selector) };
}
