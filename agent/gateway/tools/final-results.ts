/** Finds what the chain already knows about a model's output on an input, and whether it is final. */
import { type Address, getAbiItem, type Hex } from "viem";
import { floorOf } from "../../../protocol/chain/await-result.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { withContext } from "../../../protocol/chain/errors.ts";
import { decodeEvents } from "../../../protocol/chain/events.ts";
import {
  type Candidate,
  candidateOf,
  finalAtOf,
  isFinalBy,
  laneName,
} from "../../../protocol/chain/finality.ts";
import { historyOf } from "../../../protocol/chain/history.ts";
import { StateReader } from "../../../protocol/chain/reads.ts";
import { iAssayAbi } from "../../../protocol/rules/generated/abis.ts";
import { type Offered, shortfallOf } from "../../../protocol/rules/shortfall.ts";
import {
  type ClaimId,
  LANE,
  type ModelId,
  type Policy,
  type Request,
  type RequestId,
} from "../../../protocol/rules/types.ts";
import { type Filed, FiledRequests } from "./filed-requests.ts";

interface Head {
  readonly number: bigint;
  /** seconds */
  readonly timestamp: bigint;
}

export type Finality =
  | { readonly kind: "none" }
  | {
      readonly kind: "pending";
      readonly requestId: RequestId;
      /** absent: nobody has claimed yet */
      readonly claimId?: ClaimId;
    }
  | {
      /** there is a result, now or soon, that the policy does not take */
      readonly kind: "below";
      readonly requestId: RequestId;
      readonly claimId?: ClaimId;
      /** what it lacks */
      readonly why: string;
    }
  | {
      readonly kind: "final";
      readonly requestId: RequestId;
      readonly claimId?: ClaimId;
      readonly lane: string;
      /** second from which on nothing can change it */
      readonly finalAt: number;
      readonly output: Hex;
    };

/** Which of several requests' results says most. */
const RANK: Readonly<Record<Finality["kind"], number>> = { none: 0, below: 1, pending: 2, final: 3 };

const REQUESTED = getAbiItem({ abi: iAssayAbi, name: "Requested" });
/** Requests on one input that are looked at, newest first: anybody may file more, and each costs calls. */
const MAX_LOOKED_AT = 16;
/** Requests that are remembered of one model, newest first, some 20 MB: an older result is not found any more. */
const MAX_REMEMBERED = 20_000;

/** What a claimed or settled request has to offer. While it is claimed truth may still settle it, for whoever does not
 *  take bonds. */
export function offeredOf(
  state: string,
  { lanes, window }: Request,
  { lane, claim }: Candidate,
  taken: number,
): Offered {
  const mayBe = state === "BUSY" && (taken & LANE.BOND) === 0;
  return { lanes: mayBe ? lanes : lane, bond: claim?.terms.bond ?? 0n, window };
}

export class FinalResults {
  readonly #chain: Chain;
  readonly #modelId: ModelId;
  readonly #policy: Omit<Policy, "modelId" | "inputHash">;
  readonly #confirmations: bigint;
  readonly #asker: Address | undefined;
  /** a request that a re-org took away reads as NONE */
  readonly #filed = new FiledRequests({ perInput: MAX_LOOKED_AT, total: MAX_REMEMBERED });
  #next: bigint;
  #scan: Promise<unknown> = Promise.resolve();

  /** @param policy what an output must be final by
   *  @param confirmations blocks that must lie above the block in which it is final
   *  @param asker whose unanswered requests count: anybody can file one that nobody will ever answer. Absent: all */
  constructor(
    chain: Chain,
    modelId: ModelId,
    policy: Omit<Policy, "modelId" | "inputHash">,
    confirmations = 0,
    asker?: Address,
  ) {
    this.#asker = asker;
    this.#chain = chain;
    this.#modelId = modelId;
    this.#policy = policy;
    this.#confirmations = BigInt(confirmations);
    this.#next = chain.deployment.block.number;
  }

  /** @throws BaseError RPC_UNREACHABLE, RPC_FAULT (retryable) */
  async find(inputHash: Hex): Promise<Finality> {
    const head = await withContext("read the newest block", () => this.#chain.client.getBlock());
    // One at a time: they share where to go on.
    this.#scan = this.#scan.catch(() => undefined).then(() => this.#read(head.number));
    await this.#scan;
    let best: Finality = { kind: "none" };
    for (const one of this.#filed.on(inputHash)) {
      const found = await this.#ask(one, inputHash, head);
      if (found.kind === "final") return found;
      if (RANK[found.kind] > RANK[best.kind]) best = found;
    }
    return best;
  }

  async #read(head: bigint): Promise<void> {
    const { client, game, ranges } = this.#chain;
    const logs = await withContext("look for requests", () =>
      ranges.ask(this.#next, head, (fromBlock, toBlock) =>
        client.getLogs({
          address: game.assay,
          event: REQUESTED,
          args: { modelId: this.#modelId },
          fromBlock,
          toBlock,
        }),
      ),
    );
    for (const found of decodeEvents(logs)) {
      if (found.name !== "Requested" || found.args.modelId !== this.#modelId) continue;
      const { requestId, request } = found.args;
      this.#filed.add({ requestId, request });
    }
    // Blocks that a re-org may change are read again.
    if (floorOf(head) > this.#next) this.#next = floorOf(head);
  }

  async #ask({ requestId, request }: Filed, inputHash: Hex, head: Head): Promise<Finality> {
    const { state } = await new StateReader(this.#chain).requestWord(requestId);
    if (state === "NONE" || state === "REFUNDED") return { kind: "none" };
    if (state === "OPEN")
      return this.#isAwaited(request, head) ? { kind: "pending", requestId } : { kind: "none" };
    const history = await historyOf(this.#chain, requestId);
    const candidate = candidateOf(history);
    if (candidate === undefined) return { kind: "none" };
    const { claim, lane, output } = candidate;
    const named = claim === undefined ? {} : { claimId: claim.claimId };
    const policy = { ...this.#policy, modelId: this.#modelId, inputHash };
    const isFinal = (blockNumber: bigint) =>
      isFinalBy(this.#chain, request, candidate, policy, { blockNumber });
    const deep = head.number > this.#confirmations ? head.number - this.#confirmations : 0n;
    if (await isFinal(deep)) {
      const finalAt = await finalAtOf(this.#chain, history, candidate);
      return { kind: "final", requestId, ...named, lane: laneName(lane) ?? "BOND", finalAt, output };
    }
    // A claim that will be final by less than the policy demands is nothing to wait for.
    const why = shortfallOf(offeredOf(state, request, candidate, this.#policy.lanes), this.#policy);
    if (why !== undefined) return { kind: "below", requestId, ...named, why };
    const willBe = state === "BUSY" || (this.#confirmations > 0n && (await isFinal(head.number)));
    return willBe ? { kind: "pending", requestId, ...named } : { kind: "none" };
  }

  /** True if somebody may still claim, and it would count. */
  #isAwaited(request: Request, { timestamp }: Head): boolean {
    const { lanes, minBond, minWindow } = this.#policy;
    const counts = (request.lanes & lanes) !== 0 && request.minBond >= minBond && request.window >= minWindow;
    const isOwn = this.#asker === undefined || request.requester === this.#asker;
    return counts && isOwn && Number(timestamp) <= request.expiry;
  }
}
