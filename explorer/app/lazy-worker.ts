import { type Endpoint, type Remote, wrap } from "comlink";

interface Running<T> {
  readonly remote: Remote<T>;
  /** rejects when the worker ends before it answers */
  readonly ended: Promise<never>;
  readonly end: (error: Error) => void;
}

type EndableWorker = Endpoint & { terminate(): void };

/** A worker that is loaded when it is first needed, and anew after it has broken off: whoever waits for it then is told. */
export class LazyWorker<T> {
  readonly #create: () => EndableWorker;
  /** as errors name it: "The importer" */
  readonly #name: string;
  readonly #prepare: (remote: Remote<T>) => void;
  #running: Running<T> | undefined;

  /** @param prepare called with each worker before all else */
  constructor(name: string, create: () => EndableWorker, prepare: (remote: Remote<T>) => void = () => {}) {
    this.#name = name;
    this.#create = create;
    this.#prepare = prepare;
  }

  /** @param signal ends the worker at once, whatever it is at */
  async call<R>(work: (remote: Remote<T>) => R, signal?: AbortSignal): Promise<Awaited<R>> {
    const { remote, ended, end } = this.#started();
    const abort = () => end(new DOMException("It was stopped.", "AbortError"));
    signal?.addEventListener("abort", abort);
    try {
      return await Promise.race([work(remote), ended]);
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Loads the worker for a call that will come. */
  start(): void {
    this.#started();
  }

  #started(): Running<T> {
    if (this.#running !== undefined) return this.#running;
    const worker = this.#create();
    let end: (error: Error) => void = () => undefined;
    const ended = new Promise<never>((_, reject) => {
      end = (error) => {
        worker.terminate();
        this.#running = undefined;
        reject(error);
      };
    });
    // Nobody may be waiting for it.
    ended.catch(() => undefined);
    worker.addEventListener("error", (event: Event) => {
      const { message } = event as Event & { message?: string };
      const why = message ? `: ${message}` : "";
      end(new Error(`${this.#name} broke off${why}. This browser may have too little memory.`));
    });
    this.#running = { remote: wrap<T>(worker), ended, end };
    this.#prepare(this.#running.remote);
    return this.#running;
  }
}
