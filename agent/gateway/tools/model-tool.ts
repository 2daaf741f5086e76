/** A registered model as a tool. It hands on an output only when it is final: at once by EXECUTION, or once a request
 *  of anybody's about the same input is final by the tool's policy; or when a prover signed it, where the policy says so.
 *  Else the call fails as pending, with the claim. */
import { type Hex, keccak256 } from "viem";
import { formatAmount } from "../../../base/amounts.ts";
import { fromHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { decodeInput } from "../../../inference/codecs/input.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { inferOnChain } from "../../../protocol/chain/execution/infer.ts";
import { pause } from "../../../protocol/chain/follower.ts";
import { newRequest } from "../../../protocol/chain/new-request.ts";
import type { Sender } from "../../../protocol/chain/sender.ts";
import { encodeCall } from "../../../protocol/rules/abi.ts";
import { requestIdOf } from "../../../protocol/rules/ids.ts";
import {
  LANE,
  type LaneName,
  type ModelId,
  type Policy,
  ZERO_ADDRESS,
} from "../../../protocol/rules/types.ts";
import type { ModelWord } from "../../../protocol/rules/words.ts";
import type { SignedBytes } from "../../sdk/signed.ts";
import { type TextCallable, toolOutput, toolSchema, toolValues } from "../../text-values.ts";
import type { CallContext, Evidence, Tool, ToolOutcome } from "../tool.ts";
import { toolNameOf } from "../tool-names.ts";
import { type Finality, FinalResults } from "./final-results.ts";
import { type SignedPolicy, signedAnswer, signedEvidence } from "./signed-answers.ts";

/** A registered model, as the chain and its manifest describe it, and with the text of its folder. */
export interface ModelSource extends TextCallable {
  readonly modelId: ModelId;
  /** as registered */
  readonly word: TextCallable["word"] & Pick<ModelWord, "lanes" | "outputLength">;
  readonly description: string;
}

export interface ModelToolConfig {
  readonly price: number;
  /** which lanes' results are taken; EXECUTION alone: the chain runs the model in the call */
  readonly lanes: readonly LaneName[];
  /** least bond behind a result of the BOND lane, wei; and that a signed claim must name */
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
  /** absent: an output that is not final is not handed on, whoever signed it */
  readonly acceptSigned?: SignedPolicy | undefined;
}

export interface ModelToolParts {
  readonly chain: Chain;
  /** absent: the tool cannot ask */
  readonly sender?: Sender;
  readonly pollIntervalMs: number;
  readonly confirmations: number;
}

/** What a result must be final by, whatever the model. */
export function termsOf(
  { constants }: Chain,
  { lanes, minBond, minWindow = 4 * constants.answerSeconds }: Terms,
): Omit<Policy, "modelId" | "inputHash"> {
  return { lanes: lanes.reduce((bits, name) => bits | LANE[name], 0), minBond, minWindow };
}

type Terms = Pick<ModelToolConfig, "lanes" | "minBond" | "minWindow">;

/** @throws BaseError TOOL_ID_INVALID, LANE_UNAVAILABLE, KEY_MISSING for a tool that asks without a key */
export function modelTool(
  id: string,
  model: ModelSource,
  config: ModelToolConfig,
  parts: ModelToolParts,
): Tool {
  const { chain, sender } = parts;
  const { ask, price, acceptSigned } = config;
  const terms = termsOf(chain, config);
  const { minBond, minWindow } = terms;
  const lanes = terms.lanes & model.word.lanes;
  if (lanes === 0) throw noLane(id, config.lanes);
  if (acceptSigned !== undefined && (lanes & LANE.BOND) === 0) throw signedWithoutBond(id);
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

  async function findOrAsk(
    input: Hex,
    evidence: Evidence,
    { signal, onWait = () => {} }: CallContext,
  ): Promise<ToolOutcome> {
    const inputHash = keccak256(input);
    let found = await results.find(inputHash);
    let paid: Evidence | undefined;
    const isComing = () => found.kind === "final" || found.kind === "pending";
    if (!isComing() && ask !== undefined) {
      const turn = asking.then(async () => {
        found = await results.find(inputHash);
        signal.throwIfAborted();
        if (isComing()) return;
        paid = { requestId: await file(input, ask), feeWei: ask.fee.toString() };
      });
      asking = turn.catch(() => undefined);
      await turn;
    }
    const deadline = Date.now() + config.waitMs;
    while (found.kind !== "final" && Date.now() < deadline) {
      const sofar = outcomeOf(found, model, evidence, paid);
      if (!sofar.success) onWait(sofar.error);
      await pause(parts.pollIntervalMs, signal);
      signal.throwIfAborted();
      found = await results.find(inputHash);
    }
    return outcomeOf(found, model, evidence, paid);
  }

  /** What is final, else what a prover signs, else as without that. */
  async function findOrSigned(
    policy: SignedPolicy,
    input: Hex,
    evidence: Evidence,
    context: CallContext,
  ): Promise<ToolOutcome> {
    const found = await results.find(keccak256(input));
    if (found.kind === "final") return outcomeOf(found, model, evidence, undefined);
    const signed = await signedAnswer(chain, model, input, policy, minBond, context.signal);
    if (signed !== undefined) return signedOutcome(chain, model, signed, evidence);
    if (found.kind === "pending" || ask !== undefined) return findOrAsk(input, evidence, context);
    return failure("PROVER_REFUSED", `The prover at ${policy.url} gave no signed answer.`, evidence);
  }

  return {
    id,
    name: toolNameOf(id),
    description: [
      model.description,
      ...feeSentences(ask?.fee),
      ...(acceptSigned === undefined ? [] : [SIGNED_SENTENCE]),
    ].join(" "),
    parameters: toolSchema(model),
    price,
    ...(ask === undefined ? {} : { feeWei: ask.fee }),
    run: async (args, context) => {
      const input = encodeCall(model.function, toolValues(model, args));
      // What the chain would refuse is refused here, by the value that is wrong and its limit.
      decodeInput(model.word, fromHex(model.function.selector), fromHex(input));
      const evidence: Evidence = { modelId: model.modelId, inputHash: keccak256(input) };
      if (acceptSigned !== undefined) return findOrSigned(acceptSigned, input, evidence, context);
      if (lanes !== LANE.EXECUTION) return findOrAsk(input, evidence, context);
      const output = await inferOnChain(chain, model.modelId, input);
      // No time belongs to it: any block since the weights were published gives this output.
      return finalOutcome(model, output, { ...evidence, lane: "EXECUTION" });
    },
  };
}

const SIGNED_SENTENCE =
  "A result of status signed is no final one: a prover has signed it, and loses a bond where somebody shows in time that it is wrong.";

/** What a model should know before it calls. */
const feeSentences = (fee: bigint | undefined): readonly string[] =>
  fee === undefined
    ? []
    : [
        `A call for which there is no result yet files a request and promises ${formatAmount(fee)} to whoever answers it; a call that waits for a request again pays nothing.`,
      ];

/** @param paid what this call has filed and promised, if it did */
function outcomeOf(
  found: Finality,
  called: TextCallable,
  common: Evidence,
  paid: Evidence | undefined,
): ToolOutcome {
  if (found.kind === "none" || (found.kind === "below" && paid !== undefined)) {
    if (paid === undefined) return failure("NOT_ASKED", "Nobody has asked the model for this input.", common);
    return pendingOutcome("The model was asked; nobody has answered yet.", { ...common, ...paid });
  }
  const { requestId, claimId } = found;
  const evidence = { ...common, ...paid, requestId, ...(claimId === undefined ? {} : { claimId }) };
  const what = claimId === undefined ? `Request ${requestId}` : `Claim ${claimId}`;
  if (found.kind === "below")
    return failure(
      "BELOW_TERMS",
      `${what} does not count by the terms of this tool: ${found.why}.`,
      evidence,
    );
  if (found.kind === "final") {
    const { lane, finalAt } = found;
    return finalOutcome(called, found.output, { ...evidence, lane, finalAt });
  }
  return pendingOutcome(
    `${what} ${claimId === undefined ? "has no claim yet" : "is not final yet"}.`,
    evidence,
  );
}

const finalOutcome = (called: TextCallable, output: Hex, evidence: Evidence): ToolOutcome =>
  success("final", called, output, { ...evidence, outputHash: keccak256(output) });

const signedOutcome = (
  chain: Chain,
  called: TextCallable,
  signed: SignedBytes,
  evidence: Evidence,
): ToolOutcome =>
  success("signed", called, signed.presented.output, { ...evidence, ...signedEvidence(chain, signed) });

function success(
  status: "final" | "signed",
  called: TextCallable,
  output: Hex,
  evidence: Evidence,
): ToolOutcome {
  const { ids, ...shown } = toolOutput(called, output);
  return {
    success: true,
    status,
    ...shown,
    evidence: { ...evidence, ...(ids === undefined ? {} : { ids }) },
  };
}

const failure = (code: string, error: string, evidence: Evidence) =>
  ({ success: false, status: "failed", code, error, evidence }) as const;

const pendingOutcome = (error: string, evidence: Evidence) =>
  ({ success: false, status: "pending", code: "NOT_FINAL", error, evidence }) as const;

const noLane = (id: string, lanes: readonly string[]) =>
  new BaseError({
    code: "LANE_UNAVAILABLE",
    shortMessage: `The model of the tool ${id} has none of the lanes ${lanes.join(", ")}.`,
    nextStep: "`assay model inspect` names its lanes.",
  });

const signedWithoutBond = (id: string) =>
  new BaseError({
    code: "LANE_UNAVAILABLE",
    shortMessage: `The tool ${id} is to accept signed answers, and BOND, in which they can be opened, is none of its lanes.`,
    nextStep: "Add BOND to its lanes, or take `acceptSigned` out.",
  });

const keyMissing = (id: string) =>
  new BaseError({
    code: "KEY_MISSING",
    shortMessage: `The tool ${id} files requests, and there is no key to sign them.`,
    nextStep: "Set ASSAY_KEY or --keystore, or take `ask` out of its configuration.",
  });
