/** A seller in the form that the end-to-end harness of x402 starts and asks (test.config.json, run.sh): what it sells are
 *  outputs that are final, here those that the chain itself computes. The price is taken after the answer is there. */
import { HTTPFacilitatorClient, x402HTTPResourceServer, x402ResourceServer } from "@x402/core/server";
import { UptoEvmScheme } from "@x402/evm/upto/server";
import { finalTool, isBaseError, openModel } from "assay/sdk";
import express, { type Request, type Response } from "express";
import { openChain, readManifest } from "../sdk/setup.ts";

const PATH = "/upto/evm/permit2";
const PRICE = "1000";
const DEFAULT_TEXT = "Profit beats forecasts";

const need = (name: string): string => {
  const value = process.env[name];
  if (value !== undefined && value !== "") return value;
  console.error(`${name} is not set: test.config.json names what this service needs.`);
  return process.exit(1);
};
const [port, payTo, asset] = [need("PORT"), need("EVM_PAYEE_ADDRESS"), need("EVM_PERMIT2_ASSET")];
const [facilitator, rpcUrl, deployment] = [
  need("FACILITATOR_URL"),
  need("ASSAY_RPC_URL"),
  need("ASSAY_DEPLOYMENT"),
];
const network = (process.env.EVM_NETWORK ?? "eip155:84532") as `eip155:${string}`;

const chain = await openChain(rpcUrl, deployment);
const model = await openModel(chain, readManifest("sentiment"));
const sentiment = finalTool({ chain, model, name: "sentiment" });

const seller = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitator }));
seller.register(network, new UptoEvmScheme());
const accepts = { scheme: "upto", network, payTo, price: { asset, amount: PRICE } };
const sale = { accepts, description: "A final output of a model", mimeType: "application/json" };
const http = new x402HTTPResourceServer(seller, { [`GET ${PATH}`]: sale, [`POST ${PATH}`]: sale });
await http.initialize();

/** Answers once it is paid; a call without an answer is not paid. */
async function sell(request: Request, response: Response, text: unknown): Promise<void> {
  const context = contextOf(request);
  const payment = await http.processHTTPRequest(context);
  if (payment.type === "payment-error") {
    const { status, headers, body } = payment.response;
    response.status(status).set(headers).json(body);
    return;
  }
  if (payment.type !== "payment-verified") throw new Error(`${PATH} is for sale.`);
  const answer = await sentiment.run({ text });
  const { paymentPayload, paymentRequirements, declaredExtensions } = payment;
  const settled = await http.processSettlement(paymentPayload, paymentRequirements, declaredExtensions, {
    request: context,
  });
  response.set(settled.headers);
  if (!settled.success) {
    response.status(settled.response.status).json(settled.response.body);
    return;
  }
  response.json({ message: answer.meaning?.text, timestamp: new Date().toISOString(), ...answer });
}

const contextOf = (request: Request) => ({
  adapter: {
    getHeader: (name: string) => request.get(name),
    getMethod: () => request.method,
    getPath: () => request.path,
    getUrl: () => `${request.protocol}://${request.get("Host") ?? ""}${request.originalUrl}`,
    getAcceptHeader: () => request.get("Accept") ?? "",
    getUserAgent: () => request.get("User-Agent") ?? "",
  },
  path: request.path,
  method: request.method,
});

const app = express();
app.use(express.json());
app.get("/health", (_request, response) => void response.json({ status: "ok" }));
app.get(PATH, (request, response) => sell(request, response, request.query.text ?? DEFAULT_TEXT));
app.post(PATH, (request, response) => sell(request, response, (request.body as { text?: unknown })?.text));
app.post("/close", (_request, response) => {
  response.json({ message: "closing" });
  stop();
});
app.use((error: unknown, _request: Request, response: Response, _next: () => void) => {
  const known = isBaseError(error);
  if (!known) console.error(error);
  const [code, message] = known ? [error.code, error.shortMessage] : ["INTERNAL", "a fault of this service"];
  response.status(known && error.code.endsWith("INVALID") ? 400 : 500).json({ error: code, message });
});

const server = app.listen(Number(port), () => console.log("Server listening"));
function stop(): void {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
}
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
