/** Reads a headline, asks the model of MODEL what it says, and acts on nothing but a final answer. */
import { readFileSync } from "node:fs";
import { connect, finalTool, isBaseError, openModel, parseDeployment } from "@assay/sdk";
import { createWalletClient, type Hex, http, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const { ASSAY_RPC_URL: rpcUrl = "", ASSAY_DEPLOYMENT: path = "", ASSAY_KEY, MODEL } = process.env;
const chain = await connect({ rpcUrl, deployment: parseDeployment(readFileSync(path, "utf8"), path) });
const wallet = createWalletClient({
  account: privateKeyToAccount(ASSAY_KEY as Hex),
  transport: http(rpcUrl),
});
const sentiment = finalTool({
  chain,
  model: await openModel(chain, MODEL as Hex),
  name: "sentiment",
  ask: { wallet, terms: { fee: parseEther("0.01") }, waitMs: 600_000 },
});
try {
  const { values, lane, claimId } = await sentiment.run({ text: process.argv[2] });
  console.log(JSON.stringify({ values, lane, claimId }));
} catch (error) {
  // Not final in time: the same call again waits for the same request, and pays nothing.
  console.error(isBaseError(error) ? error.message : error);
  process.exitCode = 1;
}
