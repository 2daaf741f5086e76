/** The JSON of every endpoint as TypeScript types. Schemas, types and the OpenAPI document come from one source,
 *  `schemas/`; a page imports types alone, so that none of it reaches a browser. Amounts are wei as decimal strings,
 *  times are seconds since 1970 by the chain, ids and hashes are lower-case hex, addresses have their checksum. */
import type { z } from "zod";
import type * as accounts from "./schemas/accounts.ts";
import type * as common from "./schemas/common.ts";
import type * as disputes from "./schemas/dispute.ts";
import type * as models from "./schemas/models.ts";
import type * as operators from "./schemas/operator.ts";
import type * as overviews from "./schemas/overview.ts";
import type * as promises from "./schemas/promises.ts";
import type * as queries from "./schemas/queries.ts";
import type * as requests from "./schemas/requests.ts";

export type ApiError = z.infer<typeof common.error>;
export type Head = z.infer<typeof common.head>;
export type Lane = z.infer<typeof common.lane>;
export type RequestState = z.infer<typeof common.requestState>;
export type ClaimState = z.infer<typeof common.claimState>;
export type FallReason = z.infer<typeof common.fallReason>;
export type Meaning = z.infer<typeof common.meaning>;
export type Token = z.infer<typeof common.token>;
/** Calldata or return data. */
export type Data = z.infer<typeof common.data>;
export type ChainEvent = z.infer<typeof common.event>;
export interface Page<Item> {
  readonly items: Item[];
  /** `before` of the next page; absent on the last */
  readonly next?: string | undefined;
}

/** GET /v1/overview */
export type Overview = z.infer<typeof overviews.overview>;
export type Waits = z.infer<typeof overviews.waits>;
export type Gas = z.infer<typeof overviews.gas>;
/** GET /v1/stream: server-sent events by name, with their data. Comes back by Last-Event-ID. */
export interface StreamEvents {
  readonly event: z.infer<typeof overviews.streamEvent>;
  readonly head: z.infer<typeof overviews.streamHead>;
  readonly rollback: z.infer<typeof overviews.streamRollback>;
  readonly reset: z.infer<typeof overviews.streamReset>;
}
/** GET /v1/events */
export type EventsQuery = z.input<typeof queries.eventsQuery>;
export type EventPage = Page<ChainEvent>;

/** GET /v1/models */
export type ModelSummary = z.infer<typeof models.modelSummary>;
export type ModelsQuery = z.input<typeof queries.modelsQuery>;
export type ModelPage = Page<ModelSummary>;
/** GET /v1/models/{id}; its files are GET /v1/models/{id}/files/{name}, with Range */
export type Model = z.infer<typeof models.model>;
/** POST /v1/models/{id}/infer */
export type InferBody = z.input<typeof models.inferBody>;
/** POST /v1/models/{id}/ask */
export type AskBody = z.input<typeof models.askBody>;
export type Asked = z.infer<typeof models.asked>;
export type Inference = z.infer<typeof models.inference>;

/** GET /v1/requests */
export type RequestSummary = z.infer<typeof requests.requestSummary>;
export type RequestsQuery = z.input<typeof queries.requestsQuery>;
export type RequestPage = Page<RequestSummary>;
/** GET /v1/requests/{id} */
export type Request = z.infer<typeof requests.request>;

/** GET /v1/claims */
export type ClaimSummary = z.infer<typeof requests.claimSummary>;
export type ClaimsQuery = z.input<typeof queries.claimsQuery>;
export type ClaimPage = Page<ClaimSummary>;
/** GET /v1/claims/{id} */
export type Claim = z.infer<typeof requests.claim>;
export type Deadline = z.infer<typeof requests.deadline>;
/** GET /v1/claims/{id}/dispute */
export type Dispute = z.infer<typeof disputes.dispute>;
export type Conviction = z.infer<typeof disputes.conviction>;

/** GET /v1/batches */
export type BatchState = z.infer<typeof promises.batchState>;
export type BatchSummary = z.infer<typeof promises.batchSummary>;
export type BatchesQuery = z.input<typeof queries.batchesQuery>;
export type BatchPage = Page<BatchSummary>;
/** GET /v1/batches/{id} */
export type Batch = z.infer<typeof promises.batch>;
export type OpenedLeaf = Batch["openedLeaves"][number];
/** GET /v1/batches/{id}/leaves */
export type LeafSummary = z.infer<typeof promises.leafSummary>;
export type LeafPage = Page<LeafSummary>;
/** GET /v1/batches/{id}/leaves/{index} */
export type Leaf = z.infer<typeof promises.leaf>;

/** GET /v1/signed-claims */
export type SignedState = z.infer<typeof promises.signedState>;
export type SignedSummary = z.infer<typeof promises.signedSummary>;
export type SignedClaimsQuery = z.input<typeof queries.signedClaimsQuery>;
export type SignedClaimPage = Page<SignedSummary>;
/** GET /v1/signed-claims/{id} */
export type SignedClaim = z.infer<typeof promises.signedClaim>;

/** GET /v1/accounts */
export type AccountSummary = z.infer<typeof accounts.accountSummary>;
export type AccountsQuery = z.input<typeof queries.accountsQuery>;
export type AccountPage = Page<AccountSummary>;
/** GET /v1/accounts/{address} */
export type Account = z.infer<typeof accounts.account>;

/** GET /v1/operator */
export type Operator = z.infer<typeof operators.operator>;

/** GET /v1/search?q= */
export type SearchResult = z.infer<typeof overviews.searchResult>;
/** GET /v1/transactions/{id} */
export type Transaction = z.infer<typeof overviews.transaction>;
/** GET /v1/glossary */
export type Glossary = z.infer<typeof overviews.glossary>;
/** GET /healthz */
export type Health = z.infer<typeof overviews.health>;
