/** Asks for the sentiment of a text, waits until the answer is final, and keeps a receipt. */
import { writeFileSync } from "node:fs";
import { openModel, receiptOf, renderReceipt, request, wait } from "assay/sdk";
import { parseEther } from "viem";
import { openChain, openWallet, readArguments, readManifest } from "./setup.ts";

const [rpcUrl = "", deployment = "", text = "", receiptPath = ""] = readArguments(
  "rpc url",
  "deployment file",
  "text",
  "receipt file",
);

const chain = await openChain(rpcUrl, deployment);
const wallet = openWallet(rpcUrl, process.env.ASSAY_KEY);
const model = await openModel(chain, readManifest("sentiment"));

const asked = await request(chain, wallet, model, { text }, { fee: parseEther("0.01") });
console.log(`request ${asked.requestId}`);
const final = await wait(chain, asked);
console.log(`final in the ${final.lane} lane: ${final.meaning?.text}`, final.values);

const receipt = await receiptOf(chain, asked, final);
writeFileSync(receiptPath, renderReceipt(receipt));
console.log(`block ${final.block.hash}`);
