/** A server that speaks the chat completions protocol and says what a test tells it to, in small pieces. It refuses, as
 *  real endpoints do, a conversation in which a call has no result. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ScriptedAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
  /** another status than 200 */
  readonly status?: number;
  /** breaks off: the connection ends, or the limit of tokens is reached */
  readonly ends?: "cut" | "length";
  /** sends nothing more after the head */
  readonly hangs?: boolean;
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | null;
    readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
    readonly tool_call_id?: string;
  }[];
  readonly tools: readonly { readonly function: { readonly name: string; readonly description: string } }[];
  readonly tool_choice: string;
}

/** @param count answers given before in all @returns what the model says */
export type ChatScript = (request: ChatRequest, count: number) => ScriptedAnswer;

export class ScriptedChat {
  readonly requests: ChatRequest[] = [];
  /** requests that ended before their answer did */
  left = 0;
  script: ChatScript = () => ({ text: "" });
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request
        .on("data", (part: Buffer) => parts.push(part))
        .on("end", () => {
          this.#answer(JSON.parse(Buffer.concat(parts).toString("utf8")) as ChatRequest, response);
        });
      response.on("close", () => {
        if (!response.writableFinished) this.left += 1;
      });
    });
  }

  static async start(): Promise<ScriptedChat> {
    const chat = new ScriptedChat();
    await new Promise<void>((resolve) => chat.#server.listen(0, "127.0.0.1", resolve));
    return chat;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Says these answers in order, the last one again and again. */
  answers(...answers: ScriptedAnswer[]): void {
    let next = 0;
    this.script = () => answers[Math.min(next++, answers.length - 1)] ?? {};
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: ChatRequest, response: ServerResponse): void {
    const fault = faultOf(request);
    if (fault !== undefined) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: fault } }));
      return;
    }
    this.requests.push(request);
    const {
      text = "",
      calls = [],
      status = 200,
      hangs = false,
      ends,
    } = this.script(request, this.requests.length - 1);
    if (status !== 200) {
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    if (hangs) return;
    const send = (choices: unknown[], usage?: unknown) =>
      response.write(
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "scripted", choices, usage })}\n\n`,
      );
    const delta = (value: object, finish: string | null = null) =>
      send([{ index: 0, delta: value, finish_reason: finish }]);
    delta({ role: "assistant", content: "" });
    for (let at = 0; at < text.length; at += 7) delta({ content: text.slice(at, at + 7) });
    for (const [index, call] of calls.entries()) {
      delta({
        tool_calls: [
          { index, id: `their-${index}`, type: "function", function: { name: call.name, arguments: "" } },
        ],
      });
      for (let at = 0; at < call.arguments.length; at += 50_000) {
        delta({ tool_calls: [{ index, function: { arguments: call.arguments.slice(at, at + 50_000) } }] });
      }
    }
    if (ends === "cut") {
      response.end();
      return;
    }
    delta({}, ends ?? (calls.length > 0 ? "tool_calls" : "stop"));
    send([], { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
    response.end("data: [DONE]\n\n");
  }
}

function faultOf({ messages }: ChatRequest): string | undefined {
  for (const [index, { tool_calls: calls = [] }] of messages.entries()) {
    const results = messages
      .slice(index + 1, index + 1 + calls.length)
      .map((message) => message.tool_call_id);
    const missing = calls.find(({ id }) => !results.includes(id));
    if (missing !== undefined) return `tool_call ${missing.id} has no result`;
  }
  return undefined;
}
