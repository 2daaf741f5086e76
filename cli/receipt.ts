/** `assay receipt check`: that an output is final, verified without a node. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { readDeployment } from "../protocol/chain/deployment-file.ts";
import { laneName, ownPolicy } from "../protocol/chain/finality.ts";
import { parseReceipt } from "../protocol/rules/receipt/receipt.ts";
import { verifyReceipt } from "../protocol/rules/receipt/verify.ts";
import { printResult, withJson } from "./output.ts";
import { hashArgument, trustOf } from "./trust.ts";

interface Options {
  readonly deployment: string;
  readonly block: string;
  readonly model?: string;
  readonly inputHash?: string;
}

export function addReceiptCommand(program: Command): void {
  const command = program
    .command("receipt")
    .description("work with receipts of final outputs")
    .command("check")
    .description("verify without a node that a receipt shows a final output")
    .argument("<receipt>", "file, as the SDK or an explorer gives it")
    .requiredOption("--deployment <file>", "of the contracts that are trusted")
    .requiredOption("--block <hash>", "hash of the receipt's block, from where it is trusted")
    .option("--model <id>", "the model that it must be about")
    .option("--input-hash <hash>", "the hash of the input that it must be about");
  withJson(command).action(check);
}

/** Bond, window and lanes are held to the request's own terms. @throws BaseError what the receipt does not show */
function check(path: string, options: Options, self: Command): void {
  const receipt = parseReceipt(readFileSync(path, "utf8"));
  const { model, inputHash } = options;
  const policy = {
    ...ownPolicy(receipt.request),
    ...(model === undefined ? {} : { modelId: hashArgument("--model", model) }),
    ...(inputHash === undefined ? {} : { inputHash: hashArgument("--input-hash", inputHash) }),
  };
  const trust = trustOf(readDeployment(options.deployment), options.block);
  const verdict = verifyReceipt(receipt, trust, policy);
  if (!verdict.valid) throw verdict.error;
  const { valid: _valid, lane, ...shown } = verdict;
  const name = laneName(lane);
  printResult(self, { ...shown, lane: name }, [
    `Request  ${shown.requestId}`,
    ...(shown.claimId === undefined ? [] : [`Claim    ${shown.claimId}`]),
    `Was      FINAL in lane ${name} at block ${shown.block.number}`,
    `Model    ${receipt.request.modelId}`,
    `Input    ${receipt.request.inputHash} (its hash)`,
    `Output   ${shown.output}`,
  ]);
}
