/** Signed answers of one `assay prover` process over HTTP/1.1 keep-alive, its client on the same machine: how many a
 *  second, and how long each takes; the journal is on the disk before an answer leaves. */
import { connect as connectTo, type Socket } from "node:net";
import { parseEther } from "viem";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { fetchMetrics } from "../../test/support/exposition.ts";
import { encodeText } from "../../test/support/sentiment-call.ts";
import { ROLES, startSystem, systemAccount } from "../../test/support/system.ts";
import type { Figure, Part } from "../report.ts";

const ANSWERS = 20_000;
const WARM_UP = 2_000;
const CONNECTIONS = [1, 8, 16, 32];
/** Of the figure that has the target. */
const MANY = 32;
const LEAST_A_SECOND = 2_000;
const MOST_MS = 5;
/** T: no window ends meanwhile. */
const ANSWER_SECONDS = 3_600;

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

  post(path: string, body: Uint8Array): Promise<number> {
    if (this.#isEnding) {
      this.close();
      this.#isEnding = false;
      this.#socket = this.#open();
    }
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\nContent-Length: ${body.length}\r\n\r\n`;
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

interface Load {
  readonly aSecond: number;
  /** ms */
  readonly median: number;
  readonly p95: number;
  readonly p99: number;
  readonly refused: number;
}

/** @param bodies asked for in turn */
async function load(
  port: number,
  path: string,
  bodies: readonly Uint8Array[],
  connections: number,
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
        if ((await client.post(path, bodies[at] as Uint8Array)) !== 200) refused += 1;
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

async function measure(): Promise<readonly Figure[]> {
  const system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  try {
    const model = system.model("sentiment");
    const { chain, sender } = await system.open("staker", ROLES.cheat);
    const actions = new PromiseActions(promisesOf(chain.deployment), chain.game);
    const prover = systemAccount(ROLES.prover).address;
    await sender.send(actions.deposit(prover, parseEther("10"), "bench"));
    const args = ["prover", "--port", "0", "--sign", "on", "--rate-per-minute", "0"];
    const { url } = await system.daemon("prover", ROLES.prover, args).logged("prover is up");
    const port = Number(new URL(url as string).port);
    const path = `/tools/${model.manifest.assay.modelId}?finality=signed`;
    let text = 0;
    const bodies = (count: number) =>
      Array.from({ length: count }, () =>
        encodeText(model, `Company ${text++} raises its outlook after a strong quarter`),
      );
    while ((await load(port, path, bodies(1), 1)).refused > 0) await new Promise((r) => setTimeout(r, 100));
    await load(port, path, bodies(WARM_UP), MANY);
    const figures: Figure[] = [];
    const processor = async () =>
      (await fetchMetrics(url as string)).get("process_cpu_seconds_total") ?? Number.NaN;
    const since = await processor();
    for (const connections of CONNECTIONS) {
      const { aSecond, median, p95, p99, refused } = await load(port, path, bodies(ANSWERS), connections);
      if (refused > 0) throw new Error(`${refused} of ${ANSWERS} answers were refused`);
      const name = `signed answers a second, ${connections} connection${connections === 1 ? "" : "s"}`;
      const value = Math.round(aSecond).toLocaleString("en-US");
      const isTarget = connections === MANY;
      figures.push({
        ...{ name, value },
        ...(isTarget
          ? { target: `≥ ${LEAST_A_SECOND.toLocaleString("en-US")}`, isMet: aSecond >= LEAST_A_SECOND }
          : {}),
      });
      figures.push({
        name: `… their median, 95 % and 99 %, ${connections} connection${connections === 1 ? "" : "s"}`,
        value: `${median.toFixed(1)}, ${p95.toFixed(1)}, ${p99.toFixed(1)} ms`,
        ...(connections === 1 ? { target: `median ≤ ${MOST_MS} ms`, isMet: median <= MOST_MS } : {}),
      });
    }
    // What a busy machine does not change as much: threads are counted, the child with onnxruntime is not.
    const spent = (1_000 * ((await processor()) - since)) / (ANSWERS * CONNECTIONS.length);
    figures.push({
      name: "processor time of an answer, the prover's process",
      value: `${spent.toFixed(2)} ms`,
    });
    return figures;
  } finally {
    await system.stop();
  }
}

export const SIGNED_PART: Part = {
  name: "signed",
  title: "Signed answers",
  method: `One \`assay prover --sign on\` process and its client on this machine: ${ANSWERS.toLocaleString("en-US")} different headlines for \`models/sentiment\` at each number of connections, HTTP/1.1 keep-alive, calldata form. Each is run by onnxruntime and by the canonical executor, signed, and journalled with the disk's flush before it is answered.`,
  run: measure,
};
