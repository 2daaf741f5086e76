/** Answers that are signed instead of claimed on the chain (docs/PROMISES.md): at once, or with their place in a batch;
 *  and GET /v1/signed-claims/:digest, what became of one. */
import { type Request, type Response, Router } from "express";
import { keccak256 } from "viem";
import { fromHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { jsonOf } from "../../base/json.ts";
import { pause } from "../../protocol/chain/follower.ts";
import { renderPresented } from "../../protocol/rules/promises/presented.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import { hasProgram, type ServedModel } from "../models.ts";
import type { SignedSales } from "../payment/signed-sales.ts";
import type { LeafPlace, PromiseNode, SignedAnswer } from "../promises/node.ts";
import { idOf } from "./ids.ts";
import type { Line } from "./line.ts";
import { sellSigned } from "./paid.ts";
import type { HttpParts, Signing } from "./parts.ts";
import { requesterIn } from "./query.ts";

export interface SignedCall {
  readonly model: ServedModel;
  readonly calldata: Uint8Array;
  /** it goes into a batch */
  readonly isBatched: boolean;
  /** ms to wait for that; undefined: not at all */
  readonly waitMs: number | undefined;
  readonly request: Request;
  readonly response: Response;
}

export interface SignedResult {
  readonly output: Uint8Array;
  readonly signed: SignedAnswer;
  readonly leaf?: LeafPlace;
}

/** @throws BaseError SIGNING_OFF, BATCHING_OFF, QUERY_INVALID, NOT_BATCHED_IN_TIME, STOPPING; as `PromiseNode.sign` and
 *  `Line.work`; where answers cost, PAYMENT_REQUIRED and as `SignedSales` */
export async function answerSigned(parts: HttpParts, line: Line, call: SignedCall): Promise<SignedResult> {
  const { model, calldata, isBatched, waitMs, request, response } = call;
  const { node, runs, sales } = requireSigning(parts, isBatched);
  const { chain } = parts;
  const requester = requesterIn(request);
  if (!hasProgram(model)) throw signingOff();
  // Whoever has not paid yet is not asked to where nothing could be signed.
  if (request.get("PAYMENT-SIGNATURE") === undefined) node.requireReady(model.id);
  const make = async () => {
    node.requireReady(model.id);
    const output = await line.work(model, response, (signal) =>
      runs.output(model, calldata, signal, SIGNED_RUN),
    );
    const [signed] = await node.sign(model.id, [{ input: calldata, output }], {
      ...{ requester, isBatched, isHeld: sales !== undefined },
    });
    return signed as SignedAnswer;
  };
  const sell = (from: SignedSales) => {
    const bought = { kind: "signed", model: model.id, inputHash: keccak256(calldata), requester } as const;
    const order = { ...chain.game, ...bought };
    return sellSigned(from, request, response, order, (digest) => node.again(digest), make);
  };
  const signed = await (sales === undefined ? make() : sell(sales));
  // What is in a batch is public, and becomes final: none before it is paid.
  if (sales !== undefined && isBatched) await node.awaitBatch(signed);
  const output = fromHex(signed.output);
  announceSigned(response, parts, signed);
  if (waitMs === undefined) return { output, signed };
  const leaf = await line.waiters.hold(() => untilBatched(parts, node, signed.digest, waitMs, response));
  return { output, signed, leaf };
}

/** How outputs are run that are signed: the canonical executor alone decides. */
export const SIGNED_RUN = { urgency: "caller", isCompared: false } as const;

/** @throws BaseError SIGNING_OFF, BATCHING_OFF */
export function requireSigning({ signing }: HttpParts, isBatched: boolean): Signing {
  if (signing === undefined) throw signingOff();
  if (isBatched && !signing.node.posts) throw batchingOff();
  return signing;
}

async function untilBatched(
  { nowMs, pollIntervalMs, signal }: HttpParts,
  node: PromiseNode,
  digest: Digest,
  waitMs: number,
  response: Response,
): Promise<LeafPlace> {
  const deadline = nowMs() + waitMs;
  for (;;) {
    const leaf = node.postedLeaf(digest);
    if (leaf !== undefined) return leaf;
    if (signal.aborted || nowMs() >= deadline || response.destroyed) throw notBatched(digest, waitMs);
    await pause(Math.min(pollIntervalMs, Math.max(1, deadline - nowMs())), signal);
  }
}

/** The claim without input and output, which the caller has: in base64url, for whoever reads bytes. */
function announceSigned(response: Response, { signing }: HttpParts, signed: SignedAnswer): void {
  const { node } = signing as Signing;
  const { input: _input, output: _output, ...rest } = renderPresented(node.at, signed);
  response.setHeader("Assay-Signed-Claim", Buffer.from(JSON.stringify(rest)).toString("base64url"));
  response.setHeader("Assay-Digest", signed.digest);
}

/** What an answer in JSON says of it. */
export function signedBody({ signed, leaf }: SignedResult, { signing }: HttpParts): Record<string, unknown> {
  const { digest, ...presented } = signed;
  return {
    digest,
    signedClaim: renderPresented((signing as Signing).node.at, presented),
    ...(leaf === undefined ? {} : { leaf }),
  };
}

export function signedRoutes({ signing }: HttpParts): Router {
  const router = Router();
  router.get("/v1/signed-claims/:digest", (request, response) => {
    const digest = idOf(request.params.digest) as Digest;
    if (signing === undefined) throw signingOff();
    const found = signing.node.find(digest);
    if (found === undefined) throw unknown(digest);
    const { claim, signature, ...rest } = found;
    const at = signing.node.at;
    const {
      input: _input,
      output: _output,
      ...signed
    } = renderPresented(at, {
      ...{ claim, signature, input: "0x", output: "0x" },
    });
    response.type("application/json").send(jsonOf({ ...rest, ...signed }));
  });
  return router;
}

export const signingOff = (): BaseError =>
  new BaseError({
    code: "SIGNING_OFF",
    shortMessage: "This node signs no answers of this model.",
    nextStep: "Ask for finality=final, or ask a node that was started with --sign on.",
  });

const batchingOff = (): BaseError =>
  new BaseError({
    code: "BATCHING_OFF",
    shortMessage: "This node posts no batches.",
    nextStep: "Ask for finality=signed or final, or ask a node that was started with --batch-seconds.",
  });

const unknown = (digest: Digest): BaseError =>
  new BaseError({
    code: "SIGNED_CLAIM_UNKNOWN",
    shortMessage: `This node has not signed ${digest}, or has forgotten it: it keeps a signed claim for two days after its end.`,
    nextStep: "Check the digest, or ask the chain.",
  });

const notBatched = (digest: Digest, waitMs: number): BaseError =>
  new BaseError({
    code: "NOT_BATCHED_IN_TIME",
    shortMessage: `The signed claim ${digest} is in no batch on the chain after ${waitMs / 1_000} seconds.`,
    nextStep: `It is signed and goes into a batch without you: ask GET /v1/signed-claims/${digest}.`,
    details: { digest },
    retryable: true,
  });
