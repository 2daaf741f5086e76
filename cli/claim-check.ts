/** `assay claim check`: a correctness record, verified without a node, and its input run again. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { fromHex, type Hex, toHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import { execute } from "../inference/executor/execute.ts";
import { prepare } from "../inference/executor/prepare.ts";
import { meaningIfAny } from "../inference/meaning/read.ts";
import { loadModelFolder } from "../inference/model-folder.ts";
import { readDeployment } from "../protocol/chain/deployment-file.ts";
import { type CorrectnessRecord, parseRecord, verifyRecord } from "../protocol/rules/receipt/record.ts";
import { modelFolder } from "./model-source.ts";
import { EXIT, printResult, withJson } from "./output.ts";
import { hashArgument, trustOf } from "./trust.ts";

interface Options {
  readonly deployment: string;
  readonly block: string;
  readonly claim?: string;
  readonly model?: string;
}

export function addCheckCommand(claim: Command): void {
  const command = claim
    .command("check")
    .description("verify a correctness record without a node, and run its input again")
    .argument("<record>", "file, as GET /v1/requests/ID/record of a prover or an explorer gives it")
    .requiredOption("--deployment <file>", "of the contracts that are trusted")
    .requiredOption("--block <hash>", "hash of the record's block, from where it is trusted")
    .option("--claim <id>", "the claim that it must be about")
    .option("--model <model>", "folder or name: runs the input by the canonical executor");
  withJson(command).action(check);
}

function check(path: string, options: Options, self: Command): void {
  const record = parseRecord(readFileSync(path, "utf8"));
  const trust = trustOf(readDeployment(options.deployment), options.block);
  const subject = options.claim === undefined ? {} : { claimId: hashArgument("--claim", options.claim) };
  const verdict = verifyRecord(record, trust, subject);
  if (!verdict.valid) throw verdict.error;
  const { valid: _valid, ...shown } = verdict;
  const again = options.model === undefined ? undefined : rerun(record, options.model);
  const { unproven } = record;
  printResult(self, { ...shown, ...again, unproven }, [
    `Request  ${shown.requestId}`,
    ...(shown.claimId === undefined ? [] : [`Claim    ${shown.claimId}`]),
    `Was      ${shown.end}${shown.fall === "NONE" ? "" : ` by ${shown.fall}`} at block ${shown.block.number}`,
    `Output   ${shown.output}`,
    ...(again === undefined
      ? ["Run      not again: --model names the model's folder"]
      : [`Run      again, the output is ${again.isRight ? "the same" : `another: ${again.rightOutput}`}`]),
    ...(again?.meaning === undefined ? [] : [`Means    ${again.meaning.text}`]),
    ...(unproven.payment === undefined
      ? []
      : [`Unproven it was paid by ${unproven.payment.transaction} on ${unproven.payment.network}`]),
  ]);
  if (shown.end === "FALLEN" || again?.isRight === false) process.exitCode = EXIT.finding;
}

/** @throws BaseError RECORD_OTHER_MODEL; as modelFolder, loadModelFolder and execute do: then nothing is known */
function rerun({ request, input, output }: CorrectnessRecord, model: string) {
  const { modelId, manifest, ...loaded } = loadModelFolder(modelFolder(model));
  if (modelId !== request.modelId) throw otherModel(request.modelId, modelId);
  const right = execute(prepare(loaded.model, loaded.selector, loaded.profile), fromHex(input));
  const rightOutput = toHex(right);
  return { isRight: rightOutput === output, rightOutput, ...meaningIfAny(manifest.assay, right) };
}

const otherModel = (of: Hex, given: Hex) =>
  new BaseError({
    code: "RECORD_OTHER_MODEL",
    shortMessage: `The record is about model ${of}, the folder holds ${given}: its input was not run.`,
    nextStep: "Name the model's folder with --model; `assay model pull` makes one.",
  });
