/** A stand-in for a language model, behind the OpenAI protocol: it uses the one tool on the question, then answers with
 *  the tool's result. For demonstrations where no real model is installed. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ScriptedModel {
  /** endpoint, with its version path */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts on a free port. @param tool name of the tool; it takes one string, `text` */
export async function startScriptedModel(tool: string): Promise<ScriptedModel> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { messages = [] } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as {
      messages?: readonly { readonly content: string }[];
    };
    const content = completionOf(tool, messages.at(-1)?.content ?? "");
    const body = { choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}/v1`, stop };
}

function completionOf(tool: string, prompt: string): string {
  const observation = /\nObservation: (.*)\nThought:$/.exec(prompt)?.[1];
  if (observation !== undefined) return `I now know the final answer\nFinal Answer: ${observation}`;
  const question = /\nQuestion: (.*)\nThought:$/.exec(prompt)?.[1] ?? "";
  const input = JSON.stringify([{ name: "text", value: question }]);
  return `I need the sentiment of this headline\nAction: ${tool}\nAction Input: ${input}`;
}
