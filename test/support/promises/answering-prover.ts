/** A prover's HTTP interface that answers with whatever signed claim a test puts there. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fromHex } from "../../../base/bytes.ts";
import { type Presented, renderPresented } from "../../../protocol/rules/promises/presented.ts";
import type { PromisesAddress } from "../../../protocol/rules/promises/signed-claim.ts";

export type AnsweringProver = Awaited<ReturnType<typeof startAnsweringProver>>;

export async function startAnsweringProver() {
  const reported: unknown[] = [];
  const asked: unknown[] = [];
  let reply: (response: ServerResponse) => void = (response) => void response.writeHead(503).end("{}");
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (request.url === "/v1/signed-claims") reported.push(JSON.parse(body.toString()));
    if (request.url?.includes("/signed-claims?") === true) asked.push(JSON.parse(body.toString()));
    reply(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** what it was handed as a challenger */
    reported,
    /** what came to the route of many inputs */
    asked,
    replies: (next: (response: ServerResponse) => void) => {
      reply = next;
    },
    /** @param at where the claim is said to be for @param output of the body; absent: the signed one */
    answers: (at: PromisesAddress, presented: Presented, output = presented.output) => {
      const { input: _input, output: _output, ...rest } = renderPresented(at, presented);
      const header = Buffer.from(JSON.stringify(rest)).toString("base64url");
      reply = (response) =>
        response.setHeader("Assay-Signed-Claim", header).end(Buffer.from(fromHex(output)));
    },
    /** @param presented one signed claim for each input, as JSON */
    answersMany: (at: PromisesAddress, presented: readonly Presented[]) => {
      const answers = presented.map((one) => ({ signedClaim: renderPresented(at, one) }));
      reply = (response) => response.end(JSON.stringify({ answers }));
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
