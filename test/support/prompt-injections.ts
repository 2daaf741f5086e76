/** The collected attacks on agents: see `about` in the file. */
import { readFileSync } from "node:fs";

export interface PromptInjection {
  readonly name: string;
  readonly kind: string;
  /** where the attacker writes */
  readonly place: "toolResult" | "prompt" | "metadata" | "name";
  readonly text: string;
}

interface InjectionFile {
  readonly unlistedTool: string;
  readonly attacker: string;
  readonly cases: readonly PromptInjection[];
}

export const INJECTIONS = JSON.parse(
  readFileSync(new URL("../vectors/prompt-injections.json", import.meta.url), "utf8"),
) as InjectionFile;
