/** An implementation under test: a process that answers lines, each by one line, in order. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { type Answer, type Line, readAnswer } from "./lines.ts";

/** Why nothing more is heard of a process. None of these is a wrong value. */
export interface Fault {
  readonly kind: "cannot be started" | "ended" | "hangs" | "answers something else";
  /** a sentence's rest */
  readonly why: string;
}

/** What cannot be told of an implementation because its process fails. */
export class CommandFault extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(`${fault.kind}: ${fault.why}`);
    this.fault = fault;
  }
}

interface Asked {
  readonly isNames: boolean;
  resolve(answer: Answer): void;
  reject(fault: CommandFault): void;
}

/** Characters of an answer at most, and of what a process says beside its answers that are kept. */
const MOST_CHARACTERS = 1 << 28;
const KEPT_CHARACTERS = 2_000;

export class Command {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #timeoutMs: number;
  readonly #asked: Asked[] = [];
  #timer: NodeJS.Timeout | undefined;
  #stderr = "";
  #answer: string[] = [];
  #length = 0;
  #fault: CommandFault | undefined;

  /** @param timeoutMs for one answer */
  constructor([program = "", ...args]: readonly string[], timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.#process = spawn(program, args, { stdio: "pipe" });
    const decoder = new StringDecoder("utf8");
    this.#process.stdout.on("data", (bytes: Buffer) => this.#read(decoder.write(bytes)));
    this.#process.stderr.on("data", (bytes: Buffer) => {
      this.#stderr = (this.#stderr + bytes.toString("utf8")).slice(-KEPT_CHARACTERS);
    });
    // What a process that ends did not read.
    this.#process.stdin.on("error", () => {});
    this.#process.on("error", ({ message }) => this.#fail({ kind: "cannot be started", why: message }));
    this.#process.on("close", (code, signal) => {
      const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
      const last = this.#stderr.trim().split("\n").slice(-3).join(" / ");
      this.#fail({ kind: "ended", why: last === "" ? how : `${how}: ${last}` });
    });
  }

  /** Lines may be asked before earlier ones are answered.
   *  @throws CommandFault */
  ask(line: Line): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#fault !== undefined) {
        reject(this.#fault);
        return;
      }
      this.#asked.push({ isNames: line[0] === "lines", resolve, reject });
      if (this.#asked.length === 1) this.#wait();
      this.#process.stdin.write(`${line.join(" ")}\n`);
    });
  }

  /** Ends the process: by the end of its input, and if that is not enough, by force. */
  async close(): Promise<void> {
    this.#fault ??= new CommandFault({ kind: "ended", why: "closed" });
    if (this.#process.pid === undefined || this.#process.exitCode !== null) return;
    if (this.#process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once("close", resolve));
    this.#process.stdin.end();
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), Math.min(2_000, this.#timeoutMs));
    await ended;
    clearTimeout(timer);
  }

  #read(text: string): void {
    const [first = "", ...rest] = text.split("\n");
    this.#keep(first);
    for (const part of rest) {
      const answer = this.#answer.join("");
      this.#answer = [];
      this.#length = 0;
      this.#take(answer.endsWith("\r") ? answer.slice(0, -1) : answer);
      this.#keep(part);
    }
  }

  #keep(part: string): void {
    this.#answer.push(part);
    this.#length += part.length;
    if (this.#length > MOST_CHARACTERS) {
      this.#fail({
        kind: "answers something else",
        why: `a line of more than ${MOST_CHARACTERS} characters`,
      });
    }
  }

  #take(text: string): void {
    const asked = this.#asked[0];
    const answer = asked === undefined ? undefined : readAnswer(text, asked.isNames);
    if (asked === undefined || answer === undefined) {
      const shown = JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
      const what =
        asked === undefined ? "a line that nothing asked for" : "neither ok with words of bytes nor refused";
      this.#fail({ kind: "answers something else", why: `${what}: ${shown}` });
      return;
    }
    this.#asked.shift();
    this.#wait();
    asked.resolve(answer);
  }

  /** Starts the clock of the next answer. */
  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#asked.length === 0) return;
    this.#timer = setTimeout(
      () => this.#fail({ kind: "hangs", why: `no answer within ${this.#timeoutMs / 1000} s` }),
      this.#timeoutMs,
    );
  }

  #fail(fault: Fault): void {
    clearTimeout(this.#timer);
    this.#fault ??= new CommandFault(fault);
    for (const { reject } of this.#asked.splice(0)) reject(this.#fault);
    this.#process.kill("SIGKILL");
  }
}
