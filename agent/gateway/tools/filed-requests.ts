/** Requests about one model by the hash of their input, so many and no more: anybody may file any number of them. */
import type { Hex } from "viem";
import type { Request, RequestId } from "../../../protocol/rules/types.ts";

/** A request that somebody filed. */
export interface Filed {
  readonly requestId: RequestId;
  readonly request: Request;
}

export interface FiledLimits {
  /** on one input; the newest are kept */
  readonly perInput: number;
  /** on all inputs together; the newest are kept */
  readonly total: number;
}

export class FiledRequests {
  readonly #limits: FiledLimits;
  /** in the order in which they were first seen, which is the chain's */
  readonly #all = new Map<RequestId, Filed>();
  readonly #byInput = new Map<Hex, Set<RequestId>>();

  constructor(limits: FiledLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#all.size;
  }

  /** One that is there already stays where it is: blocks may be read twice. */
  add(filed: Filed): void {
    const { requestId, request } = filed;
    if (this.#all.has(requestId)) return;
    const { perInput, total } = this.#limits;
    const own = this.#byInput.get(request.inputHash) ?? new Set();
    this.#byInput.set(request.inputHash, own.add(requestId));
    this.#all.set(requestId, filed);
    for (const oldest of own) if (own.size > perInput) this.#drop(oldest);
    for (const oldest of this.#all.keys()) {
      if (this.#all.size <= total) break;
      this.#drop(oldest);
    }
  }

  /** The newest first. */
  on(inputHash: Hex): Filed[] {
    const ids = [...(this.#byInput.get(inputHash) ?? [])].reverse();
    return ids.flatMap((id) => this.#all.get(id) ?? []);
  }

  #drop(id: RequestId): void {
    const { inputHash } = (this.#all.get(id) as Filed).request;
    this.#all.delete(id);
    const own = this.#byInput.get(inputHash);
    own?.delete(id);
    if (own?.size === 0) this.#byInput.delete(inputHash);
  }
}
