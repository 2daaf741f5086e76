/** The nodes behind one connection, and what is known of each. */
import { HttpRequestError, http, TimeoutError, BaseError as ViemError } from "viem";
import type { Logger } from "../../../base/log.ts";
import type { Answer } from "./agree.ts";
import { canonical } from "./methods.ts";

export interface RpcCall {
  readonly method: string;
  readonly params?: unknown;
}

export interface RpcNode {
  /** for people; without what providers keep secret in a URL */
  readonly name: string;
  request(call: RpcCall): Promise<unknown>;
}

/** What a node was left out for. "silent": it did not answer; "behind": it has not got what the others have; "forked":
 *  it has another block there; "contradicts": it says otherwise of what a block's hash fixes. */
export const NODE_FAULTS = ["silent", "behind", "forked", "contradicts"] as const;
export type NodeFault = (typeof NODE_FAULTS)[number];

const DESCRIPTIONS: Readonly<Record<NodeFault, string>> = {
  silent: "does not answer",
  behind: "has not got what the others have",
  forked: "has another block than the others",
  contradicts: "says otherwise than the others of one block",
};

export interface NodeStatus {
  readonly name: string;
  /** absent: it agrees with the others, as far as they were asked */
  readonly fault?: NodeFault;
  /** how often it was found with each */
  readonly counts: Readonly<Record<NodeFault, number>>;
}

export interface NodesOptions {
  /** after which a node counts as silent, ms */
  readonly timeoutMs: number;
  /** how long a decision waits for more nodes once there are enough, ms */
  readonly graceMs: number;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** For how long no decision waits for a node that did not answer, ms. */
const SILENT_MS = 10_000;
/** For how long no decision waits for the proofs of a node that gave none in time, ms: one that lies and is silent then
 *  would cost each read the whole timeout. */
const UNPROVEN_MS = 60_000;
/** For how long a node that contradicted the others is shown as one, ms: its database is broken, or it lies. */
const CONTRADICTS_MS = 600_000;

export class Nodes {
  readonly #nodes: readonly RpcNode[];
  readonly #options: NodesOptions;
  readonly #faults: (NodeFault | undefined)[];
  /** until when nobody waits for it, ms since 1970 */
  readonly #leftOutUntil: number[];
  /** until when nobody waits for its proofs, ms since 1970 */
  readonly #unprovenUntil: number[];
  /** ms since 1970 */
  readonly #contradictedAt: number[];
  readonly #counts: Record<NodeFault, number>[];

  constructor(nodes: readonly RpcNode[], options: NodesOptions) {
    this.#nodes = nodes;
    this.#options = options;
    this.#faults = nodes.map(() => undefined);
    this.#leftOutUntil = nodes.map(() => 0);
    this.#unprovenUntil = nodes.map(() => 0);
    this.#contradictedAt = nodes.map(() => -CONTRADICTS_MS);
    this.#counts = nodes.map(() => ({ silent: 0, behind: 0, forked: 0, contradicts: 0 }));
  }

  get size(): number {
    return this.#nodes.length;
  }

