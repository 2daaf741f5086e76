/** The dispute of a claim: what was demanded and opened, and what convicted it. */
import type { Hex } from "viem";
import { fromHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import {
  decodePosition,
  openedLevel,
  type Position,
  TRACE_STEP,
  topLevel,
} from "../../inference/commit/positions.ts";
import type { Program, Step } from "../../inference/program/form.ts";
import { stepShape } from "../../inference/program/shape.ts";
import type { ClaimEntry } from "../../protocol/chain/claim-index.ts";
import { describePosition } from "../../protocol/chain/describe.ts";
import type { ChainEvent, EventName, EventOf } from "../../protocol/chain/events.ts";
import { laneName } from "../../protocol/chain/finality.ts";
import { type ClaimId, FALL_REASONS } from "../../protocol/rules/types.ts";
import type { Conviction, Dispute } from "../api/types.ts";
import { decodeFault } from "../decode/fault.ts";
import { stepView } from "../decode/steps.ts";
import { leafValues } from "../decode/values.ts";
import type { ClaimRow } from "../index/life.ts";
import type { TimedEvent } from "../index/moves.ts";
import { indexOf } from "./life.ts";
import { type AnswerParts, atOneBlock, chainNow, type ReadParts } from "./parts.ts";
import { claimUnknown } from "./unknown.ts";

type Opened = Dispute["openings"][number];
/** Positions that are shown; a claim that many accounts dispute can have more. */
const MAX_OPENINGS = 256;

/** @throws BaseError CLAIM_UNKNOWN */
export async function disputeView(parts: AnswerParts, id: Hex): Promise<Dispute> {
  const row = await parts.index.read(({ tables }) => tables.claim(id));
  if (row === undefined) throw claimUnknown(id);
  // Without the program, what was opened is shown as it stands on the chain.
  const program = await parts.library.program(row.modelId).catch(() => undefined);
  return atOneBlock(parts, (own) => disputeAt(own, id, program));
}

async function disputeAt(parts: ReadParts, id: Hex, program: Program | undefined): Promise<Dispute> {
  const row: ClaimRow | undefined = await parts.index.tables.claim(id);
  const found = row && (await indexOf(parts, row.requestId)).claimAndRequest(id as ClaimId);
  if (row === undefined || found === undefined) throw claimUnknown(id);
  const { claim: entry, request } = found;
  const life = new Life(await parts.index.events.ofClaim(id as ClaimId));
  const committed = life.first("TraceCommitted");
  const tops = entry.trace?.tops ?? [];
  const steps = program?.steps.length ?? 0;
  const fell = life.first("Fell");
  return {
    claimId: id,
    modelId: row.modelId,
    isOver: entry.status !== "active",
    ...(entry.trace === undefined ? {} : { traceRoot: entry.trace.root }),
    ...(row.clocks.traceDeadline === 0 ? {} : { traceDeadline: row.clocks.traceDeadline }),
    ...(committed === undefined
      ? {}
      : { traceCommittedAt: life.timeOf(committed), traceTransaction: committed.transactionHash }),
    ...(program === undefined || entry.trace === undefined ? {} : { topLevel: topLevel(steps) }),
    tops: [...tops],
    steps: program === undefined ? [] : stepsOf(program, rootsOf(entry, steps)),
    openings: [...entry.demands.keys()]
      .slice(0, MAX_OPENINGS)
      .flatMap((position) => openingOf(life, entry, position, program, chainNow(parts))),
    ...(fell === undefined
      ? {}
      : {
          conviction: await convictionOf(parts, life, fell, program, request.settled?.output, entry.output),
        }),
  };
}

/** The events of one claim, with their times. */
class Life {
  readonly #events: readonly TimedEvent[];

  constructor(events: readonly TimedEvent[]) {
    this.#events = events;
  }

  first<Name extends EventName>(
    name: Name,
    matches: (args: EventOf<Name>["args"]) => boolean = () => true,
  ): EventOf<Name> | undefined {
    return this.#events
      .map(({ event }) => event)
      .find(
        (event): event is EventOf<Name> =>
          event.name === name && matches(event.args as EventOf<Name>["args"]),
      );
  }

  timeOf(event: ChainEvent): number {
    return this.#events.find((one) => one.event === event)?.time as number;
  }
}

/** Roots of the steps' tensors as the claim's trace has them, as far as they were shown. */
function rootsOf({ trace, demands }: ClaimEntry, steps: number): ReadonlyMap<number, Hex> {
  const roots = new Map<number, Hex>();
  if (trace !== undefined && topLevel(steps) === 0) {
    for (const [step, root] of trace.tops.entries()) roots.set(step, root);
  }
  for (const [encoded, { content }] of demands) {
    const { step, level, index } = decodePosition(encoded);
    if (step !== TRACE_STEP || openedLevel(level) !== 0) continue;
    const first = index * 2 ** level;
    for (const [i, root] of (content ?? []).entries()) roots.set(first + i, root);
  }
  return roots;
}

const stepsOf = (program: Program, roots: ReadonlyMap<number, Hex>): Dispute["steps"] =>
  program.steps.map((step, index) => {
    const { height, rows, words } = stepShape(step);
    const root = roots.get(index);
    return { ...stepView(program, index), ...(root === undefined ? {} : { root }), height, rows, words };
  });

function openingOf(
  life: Life,
  entry: ClaimEntry,
  encoded: bigint,
  program: Program | undefined,
  now: number,
): Opened[] {
  const demanded = life.first("Demanded", ({ position }) => position === encoded);
  const revealed = life.first("Revealed", ({ position }) => position === encoded);
  const demand = entry.demands.get(encoded);
  if (demanded === undefined || demand === undefined) return [];
  const position = decodePosition(encoded);
  const { content, deadline } = demand;
  const isTrace = position.step === TRACE_STEP;
  const below = openedLevel(position.level);
  const opens = below > 0 ? "nodes" : isTrace ? "roots" : "words";
  const words = opens === "words" ? content?.map(fromHex) : undefined;
  return [
    {
      ...placeOf(position),
      position: `${encoded}`,
      text: describePosition(position),
      demandedBy: demand.by,
      demandedAt: life.timeOf(demanded),
      demandTransaction: demanded.transactionHash,
      deadline,
      isOverdue: content === undefined && now > deadline,
      ...(revealed === undefined
        ? {}
        : { revealedAt: life.timeOf(revealed), revealTransaction: revealed.transactionHash }),
      opens,
      openedLevel: below,
      first: position.index * 2 ** (position.level - below),
      ...(content === undefined ? {} : { content: [...content] }),
      ...elementsOf(position, program, words),
    },
  ];
}

const placeOf = ({ step, level, index }: Position) => ({
  step: step === TRACE_STEP ? -1 : step,
  level,
  index,
});

function elementsOf(
  { step, level, index }: Position,
  program: Program | undefined,
  words: readonly Uint8Array[] | undefined,
): Pick<Opened, "elements"> {
  const record = program?.steps[step];
  if (record === undefined || words === undefined) return {};
  const { type, dims }: Step = record;
  return { elements: leafValues(type, dims, stepShape(record).rowHeight, index * 2 ** level, words) };
}

async function convictionOf(
  parts: ReadParts,
  life: Life,
  fell: EventOf<"Fell">,
  program: Program | undefined,
  truth: Hex | undefined,
  claimedOutput: Hex,
): Promise<Conviction> {
  const { step, element, expected, claimed } = fell.args;
  const transaction = await parts.index.tables.transaction(fell.transactionHash);
  if (transaction === undefined) throw new TypeError(`Transaction ${fell.transactionHash} is not kept.`);
  const reason = FALL_REASONS[fell.args.reason];
  if (reason === undefined || reason === "NONE") throw new TypeError(`A claim fell for ${fell.args.reason}.`);
  return {
    reason,
    at: life.timeOf(fell),
    block: Number(fell.block.number),
    transaction: fell.transactionHash,
    by: transaction.sender,
    gasUsed: transaction.gasUsed,
    verdict: { step: `${step}`, element: `${element}`, expected: `${expected}`, claimed: `${claimed}` },
    ...(await faultOf(parts, life, fell, {
      reason,
      program,
      input: transaction.input,
      truth,
      claimedOutput,
    })),
  };
}

interface Shown {
  readonly reason: Conviction["reason"];
  readonly program: Program | undefined;
  /** calldata of the transaction */
  readonly input: Hex | null;
  readonly truth: Hex | undefined;
  readonly claimedOutput: Hex;
}

async function faultOf(
  parts: ReadParts,
  life: Life,
  { args, block, logIndex }: EventOf<"Fell">,
  { reason, program, input, truth, claimedOutput }: Shown,
): Promise<Pick<Conviction, "fault" | "undecoded">> {
  switch (reason) {
    case "TRACE_TIMEOUT": {
      const challenged = life.first("Challenged");
      const deadline = challenged?.args.traceDeadline;
      return { fault: { kind: reason, ...(deadline === undefined ? {} : { deadline }) } };
    }
    case "DEMAND_TIMEOUT": {
      const deadline = life.first("Demanded", ({ position }) => position === args.element)?.args.deadline;
      const position = { ...placeOf(decodePosition(args.element)), position: `${args.element}` };
      return { fault: { kind: reason, position, ...(deadline === undefined ? {} : { deadline }) } };
    }
    case "TRUTH": {
      const values = [args.requestId, "Settled", 1] as const;
      const [settled] = await parts.index.tables.moves("m.request_id = ? AND m.name = ?", "LIMIT ?", values);
      const lane = laneName(Number(settled?.args.lane ?? 0)) ?? "";
      return { fault: { kind: reason, lane, output: truth ?? "0x", claimedOutput } };
    }
    default:
      if (program === undefined) return { undecoded: "The model's program cannot be read here now." };
      if (input === null)
        return { undecoded: `The transaction of event ${logIndex} of block ${block.number} was not kept.` };
      try {
        return { fault: decodeFault(program, input, args) };
      } catch (error) {
        if (isBaseError(error)) return { undecoded: error.shortMessage };
        throw error;
      }
  }
}
