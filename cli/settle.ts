/** `assay settle`: ends requests, or the disputes about them, by truth: the chain runs the model, or a proof shows it. */
import type { Command } from "commander";
import { type Hex, size } from "viem";
import { fromHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import { MAX_MOVE_BYTES } from "../inference/program/check.ts";
import { Actions } from "../protocol/chain/actions.ts";
import { type FinalResult, resultOf } from "../protocol/chain/await-result.ts";
import { inferOnChain, isPublished } from "../protocol/chain/execution/infer.ts";
import { historyOf } from "../protocol/chain/history.ts";
import { proofLaneOf } from "../protocol/chain/proof/store-key.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import type { Sender, SigningChain } from "../protocol/chain/sender.ts";
import { requireSent } from "../protocol/chain/sent.ts";
import type { Settlement } from "../protocol/rules/settlements.ts";
import { isModelId, LANE, type ModelId, type Request, type RequestId } from "../protocol/rules/types.ts";
import { chainConfig, withChain, withSender, withSettings } from "./chain.ts";
import { weightsOf } from "./execution.ts";
import { EZKL_SETTINGS } from "./ezkl-options.ts";
import { findFolder, functionOf, namedFolder } from "./model-source.ts";
import { printProgress, printResult, refuseArgument, withJson } from "./output.ts";
import { type KeyOptions, withKeys } from "./proof/keys.ts";
import { openMethod } from "./proof/method.ts";
import { unknownRequest } from "./request.ts";
import { outputLines, type ShownOutput, showOutput } from "./shown-output.ts";

interface Options extends KeyOptions {
  readonly lane?: string;
  readonly model?: string;
  readonly withWeights?: boolean;
}

/** A request with its live claim, and its output if that is final. */
type Asked = Omit<Settlement, "output" | "evidence"> & {
  readonly id: RequestId;
  readonly final: FinalResult | undefined;
};
type Truth = "execution" | "proof";

export function addSettleCommand(program: Command): void {
  const command = program
    .command("settle")
    .description("end requests of one model, or the disputes about them, by truth")
    .argument("<requests...>", "ids")
    .option(
      "--lane <lane>",
      "execution: the chain runs the model; proof: Groth16, or ezkl for a float model (default: execution where the weights are published or come along, else proof)",
    )
    .option("--model <model>", "name or folder of the model (default: the folder below models/ with its id)")
    .option("--with-weights", "execution: send the weights of the model's folder along");
  withJson(withSettings(withKeys(withChain(command)), EZKL_SETTINGS)).action(settle);
}

async function settle(ids: readonly string[], options: Options, self: Command): Promise<void> {
  for (const id of ids) if (!isModelId(id)) refuseArgument("request", id, "32 bytes as hex");
  const { lane } = options;
  if (lane !== undefined && lane !== "execution" && lane !== "proof")
    refuseArgument("--lane", lane, "execution or proof");
  const result = await withSender(chainConfig(self), async (chain, sender) => {
    const asked: Asked[] = [];
    for (const id of ids) asked.push(await askedRequest(chain, id as string as RequestId));
    const [first] = asked as [Asked, ...Asked[]];
    const { modelId } = first.request;
    const other = asked.find(({ request }) => request.modelId !== modelId);
    if (other !== undefined) refuseArgument("request", other.id, `of model ${modelId}, as ${first.id} is`);
    // Before anything is sent: names of another model's outputs would be wrong.
    const folder = options.model === undefined ? undefined : folderOf(modelId, options);
    // What is final needs no evidence any more.
    const open = asked.filter(({ final }) => final === undefined);
    const truth =
      open.length === 0 ? undefined : (lane ?? (await chooseTruth(chain, first.request, options)));
    const settle = truth === "execution" ? byExecution : byProof;
    const { outputs: made, hashes } =
      truth === undefined ? NOTHING : await settle(chain, sender, open, options, self);
    const outputs = asked.map((one) => one.final?.output ?? (made[open.indexOf(one)] as Hex));
    const { isNamed, ...model } = await functionOf(chain, modelId, folder);
    const shown = outputs.map((output) => showOutput(model, output));
    const values = shown.map((one) => one.values);
    const meanings = shown.flatMap(({ meaning }) => meaning ?? []);
    const ended = truth?.toUpperCase() ?? laneNameOf(first.final?.lane);
    const named = meanings.length === 0 ? {} : { meanings };
    return { lane: ended, requests: ids, outputs, hashes, values, ...named, shown, isNamed };
  });
  const { isNamed, shown, ...settled } = result;
  printResult(self, settled, [
    result.hashes.length === 0 ? "Settled before:" : `Final in the ${result.lane} lane:`,
    ...ids.flatMap((id, i) => [
      `  ${id}`,
      ...outputLines(shown[i] as ShownOutput).map((line) => `    ${line}`),
    ]),
    ...(isNamed
      ? []
      : ["No folder here holds the model, so its outputs have no names; `assay model pull` brings them."]),
  ]);
}

interface Settled {
  readonly outputs: readonly Hex[];
  /** of the transactions; none where all were settled before */
  readonly hashes: readonly Hex[];
}

const laneNameOf = (lane: number | undefined) =>
  Object.entries(LANE).find(([, bit]) => bit === lane)?.[0] ?? String(lane);

const NOTHING: Settled = { outputs: [], hashes: [] };

/** @throws BaseError REQUEST_UNKNOWN, REQUEST_REFUNDED */
async function askedRequest(chain: SigningChain, id: RequestId): Promise<Asked> {
  const events = await historyOf(chain, id);
  const requested = events.find((event) => event.name === "Requested");
  if (requested?.name !== "Requested") throw unknownRequest(id);
  const { request, input } = requested.args;
  const { state } = await new StateReader(chain).requestWord(id);
  const claimed = events.findLast((event) => event.name === "Claimed");
  const claim = state === "BUSY" && claimed?.name === "Claimed" ? claimed.args.claim : undefined;
  return { id, request, claim, input, final: await resultOf(chain, request) };
}

/** The lane that costs least work, of those that the request accepts and that can be used now.
 *  @throws BaseError LANE_UNAVAILABLE */
async function chooseTruth(
  chain: SigningChain,
  { modelId, lanes }: Request,
  { withWeights = false }: Options,
): Promise<Truth> {
  const canExecute = (lanes & LANE.EXECUTION) !== 0;
  if (canExecute && (withWeights || (await isPublished(chain, modelId)))) return "execution";
  if ((lanes & LANE.PROOF) !== 0) return "proof";
  throw new BaseError({
    code: "LANE_UNAVAILABLE",
    shortMessage: canExecute
      ? `Nobody has published the weights of model ${modelId}, and the request accepts no proof.`
      : "The request accepts neither execution nor proof: only a bonded claim ends it.",
    nextStep: canExecute
      ? "Publish them with `assay model publish`, or send them along with --with-weights."
      : "Run `assay prover`, or wait for somebody who does.",
  });
}

/** A transaction for each request. */
async function byExecution(
  chain: SigningChain,
  sender: Sender,
  open: readonly Asked[],
  options: Options,
): Promise<Settled> {
  const actions = new Actions(chain.game);
  const outputs: Hex[] = [];
  const hashes: Hex[] = [];
  const [{ request: first }] = open as [Asked, ...Asked[]];
  const weights = options.withWeights === true ? weightsOf(folderOf(first.modelId, options)) : undefined;
  for (const { request, claim, input } of open) {
    const output = await inferOnChain(chain, request.modelId, input, weights);
    if (weights !== undefined) requireSmall(size(input) + size(output) + size(weights));
    const action = actions.settle(request, claim, LANE.EXECUTION, input, output, weights ?? "0x");
    const inclusion = requireSent("settle", await sender.send(action));
    outputs.push(output);
    if (inclusion !== undefined) hashes.push(inclusion.hash);
  }
  return { outputs, hashes };
}

/** @throws BaseError WEIGHTS_TOO_LARGE for more than a transaction carries */
function requireSmall(bytes: number): void {
  if (bytes <= MAX_MOVE_BYTES) return;
  throw new BaseError({
    code: "WEIGHTS_TOO_LARGE",
    shortMessage: `Input, output and weights have ${bytes} bytes, at most ${MAX_MOVE_BYTES} fit into a transaction.`,
    nextStep: "Publish the weights with `assay model publish`, then settle without --with-weights.",
    details: { bytes, limit: MAX_MOVE_BYTES },
  });
}

/** One transaction for all. */
async function byProof(
  chain: SigningChain,
  sender: Sender,
  open: readonly Asked[],
  options: Options,
  self: Command,
): Promise<Settled> {
  const [first] = open as [Asked, ...Asked[]];
  const method = openMethod(folderOf(first.request.modelId, options), options, self);
  try {
    const submitter = chain.account.address;
    const binding = { chainId: chain.game.chainId, proofLane: proofLaneOf(chain), submitter };
    const settlements: Settlement[] = [];
    for (const { id, request, claim, input } of open) {
      printProgress(`prove request ${id}`);
      const { output, evidence } = await method.prove(fromHex(input), binding);
      settlements.push({ request, claim, input, output, evidence });
    }
    const actions = new Actions(chain.game);
    const [only, ...more] = settlements as [Settlement, ...Settlement[]];
    const action =
      more.length > 0
        ? actions.settleBatch(first.request.modelId, submitter, settlements)
        : actions.settle(only.request, only.claim, LANE.PROOF, only.input, only.output, only.evidence);
    const inclusion = requireSent("settle", await sender.send(action));
    const hashes = inclusion === undefined ? [] : [inclusion.hash];
    return { outputs: settlements.map(({ output }) => output), hashes };
  } finally {
    method.close();
  }
}

/** The model's folder: --model, if it is this model, else the one below models/ with the id. */
function folderOf(modelId: ModelId, { model }: Options): string {
  return model === undefined ? findFolder(modelId) : namedFolder(modelId, model);
}
