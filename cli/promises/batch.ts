/** `assay batch`: batches and their leaves, and what a contract needs to read one. */
import type { Command } from "commander";
import type { Hex } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { fromHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { iso } from "../../protocol/chain/describe.ts";
import { promiseHistory } from "../../protocol/chain/promises/events.ts";
import { proveLeaf } from "../../protocol/chain/promises/prove-leaf.ts";
import { PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import type { BatchId } from "../../protocol/rules/promises/batch.ts";
import { chainConfig, openChain, withChain } from "../chain.ts";
import { EXIT, printResult, refuseArgument, withJson } from "../output.ts";
import { hashArgument } from "../trust.ts";

export function addBatchCommands(program: Command): void {
  const batch = program.command("batch").description("batches of claims that were posted at once");
  addShow(batch);
  addProve(batch);
}

function addShow(parent: Command): void {
  const command = parent
    .command("show")
    .description("state of a batch, and the leaves that somebody opened")
    .argument("<batch>", "its id");
  withJson(withChain(command)).action(async (text: string, _options: object, self: Command) => {
    const chain = await openChain(chainConfig(self));
    const id = hashArgument<BatchId>("batch", text);
    const { args, events } = await postedIn(chain, id);
    const reader = new PromiseStateReader(chain);
    const [word, isFinal] = await Promise.all([reader.batch(id), reader.isFinal(id)]);
    if (word === undefined) throw unknown(id);
    const indices = new Set(
      events.flatMap((event) =>
        event.name === "LeafOpened" || event.name === "LeafQueued" ? [Number(event.args.index)] : [],
      ),
    );
    const leaves = [];
    for (const index of indices) leaves.push({ index, ...(await reader.leaf(id, index)) });
    const state = word.fallen ? "fallen" : isFinal ? "final" : "running";
    const { windowEnd, open, bond: bondWei } = word;
    const { batch } = args;
    const opened = leaves.map(({ deposit: depositWei, ...leaf }) => ({ ...leaf, depositWei }));
    printResult(self, { batchId: id, state, ...batch, windowEnd, open, bondWei, leaves: opened }, [
      `Batch ${id}: ${state}`,
      `  prover  ${batch.prover}`,
      `  model   ${batch.modelId}`,
      `  leaves  ${batch.count}, each behind a bond of ${formatAmount(bondWei)}; ${open} are open`,
      `  window  until ${iso(windowEnd)}`,
      ...opened.map(({ index, status, opener }) => `  leaf ${index}  ${status}, opened by ${opener}`),
    ]);
  });
}

function addProve(parent: Command): void {
  const command = parent
    .command("prove")
    .description(
      `what requireFinalLeaf takes to read a leaf, as JSON and calldata; exit code ${EXIT.finding} while it is not final`,
    )
    .argument("<batch>", "its id")
    .argument("<index>", "of the leaf");
  withJson(withChain(command)).action(async (text: string, at: string, _options: object, self: Command) => {
    const id = hashArgument<BatchId>("batch", text);
    if (!/^\d{1,4}$/.test(at)) refuseArgument("index", at, "a whole number from 0 to 1023");
    const index = Number(at);
    const chain = await openChain(chainConfig(self));
    const { args } = await postedIn(chain, id);
    const { batch, data } = args;
    const word = await new StateReader(chain).model(batch.modelId);
    if (word === undefined) throw unknown(id);
    const reader = chain.deployment.contracts.promiseReader as Hex;
    const proof = proveLeaf(word, batch, fromHex(data), index);
    const { payload, path, calldata, input, output } = proof;
    const isFinal = await new PromiseStateReader(chain).isFinal(id);
    printResult(self, { batchId: id, isFinal, reader, ...proof }, [
      `Leaf ${index} of batch ${id} is ${isFinal ? "final" : "not final"}`,
      `  input    ${input}`,
      `  output   ${output}`,
      `  payload  ${payload}`,
      ...path.map((node, level) => `  path ${level}   ${node}`),
      `  call     ${reader} with ${calldata}`,
    ]);
    if (!isFinal) process.exitCode = EXIT.finding;
  });
}

/** @throws BaseError BATCH_UNKNOWN */
async function postedIn(chain: Chain, id: BatchId) {
  const events = await promiseHistory(chain, id);
  const posted = events.findLast((event) => event.name === "Posted");
  if (posted === undefined) throw unknown(id);
  return { args: posted.args, events };
}

const unknown = (id: BatchId) =>
  new BaseError({
    code: "BATCH_UNKNOWN",
    shortMessage: `The chain has no batch ${id}.`,
    nextStep: "Check the id, the RPC URL and the deployment.",
  });
