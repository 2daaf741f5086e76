/** `assay model compile`: turns a registered model's linear layers into EVM code, for anybody's inference. */
import type { Command } from "commander";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { compileModel, compileProgress, planCompilation } from "../../protocol/chain/execution/compiled.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { chainConfig, withChain, withSender } from "../chain.ts";
import { modelFolder } from "../model-source.ts";
import { printProgress, printResult, withJson } from "../output.ts";

export function addCompileCommand(model: Command): void {
  const command = model
    .command("compile")
    .description("turn a registered model's linear layers into EVM code; resumable, harmless to repeat")
    .argument("<model>", "name or folder of a model");
  withJson(withChain(command)).action(async (name: string, _options: object, self: Command) => {
    const loaded = loadModelFolder(modelFolder(name));
    const modelId = loaded.modelId as ModelId;
    const plan = planCompilation(loaded.model.program);
    const result = await withSender(chainConfig(self), async (chain, sender) => {
      const { parts, built } = await compileProgress(chain, modelId, loaded.model.program);
      printProgress(`${parts} parts, ${built} of them there; some ${plan.gas} gas for all`);
      if (plan.interpreted.length > 0) {
        printProgress(`steps ${plan.interpreted.join(", ")} are in the binary32 form and stay interpreted`);
      }
      return compileModel(chain, sender, modelId, loaded.model, printProgress);
    });
    const { directory, built, found, gasUsed } = result;
    printResult(self, { name, modelId, estimatedGas: plan.gas, ...result }, [
      `${name} is compiled: ${built + found} parts, ${built} of them built now, for ${gasUsed} gas`,
      `  directory ${directory}`,
    ]);
  });
}