  nameOf(node: number): string {
    return (this.#nodes[node] as RpcNode).name;
  }

  status(): NodeStatus[] {
    return this.#nodes.map(({ name }, node) => {
      const fault = this.#faults[node];
      return {
        name,
        counts: { ...(this.#counts[node] as Record<NodeFault, number>) },
        ...(fault && { fault }),
      };
    });
  }

  /** Asks all nodes. Resolves when a decision is possible and everybody answered who is not left out, or a little later;
   *  else when all have answered or the time is over.
   *  @param isEnough whether a decision is possible
   *  @param answerOf what an error says; undefined where it is a failure to say something */
  ask(
    call: RpcCall,
    isEnough: (answers: readonly Answer[]) => boolean,
    answerOf: (error: unknown) => unknown = () => undefined,
  ): Promise<Answer[]> {
    const { timeoutMs, graceMs, nowMs } = this.#options;
    const now = nowMs();
    const unanswered = new Set(this.#nodes.keys());
    const awaited = new Set([...unanswered].filter((node) => now >= (this.#leftOutUntil[node] as number)));
    const answers: Answer[] = [];
    return new Promise((resolve) => {
      let grace: ReturnType<typeof setTimeout> | undefined;
      const decide = () => {
        clearTimeout(grace);
        resolve([...answers]);
      };
      // Runs on after a decision: a node that never answers is found, and not waited for again.
      const patience = setTimeout(() => {
        for (const node of unanswered) this.blame(node, "silent");
        decide();
      }, timeoutMs);
      const take = (answer: Answer) => {
        unanswered.delete(answer.node);
        awaited.delete(answer.node);
        answers.push(answer);
        if (isUnreachable(answer.fault)) this.blame(answer.node, "silent");
        if (unanswered.size === 0) {
          clearTimeout(patience);
          decide();
        } else if (isEnough(answers)) {
          if (awaited.size === 0) decide();
          else grace ??= setTimeout(decide, graceMs);
        }
      };
      for (const [node, { request }] of this.#nodes.entries()) {
        request(call).then(
          (value) => take(answerFrom(node, call, value)),
          (error: unknown) => {
            const value = answerOf(error);
            take(value === undefined ? { node, fault: error } : { node, value });
          },
        );
      }
    });
  }

  /** @returns undefined where it takes longer than a node may for an answer */
  async within<T>(work: Promise<T>): Promise<T | undefined> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), this.#options.timeoutMs);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Notes that a node took longer for a proof than for an answer it may. */
  noteUnproven(node: number): void {
    this.#unprovenUntil[node] = this.#options.nowMs() + UNPROVEN_MS;
  }

  /** Whether decisions wait for a node's proofs. */
  isProving(node: number): boolean {
    return this.#options.nowMs() >= (this.#unprovenUntil[node] as number);
  }

  /** Asks one node. */
  askOne(node: number, call: RpcCall): Promise<unknown> {
    return (this.#nodes[node] as RpcNode).request(call);
  }

  /** Notes a fault, and tells of it when it is new. */
  blame(node: number, fault: NodeFault): void {
    const { nowMs, log } = this.#options;
    (this.#counts[node] as Record<NodeFault, number>)[fault] += 1;
    if (fault === "silent") this.#leftOutUntil[node] = nowMs() + SILENT_MS;
    const known = this.#faults[node];
    if (fault === "contradicts") this.#contradictedAt[node] = nowMs();
    if (known === fault || (known === "contradicts" && fault !== "silent")) return;
    this.#faults[node] = fault;
    log.warn({ node: this.nameOf(node), fault }, `a node ${DESCRIPTIONS[fault]}`);
  }

  /** It has the others' newest block, or one near it. */
  clear(node: number): void {
    // It may have been silent about another question: whether it is waited for again, time decides.
    const fault = this.#faults[node];
    const contradicted = (this.#contradictedAt[node] as number) + CONTRADICTS_MS > this.#options.nowMs();
    if (fault === undefined || (fault === "contradicts" && contradicted)) return;
    this.#faults[node] = undefined;
    this.#options.log.info({ node: this.nameOf(node) }, "a node agrees with the others again");
  }
}

function answerFrom(node: number, { method }: RpcCall, value: unknown): Answer {
  try {
    return { node, value: canonical(method, value ?? null) };
  } catch (fault) {
    return { node, fault };
  }
}

/** One node by its URL. Answers are decoded by whoever asked. A question whose connection breaks is asked once more, over
 *  a new one: a server closes a connection that it kept just when the next question is on its way. */
export function httpNode(url: string, index: number, options: Parameters<typeof http>[1]): RpcNode {
  const { request } = http(url, options)({ retryCount: 0 });
  return {
    name: `${URL.canParse(url) ? new URL(url).origin : "node"} (${index + 1})`,
    request: (call) =>
      request(call as never).catch((error: unknown) => {
        if (isBroken(error)) return request(call as never);
        throw error;
      }),
  };
}

/** Whether no HTTP answer came, and not because time ran out. */
const isBroken = (fault: unknown): boolean =>
  fault instanceof ViemError &&
  fault.walk((link) => link instanceof HttpRequestError && link.status === undefined) !== null;

const isUnreachable = (fault: unknown): boolean =>
  fault instanceof ViemError &&
  fault.walk((link) => link instanceof HttpRequestError || link instanceof TimeoutError) !== null;
