/** One connection over several nodes, none of which is trusted: an answer counts when enough of them give it of the same
 *  block. Without that nothing is answered, so nothing is decided. A transaction goes to all of them. */
import { type CustomTransport, custom, type Hex, keccak256, numberToHex, size } from "viem";
import { BaseError } from "../../../base/errors.ts";
import { SILENT } from "../../../base/log.ts";
import { chainError, decodeRevert, decodeRevertData } from "../errors.ts";
import { isTooMuch } from "../ranges.ts";
import { type Answer, defaultQuorum, type Group, groupsOf, reachedBy } from "./agree.ts";
import { type AgreedBlock, LogProver } from "./logs.ts";
import { BLOCK_PARAMETER, ESTIMATES, isProvable, keyOf } from "./methods.ts";
import { Nodes, type NodesOptions, type RpcCall, type RpcNode } from "./nodes.ts";
import { quantity } from "./quantity.ts";
import type { ProvenRead } from "./state-prover.ts";

export interface QuorumOptions extends Partial<NodesOptions> {
  /** nodes that have to agree; default: all of two, a majority of more */
  readonly quorum?: number | undefined;
}

interface RpcBlock {
  readonly number: Hex;
  readonly hash: Hex;
  readonly timestamp: Hex;
}

interface NodeHead {
  readonly node: number;
  readonly number: bigint;
  readonly hash: Hex;
}

const DEFAULTS: NodesOptions = { timeoutMs: 10_000, graceMs: 500, nowMs: Date.now, log: SILENT };
/** Blocks below the head that are tried while the nodes disagree about their newest ones. */
const TIP_BLOCKS = 8n;

export class Quorum {
  readonly nodes: Nodes;
  readonly quorum: number;
  readonly #logs: LogProver;
  readonly #keys = new WeakMap<Answer, string>();
  #head: Promise<RpcBlock> | undefined;

  /** @throws BaseError QUORUM_INVALID */
  constructor(nodes: readonly RpcNode[], options: QuorumOptions) {
    this.nodes = new Nodes(nodes, { ...DEFAULTS, ...options });
    this.quorum = options.quorum ?? defaultQuorum(nodes.length);
    const least = Math.floor(nodes.length / 2) + 1;
    if (this.quorum < least || this.quorum > nodes.length || !Number.isInteger(this.quorum)) {
      throw new BaseError({
        code: "QUORUM_INVALID",
        shortMessage: `${this.quorum} of ${nodes.length} nodes are no quorum.`,
        nextStep: `Give --quorum from ${least} to ${nodes.length}: with half of the nodes or fewer, two quorums could contradict each other.`,
      });
    }
    this.#logs = new LogProver(this.nodes, async (name) => {
      const method = size(name) === 32 ? "eth_getBlockByHash" : "eth_getBlockByNumber";
      return ((await this.#agreed({ method, params: [name, false] })) ?? undefined) as
        | AgreedBlock
        | undefined;
    });
  }

  get transport(): CustomTransport {
    return custom({ request: (call: RpcCall) => this.request(call) }, { name: "quorum", retryCount: 0 });
  }

  /** @throws BaseError NO_QUORUM (retryable); the nodes' own error where they agree on it */
  request(call: RpcCall): Promise<unknown> {
    const params = (call.params ?? []) as readonly unknown[];
    const { method } = call;
    if (method === "eth_sendRawTransaction") return this.#toAll(call);
    if (method === "eth_blockNumber") return this.#newest().then(({ number }) => number);
    if (method === "eth_getLogs") return this.#logsOf(call);
    if (ESTIMATES.has(method)) return this.#estimate(call, quantity);
    if (method === "eth_getBlockByNumber") {
      if (params[0] === "latest") return this.#newest();
      if (params[0] === "pending")
        return this.#estimate(call, (block) => quantity((block as RpcBlock).timestamp));
    }
    const at = BLOCK_PARAMETER[method];
    const tag = at === undefined ? undefined : (params[at] ?? "latest");
    if (method === "eth_getTransactionCount" && tag === "pending") return this.#estimate(call, quantity);
    if (at !== undefined && (tag === "latest" || tag === "pending")) return this.#atHead(call, params, at);
    return this.#agreed(call);
  }

