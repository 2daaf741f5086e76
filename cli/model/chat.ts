/** `assay model chat MODEL [TEXT]`: what a derived language model answers, in text. */
import { createInterface } from "node:readline";
import type { Command } from "commander";
import { isBaseError } from "../../base/errors.ts";
import type { Message } from "../../inference/text/chat.ts";
import { printResult, reportError, withJson } from "../output.ts";
import { terminalText } from "../terminal-text.ts";
import { type Answer, type Chat, localChat, proverChat } from "./chat-answers.ts";

interface Flags {
  readonly system?: string;
  readonly prover?: string;
  readonly json?: boolean;
}

export function addChatCommand(parent: Command): void {
  const command = parent
    .command("chat <model> [text]")
    .description("ask a derived language model; without a text, each line of the standard input is a turn")
    .option("--system <text>", "system message, in the place of the chat template's own")
    .option("--prover <url>", "ask this prover, which has the model, instead of running it here");
  withJson(command).action(async (name: string, text: string | undefined, flags: Flags, self: Command) => {
    const chat = flags.prover === undefined ? localChat(name) : proverChat(name, flags.prover);
    const begin: Message[] = flags.system === undefined ? [] : [{ role: "system", content: flags.system }];
    if (text !== undefined) {
      await turn(chat, [...begin, { role: "user", content: text }], self);
      return;
    }
    await conversation(chat, begin, self);
  });
}

/** Answers the last message. @returns the conversation with the answer, without the turns that do not fit */
async function turn(chat: Chat, messages: readonly Message[], self: Command): Promise<readonly Message[]> {
  const { json } = self.optsWithGlobals<{ json?: boolean }>();
  const write = json === true ? () => {} : (part: string) => process.stdout.write(terminalText(part));
  const { answer, messages: kept } = await chat(messages, write);
  if (json !== true) process.stdout.write("\n");
  printResult(self, answer, linesOf(answer));
  return [...kept, { role: "assistant", content: answer.text }];
}

/** Each line is a turn; at a terminal one that cannot be answered does not end the conversation. */
async function conversation(chat: Chat, begin: readonly Message[], self: Command): Promise<void> {
  const isTerminal = process.stdin.isTTY === true;
  const lines = createInterface({ input: process.stdin, ...(isTerminal ? { output: process.stderr } : {}) });
  lines.setPrompt("> ");
  let messages = begin;
  if (isTerminal) lines.prompt();
  for await (const line of lines) {
    if (line.trim() !== "")
      try {
        messages = await turn(chat, [...messages, { role: "user", content: line }], self);
      } catch (error) {
        if (!isTerminal || !isBaseError(error)) throw error;
        reportError(error);
      }
    if (isTerminal) lines.prompt();
  }
}

function linesOf({ modelId, promptIds, ids, inputHash, outputHash, claim, status }: Answer): string[] {
  return [
    `model ${modelId}`,
    `${promptIds === undefined ? "" : `${promptIds} ids asked, `}${ids.length} answered`,
    `input ${inputHash}, output ${outputHash}`,
    ...(status === undefined
      ? []
      : [`the prover says: ${status}${claim === undefined ? "" : `, claim ${claim}`}`]),
  ];
}
