/** `assay model halt`: whoever finds that the chain computes something else than the judge stops it. */
import type { Command } from "commander";
import { fromHex } from "../base/bytes.ts";
import { prepare } from "../inference/executor/prepare.ts";
import { loadModelFolder } from "../inference/model-folder.ts";
import { type Difference, findDifference, haltAction } from "../protocol/chain/execution/halt.ts";
import { requireSent } from "../protocol/chain/sent.ts";
import { encodeCall } from "../protocol/rules/abi.ts";
import { chainConfig, withChain, withSender } from "./chain.ts";
import { findModel, modelFolder } from "./model-source.ts";
import { EXIT, printResult, withJson } from "./output.ts";
import { readInputs, requireOneInput } from "./request.ts";

interface HaltOptions {
  readonly inputs?: string;
  readonly text?: string;
}

export function addHaltCommand(model: Command): void {
  const halting = model
    .command("halt")
    .description(
      "compare what the chain computes for an input with the executor; where it differs, halt it for good",
    )
    .argument("<model>", "name or folder of a registered model")
    .option("--inputs <file>", "JSON object of the function's parameters by name, - for standard input")
    .option("--text <text>", "the one text of a model that takes a text");
  withJson(withChain(halting)).action(halt);
}

async function halt(name: string, options: HaltOptions, self: Command): Promise<void> {
  requireOneInput(options);
  const { model, selector } = loadModelFolder(modelFolder(name));
  const prepared = prepare(model, selector);
  const result = await withSender(chainConfig(self), async (chain, sender) => {
    const { modelId, function: called } = await findModel(chain, name);
    const input = encodeCall(called, readInputs({ function: called }, options));
    const difference = await findDifference(chain, modelId, prepared, fromHex(input));
    const action = haltAction(chain, modelId, input, difference);
    if (action === undefined) return { modelId, ...difference };
    return { modelId, ...difference, inclusion: requireSent(`halt ${name}`, await sender.send(action)) };
  });
  printResult(self, result, [describe(result)]);
  if (result.kind !== "none") process.exitCode = EXIT.finding;
}

function describe(difference: Difference): string {
  switch (difference.kind) {
    case "none":
      return "The chain computes what the executor computes, plainly and fast: there is nothing to halt.";
    case "fast":
      return "The fast forms return another output than the plain interpreter: they are halted for this model.";
    case "element":
      return `Element ${difference.element} of step ${difference.step} is another one on the chain: the model's execution is halted.`;
    case "output":
      return `Every tensor is the same and the return data is not, from element ${difference.element} on: the model's execution is halted.`;
  }
}
