/** What a demonstration prints while it runs: lines with their second, and a sign of life where it is silent. */

/** After which a line says what is waited for. */
const SILENCE_MS = 5_000;

export class Progress {
  readonly #startMs: number;
  readonly #print: (line: string) => void;
  #printedMs = 0;

  /** @param startMs first second, ms since 1970 */
  constructor(startMs: number, print: (line: string) => void = (line) => console.log(line)) {
    this.#startMs = startMs;
    this.#print = print;
  }

  log(text: string): void {
    this.#printedMs = Date.now();
    const seconds = ((Date.now() - this.#startMs) / 1_000).toFixed(1).padStart(6);
    this.#print(`${seconds} s  ${text}`);
  }

  /** Waits, and says what for whenever nothing else was printed for a while: a busy machine takes its time.
   *  @param what as in "still …", asked anew for each line */
  async during<Value>(what: () => string, work: Promise<Value>): Promise<Value> {
    this.#printedMs = Date.now();
    const timer = setInterval(() => {
      if (Date.now() - this.#printedMs >= SILENCE_MS) this.log(`still ${what()}`);
    }, SILENCE_MS / 5);
    try {
      return await work;
    } finally {
      clearInterval(timer);
    }
  }
}
