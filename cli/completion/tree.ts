/** What can follow each command, taken from the program itself. */
import type { Command, Option } from "commander";

export interface Word {
  readonly word: string;
  readonly description: string;
}

/** One command, named by the words that lead to it. */
export interface Place {
  /** "" for the program, else "challenger watch" and the like */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
  /** options that take a value, which is a file's name or nothing that is known here */
  readonly valued: readonly string[];
}

/** @returns the program and each of its commands, outer ones first */
export function placesOf(program: Command): Place[] {
  const shared = program.options.filter((option) => !option.hidden);
  const visit = (command: Command, path: string): Place[] => {
    const options = new Set([...command.options.filter((option) => !option.hidden), ...shared]);
    const place: Place = {
      path,
      commands: command.commands.map((one) => ({ word: one.name(), description: one.description() })),
      options: [...[...options].map(wordOf), { word: "--help", description: "display help for command" }],
      valued: [...options].filter(({ required, optional }) => required || optional).map(longOf),
    };
    const below = command.commands.flatMap((one) => visit(one, `${path} ${one.name()}`.trim()));
    return [place, ...below];
  };
  return visit(program, "");
}

const longOf = ({ long, short }: Option): string => long ?? short ?? "";
const wordOf = (option: Option): Word => ({ word: longOf(option), description: option.description });
