import { expose } from "comlink";
import { describe, expect, it } from "vitest";
import { LazyWorker } from "../../../explorer/app/lazy-worker.ts";

interface Work {
  double(value: number): number;
  never(): Promise<void>;
}

/** A worker as the page sees it: an endpoint of messages that may break off. */
class PortWorker extends EventTarget {
  readonly #channel = new MessageChannel();
  ended = false;

  constructor() {
    super();
    expose(
      { double: (value: number) => 2 * value, never: () => new Promise(() => undefined) },
      this.#channel.port2,
    );
    this.#channel.port1.addEventListener("message", (event) => {
      const { data } = event as MessageEvent;
      this.dispatchEvent(new MessageEvent("message", { data }));
    });
    this.#channel.port1.start();
  }

  postMessage(message: unknown): void {
    this.#channel.port1.postMessage(message);
  }

  terminate(): void {
    this.ended = true;
    this.#channel.port1.close();
  }

  breakOff(message: string): void {
    this.dispatchEvent(Object.assign(new Event("error"), { message }));
  }
}

function lazy() {
  const workers: PortWorker[] = [];
  const worker = new LazyWorker<Work>("The importer", () => {
    workers.push(new PortWorker());
    return workers.at(-1) as PortWorker;
  });
  return { worker, workers };
}

describe("LazyWorker", () => {
  it("default: is loaded at the first call, once", async () => {
    const { worker, workers } = lazy();
    expect(workers).toHaveLength(0);
    expect(await worker.call((remote) => remote.double(2))).toBe(4);
    expect(await worker.call((remote) => remote.double(3))).toBe(6);
    expect(workers).toHaveLength(1);
    workers[0]?.terminate();
  });

  it("behavior: one that was started before the first call answers it", async () => {
    const { worker, workers } = lazy();
    worker.start();
    worker.start();
    expect(workers).toHaveLength(1);
    expect(await worker.call((remote) => remote.double(2))).toBe(4);
    expect(workers).toHaveLength(1);
    workers[0]?.terminate();
  });

  it("error: one that breaks off ends every call that waits, and the next call has a new one", async () => {
    const { worker, workers } = lazy();
    const waiting = [worker.call((remote) => remote.never()), worker.call((remote) => remote.never())];
    workers[0]?.breakOff("out of memory");
    for (const call of waiting) {
      await expect(call).rejects.toThrow(
        "The importer broke off: out of memory. This browser may have too little memory.",
      );
    }
    expect(workers[0]?.ended).toBe(true);
    expect(await worker.call((remote) => remote.double(2))).toBe(4);
    expect(workers).toHaveLength(2);
    workers[1]?.terminate();
  });

  it("behavior: an aborted call ends the worker, whatever it is at", async () => {
    const { worker, workers } = lazy();
    const stop = new AbortController();
    const call = worker.call((remote) => remote.never(), stop.signal);
    stop.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    expect(workers[0]?.ended).toBe(true);
  });
});
