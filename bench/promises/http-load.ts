/** Many callers of one HTTP/1.1 server, and how long each answer takes. */
import { connect as connectTo, type Socket } from "node:net";

/** One request after another on one connection, which is opened anew when the server has had enough of it. */
class KeptAlive {
  readonly #port: number;
  #socket: Socket;
  #buffer = "";
  #isEnding = false;
  #answered: ((status: number) => void) | undefined;

  constructor(port: number) {
    this.#port = port;
    this.#socket = this.#open();
  }

  post(path: string, body: Uint8Array, type: string): Promise<number> {
    if (this.#isEnding) {
      this.close();
      this.#isEnding = false;
      this.#socket = this.#open();
    }
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`;
    this.#socket.write(Buffer.concat([Buffer.from(head), body]));
    return new Promise((resolve) => {
      this.#answered = resolve;
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #open(): Socket {
    const socket = connectTo(this.#port, "127.0.0.1");
    socket.setNoDelay(true);
    return socket.on("data", (chunk: Buffer) => this.#take(chunk.toString("latin1")));
  }

  #take(text: string): void {
    this.#buffer += text;
    const end = this.#buffer.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = this.#buffer.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#buffer.length < end + 4 + length) return;
    this.#buffer = this.#buffer.slice(end + 4 + length);
    this.#isEnding = /connection: close/i.test(head);
    this.#answered?.(Number(head.slice(9, 12)));
  }
}

export interface Load {
  /** requests, those that were refused included */
  readonly aSecond: number;
  /** ms */
  readonly median: number;
  readonly p95: number;
  readonly p99: number;
  readonly refused: number;
}

/** @param bodies asked for in turn */
export async function load(
  port: number,
  path: string,
  bodies: readonly Uint8Array[],
  connections: number,
  type = "application/octet-stream",
): Promise<Load> {
  const clients = Array.from({ length: connections }, () => new KeptAlive(port));
  const times: number[] = [];
  let next = 0;
  let refused = 0;
  const since = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      for (let at = next++; at < bodies.length; at = next++) {
        const begun = performance.now();
        if ((await client.post(path, bodies[at] as Uint8Array, type)) !== 200) refused += 1;
        times.push(performance.now() - begun);
      }
    }),
  );
  const seconds = (performance.now() - since) / 1_000;
  for (const client of clients) client.close();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))] as number;
  return { aSecond: bodies.length / seconds, median: at(0.5), p95: at(0.95), p99: at(0.99), refused };
}
