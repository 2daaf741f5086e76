/** The demo's second act: the same questions in every lane that their models have, with gas and seconds beside each
 *  other. */
import { randomBytes } from "node:crypto";
import { type Address, keccak256 } from "viem";
import { toHex } from "../../base/bytes.ts";
import { checkFunction } from "../../inference/manifest/model-files.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { type ChainEvent, subjectOf } from "../../protocol/chain/events.ts";
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import { storeKey } from "../../protocol/chain/proof/store-key.ts";
import type { Sender, SigningChain } from "../../protocol/chain/sender.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { requestIdOf } from "../../protocol/rules/ids.ts";
import {
  LANE,
  type LaneName,
  type ModelId,
  type Request,
  type RequestId,
  ZERO_ADDRESS,
} from "../../protocol/rules/types.ts";
import { outputLine, showOutput } from "../shown-output.ts";

/** A question put to one model in one lane. */
export interface LaneQuestion {
  readonly label: string;
  readonly name: string;
  readonly lane: LaneName;
  readonly id: RequestId;
  readonly loaded: LoadedModel;
}

const FEE = 10n ** 16n;

/** Brings keys and weights onto the chain, so that anybody can settle by proof and by execution. */
export async function openLanes(
  chain: SigningChain,
  sender: Sender,
  loaded: LoadedModel,
  log: (line: string) => void,
): Promise<void> {
  const { model, modelId, laneBits, manifest, verificationKey } = loaded;
  if (verificationKey !== undefined) {
    await storeKey(chain, sender, modelId as ModelId, verificationKey);
    log(`stored the verification key of ${manifest.assay.vkHash.slice(0, 18)}…, a development key`);
  }
  if ((laneBits & LANE.EXECUTION) === 0) return;
  const { transactions, gasUsed } = await publishWeights(
    chain,
    sender,
    modelId as ModelId,
    planPublication(model),
  );
  log(
    `published ${manifest.name}'s weights: ${transactions} transactions, ${gasUsed.toLocaleString("en-US")} gas`,
  );
}

/** Asks the model in each of its lanes.
 *  @param prover who alone may claim at first @param onAsk told of each request before it is on the chain */
export async function askLanes(
  { chain, sender }: { readonly chain: SigningChain; readonly sender: Sender },
  loaded: LoadedModel,
  { name, label, inputs }: { name: string; label: string; inputs: Readonly<Record<string, unknown>> },
  prover: Address,
  onAsk: (id: RequestId, lane: LaneName) => void,
): Promise<LaneQuestion[]> {
  const { model, manifest, selector, modelId } = loaded;
  const called = { ...checkFunction(model.program, manifest.abi, selector), selector: toHex(selector) };
  const input = encodeCall(called, inputs);
  const now = Number((await chain.client.getBlock()).timestamp);
  return Promise.all(
    manifest.assay.lanes.map(async (lane) => {
      const bonded = lane === "BOND";
      const request: Request = {
        requester: chain.account.address,
        modelId: modelId as ModelId,
        inputHash: keccak256(input),
        lanes: LANE[lane],
        fee: FEE,
        deliveryFee: 0n,
        minBond: 0n,
        window: 4 * chain.constants.answerSeconds,
        expiry: now + 3_600,
        exclusiveProver: bonded ? prover : ZERO_ADDRESS,
        exclusiveUntil: bonded ? now + 300 : 0,
        callback: ZERO_ADDRESS,
        callbackGas: 0,
        salt: randomBytes(8).readBigUInt64BE(),
      };
      const id = requestIdOf(chain.game, request);
      onAsk(id, lane);
      const sent = await sender.send(new Actions(chain.game).request(request, input));
      if (sent.status !== "sent")
        throw new Error(`the question ${label} in lane ${lane} is not on the chain`);
      return { label, name, lane, id, loaded };
    }),
  );
}

/** The questions that have no final output yet. */
export const openOf = (
  questions: readonly LaneQuestion[],
  events: readonly ChainEvent[],
): readonly LaneQuestion[] =>
  questions.filter(
    ({ id }) => !events.some((event) => event.name === "Finalized" && event.args.requestId === id),
  );

/** A line for each question: output, seconds from request to finality, and gas of its transactions. A batch's gas is
 *  shared by its requests. */
export async function laneLines(
  chain: SigningChain,
  questions: readonly LaneQuestion[],
  events: readonly ChainEvent[],
): Promise<string[]> {
  const lines: string[] = [];
  for (const { label, name, lane, id, loaded } of questions) {
    const own = events.filter((event) => subjectOf(event).requestId === id);
    const final = own.find((event) => event.name === "Finalized");
    const asked = own.find((event) => event.name === "Requested");
    if (final === undefined || asked === undefined) continue;
    const [gas, seconds, output] = await Promise.all([
      gasOf(chain, own, events),
      secondsBetween(chain, asked, final),
      outputOf(own, loaded),
    ]);
    const shown = `${gas.toLocaleString("en-US").padStart(9)} gas ${String(seconds).padStart(4)} s`;
    lines.push(`  ${label.padEnd(11)} ${name.padEnd(16)} ${lane.padEnd(10)} ${shown}  ${output}`);
  }
  return lines;
}

/** Gas of the transactions that a request's events came from. */
async function gasOf(
  { client }: SigningChain,
  own: readonly ChainEvent[],
  events: readonly ChainEvent[],
): Promise<number> {
  let gas = 0;
  for (const hash of new Set(own.map(({ transactionHash }) => transactionHash))) {
    const { gasUsed } = await client.getTransactionReceipt({ hash });
    const sharers = events.filter(
      (event) => event.name === "Finalized" && event.transactionHash === hash,
    ).length;
    gas += Math.round(Number(gasUsed) / Math.max(1, sharers));
  }
  return gas;
}

async function secondsBetween({ client }: SigningChain, from: ChainEvent, to: ChainEvent): Promise<number> {
  const [first, last] = await Promise.all(
    [from, to].map(({ block }) => client.getBlock({ blockHash: block.hash })),
  );
  return Number((last?.timestamp ?? 0n) - (first?.timestamp ?? 0n));
}

function outputOf(own: readonly ChainEvent[], { model, manifest, selector }: LoadedModel): string {
  const answered = own.findLast((event) => event.name === "Settled" || event.name === "Claimed");
  if (answered?.name !== "Settled" && answered?.name !== "Claimed") return "";
  const called = { ...checkFunction(model.program, manifest.abi, selector), selector: toHex(selector) };
  return outputLine(showOutput({ function: called, readable: manifest.assay }, answered.args.output));
}
