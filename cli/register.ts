/** `assay model register`: puts a model's program and identity on the chain. */
import type { Command } from "commander";
import { fromHex } from "../inference/bytes.ts";
import { loadModelFolder } from "../inference/model-folder.ts";
import { encodeProgram } from "../inference/program/encode.ts";
import { registerModel } from "../protocol/chain/register.ts";
import { chainConfig, withChain, withSender } from "./chain.ts";
import { modelFolder } from "./model-source.ts";
import { printProgress, printResult, withJson } from "./output.ts";

export function addRegisterCommand(model: Command): void {
  const command = model
    .command("register")
    .description("register a model; harmless to repeat")
    .argument("<model>", "name or folder of a model");
  withJson(withChain(command)).action(async (name: string, _options: object, self: Command) => {
    const { model, commitment, selector, laneBits: lanes, manifest } = loadModelFolder(modelFolder(name));
    const identity = { ...commitment, selector, lanes, vkHash: fromHex(manifest.assay.vkHash) };
    const program = encodeProgram(model.program);
    const result = await withSender(chainConfig(self), (chain, sender) =>
      registerModel(chain, sender, program, identity, printProgress),
    );
    printResult(self, { name, ...result }, [
      `${name} is model ${result.modelId}${result.isNew ? "" : ", registered before"}`,
    ]);
  });
}
