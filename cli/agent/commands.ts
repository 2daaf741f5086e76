/** `assay agent`: executors of agents, their models and their records. */
import type { Command } from "commander";
import { installLlama, SMALL_MODEL } from "../../agent/executor/models/llama/install.ts";
import { CHAIN_SETTINGS } from "../../protocol/service/config.ts";
import { withSettings } from "../chain.ts";
import { printProgress, printResult, withJson } from "../output.ts";
import { addChoicesCommand } from "./choices.ts";
import { addDevChainCommand } from "./devchain.ts";
import { addExecutorCommand, addRunCommand } from "./executor.ts";
import { agentCommand } from "./http.ts";
import { llamaFolder, MODEL_SETTINGS, modelConfig } from "./models.ts";
import { addRedundantCommand } from "./redundant.ts";
import { addTranscriptCommands } from "./transcript.ts";

export function addAgentCommands(program: Command): void {
  const agent = agentCommand(program);
  addExecutorCommand(agent);
  addRunCommand(agent);
  addTranscriptCommands(agent);
  addDevChainCommand(agent);
  addRedundantCommand(agent);
  addChoicesCommand(agent);
  const install = agent
    .command("llama")
    .description("the local language model")
    .command("install")
    .description(`install llama.cpp and ${SMALL_MODEL.name} into the data folder (98 MB); harmless to repeat`)
    .option("--python <program>", "interpreter that fetches the model's package", "python3");
  const settings = { data: CHAIN_SETTINGS.data, llama: MODEL_SETTINGS.llama };
  withJson(withSettings(install, settings)).action(async ({ python }: { python: string }, self: Command) => {
    const folder = llamaFolder(modelConfig(self));
    const isNew = await installLlama({ folder, python, onProgress: printProgress });
    printResult(self, { folder, model: SMALL_MODEL, isNew }, [
      `${SMALL_MODEL.name} is in ${folder}${isNew ? "" : ", installed before"}`,
    ]);
  });
}
