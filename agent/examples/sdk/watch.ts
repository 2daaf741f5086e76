/** Tells what happens to a request and its claims, until it is final or given back. */
import { watch } from "assay/sdk";
import type { Hex } from "viem";
import { openChain, readArguments } from "./setup.ts";

const [rpcUrl = "", deployment = "", requestId = ""] = readArguments("rpc url", "deployment file", "request");

const chain = await openChain(rpcUrl, deployment);
const stop = new AbortController();

for await (const life of watch(chain, requestId as Hex, { signal: stop.signal })) {
  if (life.kind === "disconnected") console.log(`the node is away: ${life.error.message}`);
  if (life.kind === "undone") console.log(`taken back: ${life.events.map(({ name }) => name).join(", ")}`);
  if (life.kind !== "event") continue;
  console.log(life.event.name);
  if (life.event.name === "Finalized" || life.event.name === "Refunded") stop.abort();
}
