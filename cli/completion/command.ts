/** `assay completion bash|zsh|fish` */
import { Argument, type Command } from "commander";
import { bashScript, fishScript, zshScript } from "./scripts.ts";
import { placesOf } from "./tree.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SCRIPTS;

export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print a script that completes commands and options in a shell")
    .addArgument(new Argument("<shell>", "which one").choices(Object.keys(SCRIPTS)))
    .action((shell: Shell) => {
      console.log(SCRIPTS[shell](placesOf(program)));
    });
}
