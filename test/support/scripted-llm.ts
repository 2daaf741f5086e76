/** A local server that speaks the OpenAI protocol and completes prompts by a script. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ScriptedRequest {
  readonly model: string;
  readonly prompt: string;
  readonly stop: readonly string[];
  readonly seed: number;
  readonly temperature: number;
  readonly authorization: string | undefined;
}

/** What the server does: a completion, an HTTP status, a body as it is, a broken connection, or no answer at all. */
export type ScriptedReply =
  | string
  | { readonly status: number; readonly message?: string }
  | { readonly body: unknown }
  | { readonly finish: string; readonly text: string }
  | "#reset"
  | "#silence";

export type Script = (request: ScriptedRequest, index: number) => ScriptedReply;

export interface ScriptedLlm {
  /** with the version path */
  readonly url: string;
  readonly requests: readonly ScriptedRequest[];
  stop(): Promise<void>;
}

/** Starts on a free port. */
export async function startScriptedLlm(script: Script): Promise<ScriptedLlm> {
  const requests: ScriptedRequest[] = [];
  const server = createServer((incoming, response) => {
    const answer = (body: WireRequest) => {
      const request = toRequest(body, incoming);
      requests.push(request);
      reply(response, request, script(request, requests.length - 1));
    };
    // Who asks may be killed before all of its question is there.
    readJson(incoming).then(answer, () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}/v1`, requests, stop };
}

interface WireRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly temperature?: number;
}

function toRequest(
  { model, messages, stop = [], seed = 0, temperature = 1 }: WireRequest,
  incoming: IncomingMessage,
) {
  const { authorization } = incoming.headers;
  return { model, prompt: messages.at(-1)?.content ?? "", stop, seed, temperature, authorization };
}

function reply(response: ServerResponse, { model, stop }: ScriptedRequest, reply: ScriptedReply): void {
  const send = (status: number, body: unknown) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  if (reply === "#reset") response.socket?.destroy();
  else if (reply === "#silence") return;
  else if (typeof reply === "string") send(200, completion(model, cutAt(reply, stop), "stop"));
  else if ("finish" in reply) send(200, completion(model, reply.text, reply.finish));
  else if ("body" in reply) send(200, reply.body);
  else send(reply.status, { error: { message: reply.message ?? "no", type: "error" } });
}

function cutAt(text: string, stop: readonly string[]): string {
  const ends = stop.map((word) => text.indexOf(word)).filter((index) => index >= 0);
  return text.slice(0, Math.min(text.length, ...ends));
}

const completion = (model: string, content: string, finish: string) => ({
  id: "scripted",
  object: "chat.completion",
  created: 0,
  model,
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: finish }],
});

async function readJson(incoming: IncomingMessage): Promise<WireRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as WireRequest;
}