  /** The newest block that enough nodes have. Questions of one moment share it. */
  #newest(): Promise<RpcBlock> {
    this.#head ??= this.#findHead().finally(() => {
      this.#head = undefined;
    });
    return this.#head;
  }

  async #findHead(): Promise<RpcBlock> {
    const call = { method: "eth_getBlockByNumber", params: ["latest", false] };
    const answers = await this.nodes.ask(call, (some) => {
      const numbers = headsOf(some).map(({ number }) => number);
      const reached = reachedBy(numbers, this.quorum);
      // Around what enough nodes reach: one that is far behind must not decide just because it is the fastest, and one
      // that makes up a head far away must not keep the others from deciding.
      const isNear = (number: bigint): boolean =>
        reached !== undefined && number - TIP_BLOCKS <= reached && reached <= number + TIP_BLOCKS;
      return numbers.filter(isNear).length >= this.quorum;
    });
    const heads = headsOf(answers);
    const numbers = heads.map(({ number }) => number);
    const reached = reachedBy(numbers, this.quorum);
    if (reached === undefined) throw this.#noQuorum(call, answers);
    const newest = this.#largest(answers)?.value as RpcBlock | undefined;
    if (newest !== undefined && quantity(newest.number) === reached) return this.#settled(newest, heads);
    // A block that only some have, or that forked at the tip: an older one will do.
    const candidates = new Set(numbers.filter((number) => number <= reached));
    for (let below = 0n; below < TIP_BLOCKS; below += 1n) candidates.add(reached - below);
    const tried = [...candidates].filter((number) => number >= 0n).sort((a, b) => (a < b ? 1 : -1));
    for (const number of tried.slice(0, 2 * Number(TIP_BLOCKS))) {
      const found = await this.#blockIfAgreed(number);
      if (found !== undefined) return this.#settled(found, heads);
    }
    throw this.#noQuorum(call, answers);
  }

  /** @param newest on which enough nodes agree @param heads what each has as its newest */
  #settled(newest: RpcBlock, heads: readonly NodeHead[]): RpcBlock {
    const agreed = quantity(newest.number) ?? 0n;
    for (const { node, number, hash } of heads) {
      if (number + TIP_BLOCKS < agreed) this.nodes.blame(node, "behind");
      else if (number === agreed && hash !== newest.hash) this.nodes.blame(node, "forked");
      else this.nodes.clear(node);
    }
    return newest;
  }

  async #blockIfAgreed(number: bigint): Promise<RpcBlock | undefined> {
    const call = { method: "eth_getBlockByNumber", params: [numberToHex(number), false] };
    const decided = this.#decided(call, await this.#ask(call));
    return (decided ?? undefined) as RpcBlock | undefined;
  }

  async #atHead(call: RpcCall, params: readonly unknown[], at: number): Promise<unknown> {
    const { hash } = await this.#newest();
    const pinned = [...params];
    pinned[at] = { blockHash: hash };
    return this.#agreed({ ...call, params: pinned });
  }

  async #agreed(call: RpcCall): Promise<unknown> {
    const answers = await this.#ask(call);
    const decided = (await this.#proven(call, answers)) ?? this.#decided(call, answers);
    if (decided === undefined) throw this.#noQuorum(call, answers);
    if (decided instanceof RefusalAnswer) throw decided.error;
    return decided;
  }

  /** What a block's state says, where nodes differ about it and one of them proves it. */
  async #proven(call: RpcCall, answers: readonly Answer[]): Promise<unknown> {
    const groups = this.#groups(answers);
    if (groups.length < 2 || saying(answers).length < this.quorum) return undefined;
    const params = (call.params ?? []) as readonly unknown[];
    if (!isPinned(call) || !isProvable(call.method, params.length)) return undefined;
    // An EVM: loaded where nodes lie.
    const { StateProver } = await import("./state-prover.ts");
    const chainId = async () => Number(await this.#agreed({ method: "eth_chainId" }));
    const over = new AbortController();
    const prover = new StateProver(this.nodes, chainId, over.signal);
    let isDecided = false;
    const deciding = prover.decide(call, groups, isSameRead).finally(() => {
      isDecided = true;
    });
    const proven = await this.nodes.within(deciding);
    if (!isDecided) prover.noteLate();
    // A node that gives proof after proof, and each late, is not asked on when nobody waits any more.
    over.abort();
    return proven;
  }

  #ask(call: RpcCall): Promise<Answer[]> {
    const isEnough = (some: readonly Answer[]) => this.#largest(some) !== undefined;
    return this.nodes.ask(call, isEnough, refusalOf);
  }

  /** An answer may be all logs of many blocks: its key is made once, however often the others are compared with it. */
  #groups(answers: readonly Answer[]): Group<unknown>[] {
    return groupsOf(answers, (answer) => {
      const key = this.#keys.get(answer) ?? keyOfAnswer(answer.value);
      this.#keys.set(answer, key);
      return key;
    });
  }

  #largest(answers: readonly Answer[]) {
    const [largest] = this.#groups(answers);
    return largest !== undefined && largest.nodes.length >= this.quorum ? largest : undefined;
  }

  /** What enough nodes say; those that say otherwise are noted. */
  #decided(call: RpcCall, answers: readonly Answer[]): unknown {
    const largest = this.#largest(answers);
    if (largest === undefined) return undefined;
    const agreed = new Set(largest.nodes);
    for (const { node, value } of answers) {
      // What is not there may come; and blocks that a number names may still change.
      if (agreed.has(node) || value === undefined || value === null || largest.value === null) continue;
      if (isPinned(call)) this.nodes.blame(node, "contradicts");
    }
    return largest.value;
  }

  /** Logs of a range. Where nodes differ, the receipts of the blocks in question decide, whoever has them. */
  async #logsOf(call: RpcCall): Promise<unknown> {
    const answers = await this.#ask(call);
    const tooMuch = answers.find(({ fault }) => isTooMuch(fault));
    const groups = this.#groups(answers);
    if (groups.length > 1 && saying(answers).length >= this.quorum) {
      const proven = await this.nodes.within(this.#logs.decide(call, groups));
      if (proven !== undefined) return proven;
    }
    const decided = this.#decided(call, answers);
    if (decided instanceof RefusalAnswer) throw decided.error;
    if (decided !== undefined) return decided;
    // Whoever asked knows to ask for fewer blocks.
    throw tooMuch?.fault ?? this.#noQuorum(call, answers);
  }

  /** A number about the next block, which fewer liars than the quorum can make neither higher nor lower than honest
   *  nodes say. */
  async #estimate(call: RpcCall, numberOf: (value: unknown) => bigint | undefined): Promise<unknown> {
    const estimatesIn = (some: readonly Answer[]) =>
      saying(some).flatMap(({ value }) => {
        const number = value instanceof RefusalAnswer ? undefined : numberOf(value);
        return number === undefined ? [] : [{ value, number }];
      });
    const isEnough = (some: readonly Answer[]) => estimatesIn(some).length >= this.quorum;
    const answers = await this.nodes.ask(call, isEnough, refusalOf);
    const refusals = answers.flatMap(({ value }) => (value instanceof RefusalAnswer ? [value.error] : []));
    if (refusals.length >= this.quorum) throw refusals[0];
    const estimates = estimatesIn(answers);
    const reached = reachedBy(
      estimates.map(({ number }) => number),
      this.quorum,
    );
    const found = estimates.find(({ number }) => number === reached);
    if (found === undefined) throw this.#noQuorum(call, answers);
    return found.value;
  }

  async #toAll(call: RpcCall): Promise<unknown> {
    const answers = await this.nodes.ask(call, (some) => saying(some).length > 0);
    // Its hash follows from it: a node that gives another would have its receipt waited for in vain.
    if (saying(answers).length > 0) return keccak256((call.params as readonly [Hex])[0]);
    throw answers[0]?.fault ?? this.#noQuorum(call, answers);
  }

  #noQuorum({ method }: RpcCall, answers: readonly Answer[]): BaseError {
    const answered = new Map(answers.map((answer) => [answer.node, answer]));
    const views = this.nodes.status().map(({ name }, node) => `${name} ${viewOf(answered.get(node))}`);
    return new BaseError({
      code: "NO_QUORUM",
      shortMessage: `No ${this.quorum} of ${this.nodes.size} nodes agree on ${method}: ${views.join("; ")}.`,
      nextStep: "Nothing is decided until they do; look at the nodes, or name others with --rpc-url.",
      retryable: true,
    });
  }
}

