/** GET /v1/claims/:id/events: a claim's life, event by event. */
import { type Request, Router } from "express";
import { BaseError } from "../../base/errors.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import { pause } from "../../protocol/chain/follower.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { isFinal, RULES } from "../../protocol/rules/machine.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { type EventStream, openEventStream } from "../../protocol/service/http/event-stream.ts";
import { addressOf } from "../../protocol/service/http/service.ts";
import { readChain } from "./chain-read.ts";
import { claimUnknown, idOf } from "./ids.ts";
import type { Line } from "./line.ts";
import type { HttpParts } from "./parts.ts";

/** Then the client comes back, and whoever has forgotten it does not. */
const MAX_LISTENING_MS = 3_600_000;

export function claimEventRoutes(parts: HttpParts, { listeners }: Line): Router {
  const endOf = sharedEnds(parts);
  const router = Router();
  router.get("/v1/claims/:id/events", async (request, response) => {
    const id = idOf(request.params.id) as ClaimId;
    const after = lastEventId(request);
    const leave = listeners.take(addressOf(request));
    try {
      const life = await lifeOf(parts, id);
      const end = await endOf(id, life());
      if (end !== undefined && end.id === after) {
        // To an EventSource this says not to come back.
        response.status(204).end();
        return;
      }
      await streamLife({ ...parts, endOf }, id, life, after, openEventStream(response));
    } finally {
      leave();
    }
  });
  return router;
}

type Life = () => readonly ChainEvent[];

/** @returns the claim's events as they stand now
 *  @throws BaseError CLAIM_UNKNOWN; NODE_SILENT, RPC_UNREACHABLE, RPC_FAULT (retryable) */
async function lifeOf(parts: HttpParts, id: ClaimId): Promise<Life> {
  const { node, chain } = parts;
  if (node.eventsOf(id) !== undefined) return () => node.eventsOf(id) ?? [];
  // Not seen yet, or over for so long that the node has forgotten it.
  const past = await readChain(parts, () => historyOf(chain, id));
  if (past.length === 0) throw claimUnknown(id);
  return () => node.eventsOf(id) ?? past;
}

/** Tells what came after an event, then what comes, until the claim is over. */
async function streamLife(
  parts: HttpParts & { readonly endOf: EndOf },
  id: ClaimId,
  life: Life,
  after: string | undefined,
  stream: EventStream,
): Promise<void> {
  const { node, nowMs, pollIntervalMs } = parts;
  const signal = AbortSignal.any([stream.signal, parts.signal]);
  const until = nowMs() + MAX_LISTENING_MS;
  // Who was told that it is final by time alone goes on after the event before that.
  let seen = after?.replace(BY_TIME, "");
  while (!signal.aborted && nowMs() < until) {
    const head = node.head?.hash;
    const events = life();
    const index = events.findIndex((event) => idOfEvent(event) === seen);
    if (seen !== undefined && index === -1) {
      stream.send({ event: "reorg", data: { claimId: id } });
      seen = undefined;
    }
    for (const event of events.slice(index + 1)) {
      seen = idOfEvent(event);
      stream.send({ id: seen, event: event.name, data: dataOf(id, event) });
      if (isOver(event)) return stream.end();
    }
    const end = await parts.endOf(id, events);
    if (end !== undefined) {
      stream.send({ id: end.id, event: "final", data: { claimId: id, state: "FINAL", ...end.at } });
      return stream.end();
    }
    while (!signal.aborted && nowMs() < until && node.head?.hash === head)
      await pause(pollIntervalMs, signal);
  }
  stream.end();
}

/** End of the id under which a claim is said to be final by time alone. */
const BY_TIME = "-final";

interface End {
  readonly id: string;
  /** where it was found, if no event says it */
  readonly at?: { readonly block: string; readonly blockHash: string; readonly finalAt: number };
}

type EndOf = (id: ClaimId, events: readonly ChainEvent[]) => Promise<End | undefined>;

/** The same answer for all who listen to a claim, at one block: it is read once, and a fault logged once. */
function sharedEnds(parts: HttpParts): EndOf {
  const ends = new Map<string, Promise<End | undefined>>();
  let at: string | undefined;
  return (id, events) => {
    const { head } = parts.node;
    if (head?.hash !== at) ends.clear();
    at = head?.hash;
    const last = events.at(-1);
    const key = `${id} ${last && idOfEvent(last)}`;
    const found = ends.get(key) ?? endOf(parts, id, events);
    ends.set(key, found);
    return found;
  };
}

/** How the claim ended: by its last event, or by the chain's time, which no event need ever tell of: finalize is for
 *  whoever wants its money. Undefined while it is not over, or the node cannot say. */
async function endOf(parts: HttpParts, id: ClaimId, events: readonly ChainEvent[]): Promise<End | undefined> {
  const { node, chain, log } = parts;
  const { head } = node;
  const last = events.at(-1);
  if (last === undefined) return undefined;
  if (isOver(last)) return { id: idOfEvent(last) };
  const claimed = events.find(({ name }) => name === "Claimed");
  if (head === undefined || claimed?.name !== "Claimed" || head.timestamp < claimed.args.windowEnd)
    return undefined;
  try {
    const word = await readChain(parts, () => new StateReader(chain, head.hash).claimWord(id));
    const { answerSeconds } = chain.constants;
    if (!isFinal(word, answerSeconds, head.timestamp)) return undefined;
    const at = { block: `${head.number}`, blockHash: head.hash, finalAt: RULES.finalAt(word, answerSeconds) };
    return { id: idOfEvent(last) + BY_TIME, at };
  } catch (error) {
    log.warn(
      { claim: id, error },
      "whether a claim is final could not be read; trying again at the next block",
    );
    return undefined;
  }
}

const isOver = ({ name }: ChainEvent): boolean => name === "Finalized" || name === "Fell";

function dataOf(claimId: ClaimId, event: ChainEvent): object {
  const { name, args, block, logIndex, transactionHash } = event;
  const state = name === "Finalized" ? "FINAL" : name === "Fell" ? "FALLEN" : "ACTIVE";
  const where = { block: `${block.number}`, blockHash: block.hash, logIndex, transactionHash };
  return { claimId, state, event: name, ...where, args };
}

/** Where it stands, and in which chain: after a re-org another event may stand there. */
const idOfEvent = ({ block, logIndex }: ChainEvent): string =>
  `${block.number}-${logIndex}-${block.hash.slice(2, 18)}`;

/** @throws BaseError LAST_EVENT_ID_INVALID */
function lastEventId(request: Request): string | undefined {
  const given = request.get("Last-Event-ID");
  if (given === undefined || given === "" || /^\d{1,20}-\d{1,10}-[0-9a-f]{16}(-final)?$/.test(given))
    return given || undefined;
  throw new BaseError({
    code: "LAST_EVENT_ID_INVALID",
    shortMessage: `Last-Event-ID is ${JSON.stringify(given.slice(0, 60))}, no id of an event of a claim.`,
    nextStep: "Send the id of the last event that you saw, or none.",
  });
}
