import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram, loadCommands } from "../../cli/program.ts";

/** All that a command says of itself and of those below it. */
const helpOf = (command: Command): string[] => [
  command.helpInformation(),
  ...command.commands.flatMap((one) => helpOf(one)),
];
const whole = createProgram(await loadCommands());

describe("loadCommands", () => {
  test.each(whole.commands.map((command) => [command.name(), command] as const))(
    "default: %s alone is what it is beside the others",
    async (name, command) => {
      const alone = createProgram(await loadCommands([name, "--help"]));
      const found = alone.commands.find((one) => one.name() === name) as Command;
      expect(helpOf(found)).toEqual(helpOf(command));
      // Completion tells of all the others.
      expect(alone.commands.length < 3 || name === "completion").toBe(true);
    },
  );

  test("behavior: a word that is no command, and an option, load all", async () => {
    for (const args of [["nothing"], ["--debug", "prover"], []])
      expect(await loadCommands(args)).toHaveLength((await loadCommands()).length);
    expect(await loadCommands(["--version"])).toEqual([]);
  });
});
