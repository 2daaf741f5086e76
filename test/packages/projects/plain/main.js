// Asks in plain JavaScript, keeps a receipt, and verifies it without a node.
import { readFileSync } from "node:fs";
import {
  connect,
  openModel,
  parseDeployment,
  parseReceipt,
  policyOf,
  receiptOf,
  renderReceipt,
  request,
  verifyReceipt,
  wait,
} from "@assay/sdk";
import { createWalletClient, http, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const [rpcUrl, path, modelId, text] = process.argv.slice(2);
const deployment = parseDeployment(readFileSync(path, "utf8"), path);
const chain = await connect({ rpcUrl, deployment });
const wallet = createWalletClient({
  account: privateKeyToAccount(process.env.ASSAY_KEY),
  transport: http(rpcUrl),
});
const model = await openModel(chain, modelId);
const asked = await request(chain, wallet, model, { text }, { fee: parseEther("0.01") });
const final = await wait(chain, asked, { pollIntervalMs: 100 });
const receipt = parseReceipt(renderReceipt(await receiptOf(chain, asked, final)));
const trust = {
  chainId: deployment.chainId,
  assay: deployment.contracts.assay,
  answerSeconds: deployment.constants.answerSeconds,
  blockHash: final.block.hash,
};
const verdict = verifyReceipt(receipt, trust, policyOf(asked));
const forged = verifyReceipt(
  { ...receipt, output: `${receipt.output.slice(0, -2)}ff` },
  trust,
  policyOf(asked),
);
console.log(
  JSON.stringify({ lane: final.lane, output: final.output, verdict: verdict.valid, forged: forged.valid }),
);
