/** `assay model …`: import, derive, run, chat, inspect, verify, eval, compile. */

import type { Command } from "commander";
import type { NamedEngine } from "../../inference/model-values.ts";
import { addChatCommand } from "./chat.ts";
import { addCompileCommand } from "./compile.ts";
import { addDeriveCommand } from "./derive.ts";
import { addEvalCommand } from "./eval/command.ts";
import { addImportCommand } from "./import.ts";
import { addInspectCommand } from "./inspect.ts";
import { addRunCommand } from "./run.ts";
import { addVerifyCommand } from "./verify.ts";

/** The command that holds all model commands, made if it is not there. */
export function modelCommand(program: Command): Command {
  const found = program.commands.find((c) => c.name() === "model");
  return found ?? program.command("model").description("import, run and check models");
}

/** @param engines engines besides the canonical executor, by name: `onnxruntime` */
export function addModelCommands(
  program: Command,
  engines: Readonly<Record<string, NamedEngine>> = {},
): void {
  const model = modelCommand(program);
  addImportCommand(model);
  addDeriveCommand(model);
  addRunCommand(model, engines);
  addChatCommand(model);
  addInspectCommand(model);
  addVerifyCommand(model);
  addEvalCommand(model);
  addCompileCommand(model);
}
