/** What goes between a prover and the thread that signs and journals. */
import type { Hex } from "viem";
import type { SignedClaim } from "../../../protocol/rules/promises/signed-claim.ts";
import type { SignerOwner } from "../journal/schema.ts";

export interface ThreadData {
  /** file of the journal */
  readonly path: string;
  /** private key, 32 bytes */
  readonly key: Hex;
  readonly owner: SignerOwner;
}

/** An answer that is to be signed. The thread chooses the salt. */
export interface Draft {
  readonly claim: Omit<SignedClaim, "salt">;
  readonly input: Uint8Array;
  readonly output: Uint8Array;
  /** its leaf, where it is to be batched */
  readonly payload?: Uint8Array | undefined;
}

/** A batch that was made of journalled leaves. */
export interface MadeBatch {
  readonly id: Uint8Array;
  readonly modelId: Uint8Array;
  readonly window: number;
  readonly root: Uint8Array;
  readonly leafBond: bigint;
  readonly data: Uint8Array;
  /** rows of the journal, in the order of the leaves; of one that the chain knows and this journal did not: those found */
  readonly rows: readonly { readonly row: number; readonly leaf: number }[];
  readonly count: number;
  readonly isPosted: boolean;
}

export type ToThread = { readonly id: number } & (
  | { readonly kind: "sign"; readonly draft: Draft }
  | { readonly kind: "batch"; readonly batch: MadeBatch }
  | { readonly kind: "posted" | "unposted" | "forget"; readonly batch: Uint8Array }
  | { readonly kind: "await"; readonly digest: Uint8Array; readonly payload: Uint8Array }
  /** @param before expiry, seconds */
  | { readonly kind: "prune"; readonly before: number }
);

export interface Signature {
  readonly salt: bigint;
  readonly digest: Uint8Array;
  /** r, s and v */
  readonly signature: Uint8Array;
}

/** Answers of one commit. */
export type FromThread =
  | { readonly kind: "ready" }
  | {
      readonly kind: "committed";
      readonly answers: readonly { readonly id: number; readonly signed?: Signature }[];
    }
  | { readonly kind: "failed"; readonly ids: readonly number[]; readonly reason: string };
