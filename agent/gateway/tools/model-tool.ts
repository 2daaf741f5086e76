/** A registered model as a tool. It hands on an output only when it is final: at once by EXECUTION, or once a request
 *  of anybody's about the same input is final by the tool's policy. Else the call fails as pending, with the claim. */
import { type Hex, keccak256 } from "viem";
import { BaseError } from "../../../base/errors.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { inferOnChain } from "../../../protocol/chain/execution/infer.ts";
import { pause } from "../../../protocol/chain/follower.ts";
import { newRequest } from "../../../protocol/chain/new-request.ts";
import type { Sender } from "../../../protocol/chain/sender.ts";
import { decodeReturn, encodeCall, type ModelFunction } from "../../../protocol/rules/abi.ts";
import { requestIdOf } from "../../../protocol/rules/ids.ts";
import { LANE, type LaneName, type ModelId, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import { jsonValue, schemaOfParameters } from "../../abi-schema.ts";
import type { Evidence, Tool, ToolOutcome } from "../tool.ts";
import { toolNameOf } from "../tool-names.ts";
import { FinalResults } from "./final-results.ts";

/** A registered model, as the chain and its manifest describe it. */
export interface ModelSource {
  readonly modelId: ModelId;
  readonly function: ModelFunction;
  /** bits */
  readonly lanes: number;
  readonly description: string;
}

export interface ModelToolConfig {
  readonly price: number;
  /** which lanes' results are taken; EXECUTION alone: the chain runs the model in the call */
  readonly lanes: readonly LaneName[];
  /** least bond behind a result of the BOND lane, wei */
  readonly minBond: bigint;
  /** least window of such a result, seconds; default 4T */
  readonly minWindow?: number;
  /** absent: it reads what others asked for and files no request itself */
  readonly ask?: {
    /** wei to the prover, for each request */
    readonly fee: bigint;
    /** how long a claim may be made, seconds */
    readonly expirySeconds: number;
  };
  /** how long a call waits for finality, ms */
  readonly waitMs: number;
}

export interface ModelToolParts {
  readonly chain: Chain;
  /** absent: the tool cannot ask */
  readonly sender?: Sender;
  readonly pollIntervalMs: number;
  readonly confirmations: number;
}

/** @throws BaseError TOOL_ID_INVALID, LANE_UNAVAILABLE, KEY_MISSING for a tool that asks without a key */
export function modelTool(
  id: string,
  model: ModelSource,
  config: ModelToolConfig,
  parts: ModelToolParts,
): Tool {
  const { chain, sender } = parts;
  const { lanes: names, minBond, minWindow = 4 * chain.constants.answerSeconds, ask, price } = config;
  const lanes = names.reduce((bits, name) => bits | LANE[name], 0) & model.lanes;
  if (lanes === 0) throw noLane(id, names);
  const requester = chain.account?.address;
  if (ask !== undefined && (sender === undefined || requester === undefined)) throw keyMissing(id);
  const asker = ask === undefined ? undefined : requester;
  const results = new FinalResults(
    chain,
    model.modelId,
    { lanes, minBond, minWindow },
    parts.confirmations,
    asker,
  );
  // One request at a time: two turns that ask the same would pay twice.
  let asking: Promise<unknown> = Promise.resolve();

  async function file(input: Hex, terms: NonNullable<ModelToolConfig["ask"]>): Promise<Hex> {
    const { fee, expirySeconds } = terms;
    const order = { lanes, fee, minBond, window: minWindow, expirySeconds };
    const request = await newRequest(chain, requester ?? ZERO_ADDRESS, model.modelId, input, order);
    const sent = await sender?.send(new Actions(chain.game).request(request, input));
    if (sent?.status === "sent" || sent?.status === "already-done") return requestIdOf(chain.game, request);
    if (sent?.status === "retryable") throw sent.error;
    throw new BaseError({
      code: "REQUEST_REFUSED",
      shortMessage: `The chain refused the request: ${sent?.revert.message ?? "no key"}.`,
      nextStep: "Check fee, window and lanes of the tool's configuration.",
    });
  }

  async function findOrAsk(input: Hex, evidence: Evidence, signal: AbortSignal): Promise<ToolOutcome> {
    const inputHash = keccak256(input);
    const poll = async () => outcomeOf(await results.find(inputHash), model.function, evidence);
    let seen = await poll();
    let paid: Evidence = {};
    if (seen === undefined && ask !== undefined) {
      const turn = asking.then(async () => {
        seen = await poll();
        signal.throwIfAborted();
        if (seen !== undefined) return;
        paid = { requestId: await file(input, ask), feeWei: ask.fee.toString() };
      });
      asking = turn.catch(() => undefined);
      await turn;
    }
    const deadline = Date.now() + config.waitMs;
    while (seen?.success !== true && Date.now() < deadline) {
      await pause(parts.pollIntervalMs, signal);
      signal.throwIfAborted();
      seen = await poll();
    }
    const outcome = seen ?? pendingOutcome("The model was asked; nobody has answered yet.", evidence);
    if (paid.feeWei === undefined && seen === undefined) {
      return {
        ...pendingOutcome("Nobody has asked the model for this input.", evidence),
        status: "failed",
        code: "NOT_ASKED",
      };
    }
    return { ...outcome, evidence: { ...paid, ...outcome.evidence } };
  }

  return {
    id,
    name: toolNameOf(id),
    description: model.description,
    parameters: schemaOfParameters(model.function.inputs),
    price,
    ...(ask === undefined ? {} : { feeWei: ask.fee }),
    run: async (args, { signal }) => {
      const input = encodeCall(model.function, args);
      const evidence: Evidence = { modelId: model.modelId, inputHash: keccak256(input) };
      if (lanes !== LANE.EXECUTION) return findOrAsk(input, evidence, signal);
      const output = await inferOnChain(chain, model.modelId, input);
      // The chain computed it just now: final from here on, in any block.
      const { timestamp } = await chain.client.getBlock();
      return finalOutcome(model.function, output, {
        ...evidence,
        lane: "EXECUTION",
        finalAt: Number(timestamp),
      });
    },
  };
}

function outcomeOf(
  found: Awaited<ReturnType<FinalResults["find"]>>,
  called: ModelFunction,
  common: Evidence,
): ToolOutcome | undefined {
  if (found.kind === "none") return undefined;
  const { requestId, claimId } = found;
  const evidence = { ...common, requestId, ...(claimId === undefined ? {} : { claimId }) };
  if (found.kind === "final") {
    const { lane, finalAt } = found;
    return finalOutcome(called, found.output, { ...evidence, lane, finalAt });
  }
  const what =
    claimId === undefined ? `Request ${requestId} has no claim yet.` : `Claim ${claimId} is not final yet.`;
  return pendingOutcome(what, evidence);
}

const finalOutcome = (called: ModelFunction, output: Hex, evidence: Evidence): ToolOutcome => ({
  success: true,
  status: "final",
  data: jsonValue(decodeReturn(called, output)),
  evidence: { ...evidence, outputHash: keccak256(output) },
});

const pendingOutcome = (error: string, evidence: Evidence) =>
  ({ success: false, status: "pending", code: "NOT_FINAL", error, evidence }) as const;

const noLane = (id: string, lanes: readonly string[]) =>
  new BaseError({
    code: "LANE_UNAVAILABLE",
    shortMessage: `The model of the tool ${id} has none of the lanes ${lanes.join(", ")}.`,
    nextStep: "`assay model inspect` names its lanes.",
  });

const keyMissing = (id: string) =>
  new BaseError({
    code: "KEY_MISSING",
    shortMessage: `The tool ${id} files requests, and there is no key to sign them.`,
    nextStep: "Set ASSAY_KEY or --keystore, or take `ask` out of its configuration.",
  });
