/** `assay model register`: puts a model's key, program and identity on the chain. */
import type { Command } from "commander";
import { fromHex } from "../base/bytes.ts";
import { loadModelFolder } from "../inference/model-folder.ts";
import { encodeProgram } from "../inference/program/encode.ts";
import { assertKeyAllowed, storeKey } from "../protocol/chain/proof/store-key.ts";
import { registerModel } from "../protocol/chain/register.ts";
import { LANE } from "../protocol/rules/types.ts";
import { isProofModelFolder, loadProofModel } from "../prover/proof/ezkl/folder.ts";
import { registerEzkl } from "../prover/proof/ezkl/register.ts";
import { chainConfig, withChain, withSender } from "./chain.ts";
import { executionRefusal } from "./execution.ts";
import { modelFolder } from "./model-source.ts";
import { printProgress, printResult, withJson } from "./output.ts";

interface Options {
  readonly allowDevelopmentKeys?: boolean;
}

export function addRegisterCommand(model: Command): void {
  const command = model
    .command("register")
    .description("register a model, with its verification key; harmless to repeat")
    .argument("<model>", "name or folder of a model")
    .option(
      "--allow-development-keys",
      "also on a chain that is not local: whoever knows the seed can forge proofs there",
    );
  withJson(withChain(command)).action(async (name: string, options: Options, self: Command) => {
    if (isProofModelFolder(modelFolder(name))) return registerProofModel(name, options, self);
    const loaded = loadModelFolder(modelFolder(name));
    const { model, commitment, selector, laneBits, manifest, verificationKey } = loaded;
    const unusable = (laneBits & LANE.EXECUTION) === 0 ? undefined : executionRefusal(loaded);
    if (unusable !== undefined)
      printProgress(`note: the lane EXECUTION will not work. ${unusable.shortMessage}`);
    const identity = { ...commitment, selector, lanes: laneBits, vkHash: fromHex(manifest.assay.vkHash) };
    const program = encodeProgram(model.program);
    const allowDevelopment = options.allowDevelopmentKeys === true;
    const result = await withSender(chainConfig(self), async (chain, sender) => {
      if (verificationKey !== undefined) assertKeyAllowed(chain, verificationKey, allowDevelopment);
      const registered = await registerModel(chain, sender, program, identity, printProgress);
      if (verificationKey !== undefined) {
        const { modelId } = registered;
        const stored = await storeKey(chain, sender, modelId, verificationKey, { allowDevelopment });
        if (stored.isNew) printProgress(`stored the verification key ${manifest.assay.vkHash}`);
      }
      return registered;
    });
    printResult(self, { name, ...result }, [
      `${name} is model ${result.modelId}${result.isNew ? "" : ", registered before"}`,
    ]);
  });
}

async function registerProofModel(name: string, options: Options, self: Command): Promise<void> {
  const model = loadProofModel(modelFolder(name));
  const allowed = options.allowDevelopmentKeys === true;
  const result = await withSender(chainConfig(self), (chain, sender) =>
    registerEzkl(chain, sender, model, allowed, printProgress),
  );
  printResult(self, { name, ...result }, [
    `${name} is model ${result.modelId}${result.isNew ? "" : ", registered before"}`,
    `its verifier is at ${result.verifier}`,
  ]);
}
