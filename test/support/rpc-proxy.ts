/** Stands between a client and a node, and holds back or answers what a test wants. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}
/** What to do with a call: pass it on, break the connection, never answer, pass it on and never answer, or answer
 *  with an error or a result of one's own. */
export type Verdict =
  | "pass"
  | "break"
  | "hold"
  | "swallow"
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly result: unknown };

export interface RpcProxy {
  readonly url: string;
  /** decides about each call; may be replaced at any time, and may take its time */
  decide: (call: RpcCall) => Verdict | Promise<Verdict>;
  /** called once the node has a call that is never answered, or will never have it */
  onSilence: (verdict: "hold" | "swallow") => void;
  stop(): Promise<void>;
}

/** Pages of any origin may ask. */
const ANYBODY = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };

export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const server = createServer(async (request, response) => {
    if (request.method === "OPTIONS") return response.writeHead(204, ANYBODY).end();
    const body: unknown = JSON.parse(await textOf(request));
    const calls = (Array.isArray(body) ? body : [body]) as RpcCall[];
    const verdicts = await Promise.all(calls.map((call) => proxy.decide(call)));
    if (verdicts.includes("break")) return request.socket.destroy();
    if (verdicts.includes("hold")) return proxy.onSilence("hold");
    const answer = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answered: unknown = await answer.json();
    if (verdicts.includes("swallow")) return proxy.onSilence("swallow");
    const refused = new Map(calls.map(({ id }, i) => [id, verdicts[i]]));
    const answers = (Array.isArray(answered) ? answered : [answered]).map((one: { id: number }) => {
      const verdict = refused.get(one.id);
      return typeof verdict === "object" ? { jsonrpc: "2.0", id: one.id, ...verdict } : one;
    });
    response
      .writeHead(answer.status, { ...ANYBODY, "content-type": "application/json" })
      .end(JSON.stringify(Array.isArray(answered) ? answers : answers[0]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const proxy: RpcProxy = {
    url: `http://127.0.0.1:${port}`,
    decide: () => "pass",
    onSilence: () => undefined,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return proxy;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part as Uint8Array);
  return Buffer.concat(parts).toString("utf8");
}
