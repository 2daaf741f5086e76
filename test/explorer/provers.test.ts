/** Provers that answer anything. */
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Provers } from "../../explorer/provers.ts";

const MODEL = `0x${"11".repeat(32)}` as const;
const PRICE = {
  price: "2500",
  asset: `0x${"aa".repeat(20)}`,
  network: "eip155:31337",
  payTo: `0x${"bb".repeat(20)}`,
};
let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function opened(answer: RequestListener) {
  const own = createServer(answer);
  server = own;
  await new Promise<void>((resolve) => own.listen(0, "127.0.0.1", resolve));
  const name = `127.0.0.1:${(own.address() as AddressInfo).port}`;
  const provers = new Provers([`http://${name}`]);
  return { name, provers, ask: () => provers.ask(name, MODEL, "0x12", true, AbortSignal.timeout(20_000)) };
}

const charging =
  (details: unknown): RequestListener =>
  (_, response) => {
    const error = { code: "PAYMENT_REQUIRED", message: "Pay.", details };
    response.writeHead(402).end(JSON.stringify({ error }));
  };
const endless: RequestListener = (_, response) => {
  const timer = setInterval(() => response.write(Buffer.alloc(262_144)), 1);
  response.on("close", () => clearInterval(timer));
};
const elsewhere: RequestListener = (_, response) =>
  void response.writeHead(307, { Location: "/elsewhere" }).end();

describe("Provers", () => {
  it("default: what a final output costs", async () => {
    const { ask } = await opened(charging({ ...PRICE, more: "fields" }));
    expect(await ask()).toEqual(PRICE);
  });

  it.each([
    { price: "a lot" },
    { price: "9".repeat(79) },
    { price: 2_500 },
    { asset: "../x" },
    { network: "31337" },
    { payTo: "\u202e" },
  ])("error: a price with %o is a refusal", async (strange) => {
    const { ask } = await opened(charging({ ...PRICE, ...strange }));
    await expect(ask()).rejects.toMatchObject({
      code: "PROVER_REFUSED",
      shortMessage: expect.stringContaining("answered 402, PAYMENT_REQUIRED: Pay."),
    });
  });

  it.each([
    ["of no end", endless],
    ["at another address", elsewhere],
  ])("error: an answer %s is neither an output nor a list of models", async (_what, answer) => {
    const { ask, provers } = await opened(answer);
    await expect(ask()).rejects.toMatchObject({ code: "PROVER_UNREACHABLE", retryable: true });
    await provers.poll();
    expect(provers.serving(MODEL)).toEqual([]);
  });
});
