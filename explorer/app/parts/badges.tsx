import type {
  BatchState,
  ClaimState,
  FallReason,
  Lane,
  OpenedLeaf,
  RequestState,
  SignedState,
} from "../../api/types.ts";
import { Hint } from "./hint.tsx";

export type Tone = "good" | "bad" | "wait" | "info" | "none";

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return <span className={`badge tone-${tone}`}>{children}</span>;
}

const REQUESTS: Readonly<Record<RequestState, readonly [string, Tone]>> = {
  OPEN: ["open", "wait"],
  BUSY: ["claimed", "info"],
  DONE: ["final", "good"],
  REFUNDED: ["refunded", "none"],
};
export function RequestBadge({ state }: { readonly state: RequestState }) {
  const [text, tone] = REQUESTS[state];
  return <Badge tone={tone}>{text}</Badge>;
}

/** Words for why a claim fell. */
export const FALLS: Readonly<Record<FallReason, string>> = {
  TRACE_TIMEOUT: "trace not committed in time",
  DEMAND_TIMEOUT: "demand not answered in time",
  ELEMENT: "an element was wrong",
  CODEC: "the input was read wrongly",
  OUTPUT: "the output is not what the trace says",
  TRUTH: "contradicted by a truth",
};

interface ClaimBadgeProps {
  readonly claim: {
    readonly state: ClaimState;
    readonly isFinalByTime: boolean;
    readonly fall?: FallReason | undefined;
    readonly tickets: number;
  };
}

/** A claim's state in a word: what an agent may do with its output. */
export function ClaimBadge({ claim: { state, isFinalByTime, fall, tickets } }: ClaimBadgeProps) {
  if (state === "FALLEN") {
    return fall === undefined ? <Badge tone="bad">fallen</Badge> : <Fallen fall={fall} />;
  }
  if (state === "FINAL" || isFinalByTime) return <Badge tone="good">final</Badge>;
  if (tickets > 0) return <Badge tone="wait">disputed</Badge>;
  return <Badge tone="info">in its window</Badge>;
}

function Fallen({ fall }: { readonly fall: FallReason }) {
  return (
    <span className="badge tone-bad" title={FALLS[fall]}>
      fallen
    </span>
  );
}

const BATCHES: Readonly<Record<BatchState, readonly [string, Tone]>> = {
  RUNNING: ["in its window", "info"],
  FINAL: ["final", "good"],
  FALLEN: ["fallen", "bad"],
};
/** @param isOpen a leaf is opened, or waits for stake: it may become final after its window */
export function BatchBadge({
  state,
  isOpen = false,
}: {
  readonly state: BatchState;
  readonly isOpen?: boolean;
}) {
  const [text, tone] = BATCHES[state];
  return isOpen && state === "RUNNING" ? (
    <Badge tone="wait">doubted</Badge>
  ) : (
    <Badge tone={tone}>{text}</Badge>
  );
}

const PROMISES: Readonly<Record<SignedState | OpenedLeaf["status"], readonly [string, Tone]>> = {
  QUEUED: ["waits for stake", "wait"],
  OPEN: ["is a claim", "wait"],
  STOOD: ["stood", "good"],
  FELL: ["fell", "bad"],
  TAKEN_BACK: ["taken back", "none"],
  DROPPED: ["dropped", "none"],
};
/** Of a signed claim or a leaf that somebody opened. */
export function OpenedBadge({ state }: { readonly state: keyof typeof PROMISES }) {
  const [text, tone] = PROMISES[state];
  return <Badge tone={tone}>{text}</Badge>;
}

const LANES: Readonly<Record<Lane, readonly [string, string]>> = {
  EXECUTION: ["execution", "The chain ran the model itself."],
  PROOF: ["proof", "A zero-knowledge proof was verified on the chain."],
  BOND: ["bond", "A bonded claim stood through its window, in which challengers re-execute it."],
};
export const laneWord = (lane: Lane): string => LANES[lane][0];

export function LaneMark({ lane, plain = false }: { readonly lane: Lane; readonly plain?: boolean }) {
  const [word, meaning] = LANES[lane];
  const mark = <span className={`badge lane-${lane.toLowerCase()}`}>{word}</span>;
  return plain ? mark : <Hint tip={meaning}>{mark}</Hint>;
}
