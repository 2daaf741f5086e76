import { createServer, type RequestListener } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { paidTool } from "../../../agent/sdk/adapters/x402.ts";
import { LANE } from "../../../protocol/rules/types.ts";
import { DATA, model, openLocalSdk, system } from "../../support/sdk.ts";

openLocalSdk();

let close = () => {};
afterEach(() => close());

/** A prover that answers this. @returns its address */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/tools/tiny`;
}

const run = (url: string) =>
  paidTool({
    ...{ chain: system.chain, model, url, fetch },
    name: "tiny",
    description: "Gives the bytes back",
    policy: { lanes: LANE.BOND, minBond: 0n, minWindow: 0 },
    waitSeconds: 60,
  }).run({ data: DATA });

describe("paidTool", () => {
  it("error: the prover's reason stands in the error", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(402).end(JSON.stringify({ error: { message: "it costs ☃" } }));
    });
    await expect(run(url)).rejects.toThrow(
      expect.objectContaining({
        code: "PAID_CALL_FAILED",
        message: expect.stringContaining("402: it costs ☃"),
      }),
    );
  });

  it("error: an error without an end is not read to it", async () => {
    let written = 0;
    const url = await serve((_request, response) => {
      response.writeHead(503);
      const part = `{"error":{"message":"${"x".repeat(65_536)}`;
      const write = (): void => {
        while (!response.destroyed && response.write(part)) written += part.length;
        if (!response.destroyed) response.once("drain", write);
      };
      write();
    });
    await expect(run(url)).rejects.toThrow(
      expect.objectContaining({ code: "PAID_CALL_FAILED", message: expect.stringMatching(/answered 503\./) }),
    );
    // What the kernel's buffers hold, and no more.
    expect(written).toBeLessThan(64 * 2 ** 20);
  });
});