/** A refusal on which nodes can agree: the call reverts. */
class RefusalAnswer {
  readonly error: unknown;
  readonly key: string;
  constructor(error: unknown, key: string) {
    this.error = error;
    this.key = key;
  }
}

function refusalOf(error: unknown): RefusalAnswer | undefined {
  const revert = decodeRevert(error);
  return revert === undefined ? undefined : new RefusalAnswer(error, revert.message);
}

const isSameRead = (answer: unknown, proven: ProvenRead): boolean =>
  answer instanceof RefusalAnswer
    ? "revert" in proven && decodeRevertData(proven.revert).message === answer.key
    : "value" in proven && keyOf(proven.value) === keyOf(answer);

const keyOfAnswer = (value: unknown): string =>
  value instanceof RefusalAnswer ? `reverts: ${value.key}` : keyOf(value);

/** Whether a block's hash, or the chain's id, fixes the answer. */
function isPinned({ method, params }: RpcCall): boolean {
  if (method === "eth_chainId" || method === "eth_getBlockByHash") return true;
  const at = BLOCK_PARAMETER[method];
  const block = at === undefined ? undefined : (params as readonly unknown[])[at];
  return typeof block === "object" && block !== null && "blockHash" in block;
}

/** Newest blocks as the nodes give them; what is no block is left out. */
const headsOf = (answers: readonly Answer[]): NodeHead[] =>
  saying(answers).flatMap(({ node, value }) => {
    const { number: at, hash } = value as RpcBlock;
    const number = quantity(at);
    return number === undefined ? [] : [{ node, number, hash }];
  });

const saying = (answers: readonly Answer[]): Answer[] =>
  answers.filter(({ value }) => value !== undefined && value !== null);

const MAX_VIEW_CHARACTERS = 80;

function viewOf(answer: Answer | undefined): string {
  if (answer === undefined) return "did not answer";
  if (answer.value === undefined) return chainError(answer.fault, "answer").shortMessage;
  if (answer.value === null) return "has not got it";
  const key = keyOfAnswer(answer.value);
  return `says ${key.length > MAX_VIEW_CHARACTERS ? `${key.slice(0, MAX_VIEW_CHARACTERS)}…` : key}`;
}
