/** Verifies a receipt without a node: all it needs from elsewhere is a block's hash, and what was asked. */
import { readFileSync } from "node:fs";
import { LANE, parseDeployment, parseReceipt, verifyReceipt } from "assay/sdk";
import { encodeFunctionData, type Hex, keccak256 } from "viem";
import { readArguments, readManifest } from "./setup.ts";

const [deploymentPath = "", receiptPath = "", blockHash = "", text = ""] = readArguments(
  "deployment file",
  "receipt file",
  "block hash",
  "text",
);

const { chainId, contracts, constants } = parseDeployment(
  readFileSync(deploymentPath, "utf8"),
  deploymentPath,
);
const receipt = parseReceipt(readFileSync(receiptPath, "utf8"));
const trust = {
  chainId,
  assay: contracts.assay,
  answerSeconds: constants.answerSeconds,
  blockHash: blockHash as Hex,
};
const manifest = readManifest("sentiment");
const input = encodeFunctionData({
  abi: manifest.abi,
  functionName: manifest.abi[0]?.name ?? "",
  args: [text],
});
const policy = {
  modelId: manifest.assay.modelId,
  inputHash: keccak256(input),
  lanes: LANE.BOND | LANE.EXECUTION,
  minBond: 1n,
  minWindow: 4 * constants.answerSeconds,
};

const verdict = verifyReceipt(receipt, trust, policy);
if (verdict.valid) console.log(`valid at block ${verdict.block.number}: ${verdict.output}`);
else console.log(`refused, ${verdict.error.code}: ${verdict.error.message}`);
process.exitCode = verdict.valid ? 0 : 1;
