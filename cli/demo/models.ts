/** Models that contracts run themselves. */
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

/** A model as contracts take it: OnChainModel. */
export function onChainModel(
  chain: Chain,
  models: ReadonlyMap<string, LoadedModel>,
  name: string,
): { interpreter: Address; id: Hex; selector: Hex } {
  const { modelId, selector } = models.get(name) as LoadedModel;
  return { interpreter: contractOf(chain, "interpreter"), id: modelId, selector: toHex(selector) };
}
