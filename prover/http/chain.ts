/** What the node knows of the chain: claims, requests, quotes, health. */
import { Router } from "express";
import { fromHex, type Hex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { jsonOf } from "../../base/json.ts";
import { VERSION } from "../../base/version.ts";
import { meaningIfAny } from "../../inference/meaning/read.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { RULES } from "../../protocol/rules/machine.ts";
import type { Claim, ClaimId, RequestId } from "../../protocol/rules/types.ts";
import { healthOf } from "../../protocol/service/http/health.ts";
import { findModel, type ServedModels } from "../models.ts";
import { quote } from "../quote.ts";
import { readChain } from "./chain-read.ts";
import { claimUnknown, idOf, requestUnknown } from "./ids.ts";
import type { HttpParts } from "./parts.ts";
import { queryInvalid } from "./query.ts";

export function chainRoutes(parts: HttpParts): Router {
  const router = Router();
  const send = (response: { type(type: string): { send(body: string): unknown } }, body: unknown) =>
    response.type("application/json").send(jsonOf(body));
  router.get("/v1/claims/:id", async (request, response) => {
    const id = idOf(request.params.id) as ClaimId;
    send(response, await readChain(parts, () => claimView(parts, id)));
  });
  router.get("/v1/requests/:id", async (request, response) => {
    const id = idOf(request.params.id) as RequestId;
    send(response, await readChain(parts, () => requestView(parts, id)));
  });
  router.get("/v1/quote", (request, response) => {
    const { model, callbackGas = "0", minBond = "0" } = request.query;
    if (typeof model !== "string") throw queryInvalid("model", model, "a model's name or id");
    const { state, head } = parts.node;
    if (state === undefined || head === undefined) throw notReadYet();
    const served = findModel(parts.models, model);
    const terms = {
      callbackGas: Number(decimal("callbackGas", callbackGas, 9)),
      minBond: decimal("minBond", minBond, 28),
    };
    send(response, {
      ...parts.chain.game,
      block: head.number,
      modelId: served.id,
      ...quote(parts.node.termsOf(served), terms, state, parts.policy),
      suggestedWindow: served.manifest.assay.windowSeconds,
    });
  });
  router.get("/livez", (_request, response) => {
    send(response, { status: "alive", version: VERSION });
  });
  router.get("/healthz", (_request, response) => {
    const { node, models, chain, pulse, nowMs } = parts;
    const overdue = node.overdue();
    const { status: following, ...rest } = healthOf(pulse, node.head, nowMs());
    const status = overdue.length > 0 ? "answer-overdue" : following;
    response.status(status === "ok" ? 200 : 503);
    send(response, {
      status,
      version: VERSION,
      ...chain.game,
      account: chain.account?.address,
      ...rest,
      models: [...models.values()].map(({ name }) => name),
      jobs: node.jobs(),
      overdue: overdue.map(({ claim, kind, deadline, bond }) => ({ claim, kind, deadline, bond })),
    });
  });
  return router;
}

async function claimView({ chain, node, models }: HttpParts, id: ClaimId): Promise<Record<string, unknown>> {
  const [word, history] = await Promise.all([new StateReader(chain).claimWord(id), historyOf(chain, id)]);
  if (word.state === "NONE") throw claimUnknown(id);
  const claimed = history.find((event) => event.name === "Claimed");
  const { answerSeconds } = chain.constants;
  return {
    claimId: id,
    state: word.state,
    fall: word.fall,
    ...(claimed?.name === "Claimed" ? { ...claimed.args.claim, ...outputOf(models, claimed.args) } : {}),
    windowEnd: word.windowEnd,
    /** earliest second in which it is final, if nobody moves any more */
    finalAt: RULES.finalAt(word, answerSeconds),
    tickets: word.tickets,
    pending: word.pending,
    traceDeadline: word.traceDeadline,
    seenByThisNode: node.index.claims.has(id),
    timeline: await timelineOf(chain, history),
  };
}

/** A claimed output, with what it means where this node serves the model. */
function outputOf(models: ServedModels, { claim, output }: { readonly claim: Claim; readonly output: Hex }) {
  const section = models.get(claim.modelId)?.manifest.assay;
  return { output, ...meaningIfAny(section, fromHex(output)) };
}

async function requestView({ chain, node }: HttpParts, id: RequestId): Promise<Record<string, unknown>> {
  const [word, history] = await Promise.all([new StateReader(chain).requestWord(id), historyOf(chain, id)]);
  if (word.state === "NONE") throw requestUnknown(id);
  const requested = history.find((event) => event.name === "Requested");
  const entry = node.index.requests.get(id);
  const decision = word.state === "OPEN" ? node.decisionOn(id) : undefined;
  return {
    requestId: id,
    state: word.state,
    attempt: word.attempt,
    delivered: word.delivered,
    ...(requested?.name === "Requested"
      ? { request: requested.args.request, input: requested.args.input }
      : {}),
    ...(entry?.claimId === undefined ? {} : { claimId: entry.claimId }),
    ...(entry?.result === undefined ? {} : { result: entry.result }),
    ...(decision === undefined ? {} : { decision }),
    timeline: await timelineOf(chain, history),
  };
}

/** Events in order, with the time of their block. */
async function timelineOf({ client }: HttpParts["chain"], history: readonly ChainEvent[]) {
  const numbers = [...new Set(history.map(({ block }) => block.number))];
  const blocks = await Promise.all(numbers.map((blockNumber) => client.getBlock({ blockNumber })));
  const times = new Map(blocks.map(({ number, timestamp }) => [number, Number(timestamp)]));
  return history.map(({ name, args, block, transactionHash }) => ({
    event: name,
    time: times.get(block.number),
    block: block.number,
    transactionHash,
    args,
  }));
}

function decimal(name: string, value: unknown, digits: number): bigint {
  if (typeof value === "string" && new RegExp(`^\\d{1,${digits}}$`).test(value)) return BigInt(value);
  throw queryInvalid(name, value, `a decimal integer of at most ${digits} digits`);
}

export const notReadYet = () =>
  new BaseError({
    code: "CHAIN_NOT_READ_YET",
    shortMessage: "This node has not caught up with the chain yet.",
    nextStep: "Ask again in a moment.",
    retryable: true,
  });
