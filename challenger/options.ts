/** What a challenger is told at its start. */
import type { Address } from "viem";
import type { Logger } from "../base/log.ts";
import type { LoadedModel } from "../inference/model-folder.ts";
import type { Canonical } from "../inference/runtime/canonical-pool.ts";
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import type { SweepTerms } from "../protocol/chain/sweep.ts";
import type { CallerLimits } from "../protocol/service/http/service.ts";
import type { DatabaseTerms } from "../protocol/service/postgres/terms.ts";
import type { AskedWorkers } from "../protocol/service/workers/runs.ts";
import type { FastPath } from "./reexecute.ts";
import type { Limits } from "./transaction-sender.ts";

/** Each contains the one before: reports; simulates what it would do; acts. */
export const MODES = ["watch", "dry-run", "defend"] as const;
export type Mode = (typeof MODES)[number];

export interface ChallengerOptions {
  readonly mode: Mode;
  readonly chain: Chain;
  readonly models: readonly LoadedModel[];
  readonly fast: FastPath;
  readonly canonical: Canonical;
  /** folder of database and journal */
  readonly data: string;
  /** PostgreSQL that has the journal for all challengers of the key, which defend; absent: the folder alone has it */
  readonly database?: DatabaseTerms;
  /** true: the claims are divided between the challengers of all keys in that database */
  readonly divides?: boolean;
  /** workers that the fast path asks; absent: none */
  readonly workers?: AskedWorkers;
  readonly width: number;
  readonly limits: Limits;
  /** where money that is not needed goes; absent: it stays */
  readonly sweep?: SweepTerms;
  readonly pollIntervalMs: number;
  readonly confirmations: number;
  readonly maxFee: bigint;
  /** which claims it works on, given the challenger's account, until nothing is left to do about them; absent: all, for ever */
  readonly scope?: (claim: ClaimEntry, own: Address | undefined) => boolean;
  /** least time between two attention tests, ms; absent: none */
  readonly attentionMs?: number;
  /** URL that alerts are posted to; absent: nobody is told */
  readonly webhook?: string;
  /** where GET /metrics is served; absent: nowhere */
  readonly http?: { readonly host: string; readonly port: number };
  /** where POST /v1/signed-claims is served; absent: nowhere */
  readonly intake?: { readonly host: string; readonly port: number; readonly limits: CallerLimits };
  readonly log: Logger;
}
