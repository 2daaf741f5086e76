/** What pages ask for, by endpoint. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type {
  Account,
  AccountPage,
  AccountsQuery,
  Batch,
  BatchesQuery,
  BatchPage,
  Claim,
  ClaimPage,
  ClaimsQuery,
  Dispute,
  EventPage,
  EventsQuery,
  Glossary,
  Health,
  Leaf,
  LeafPage,
  Model,
  ModelPage,
  Operator,
  Overview,
  Request,
  RequestPage,
  RequestsQuery,
  SearchResult,
  SignedClaim,
  SignedClaimPage,
  SignedClaimsQuery,
  Transaction,
} from "../../api/types.ts";
import { getJson, queryString } from "./api.ts";
import { ApiFailure, failureOf } from "./api-failure.ts";
import { source } from "./source.ts";

const HEALTH_MS = 4_000;
/** As often as the daemons are asked. */
const OPERATOR_MS = 5_000;

/** A refusal is an answer: only silence and faults of the server are tried again. */
export const isWorthRetrying = (count: number, error: Error): boolean =>
  count < 2 && !(error instanceof ApiFailure && error.status !== undefined && error.status < 500);

const one = <T>(...key: readonly string[]) =>
  queryOptions({
    queryKey: key,
    queryFn: ({ signal }) => getJson<T>(`/v1/${key.map(encodeURIComponent).join("/")}`, signal),
  });

/** A list that is read page by page. */
const list = <T extends { readonly next?: string | undefined }>(path: string, query: object) =>
  infiniteQueryOptions({
    queryKey: [path, query],
    queryFn: ({ pageParam, signal }) =>
      getJson<T>(`/v1/${path}${queryString({ ...query, before: pageParam })}`, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: T) => page.next,
    placeholderData: keepPreviousData,
  });

export const overviewQuery = one<Overview>("overview");
export const modelQuery = (id: string) => one<Model>("models", id);
export const requestQuery = (id: string) => one<Request>("requests", id);
export const claimQuery = (id: string) => one<Claim>("claims", id);
export const disputeQuery = (id: string) => one<Dispute>("claims", id, "dispute");
export const batchQuery = (id: string) => one<Batch>("batches", id);
export const leafQuery = (id: string, index: string) => one<Leaf>("batches", id, "leaves", index);
export const signedClaimQuery = (id: string) => one<SignedClaim>("signed-claims", id);
export const accountQuery = (id: string) => one<Account>("accounts", id);
export const transactionQuery = (id: string) => one<Transaction>("transactions", id);

export const modelsQuery = list<ModelPage>("models", { limit: 50 });
export const requestsQuery = (query: RequestsQuery) => list<RequestPage>("requests", { limit: 50, ...query });
export const claimsQuery = (query: ClaimsQuery) => list<ClaimPage>("claims", { limit: 50, ...query });
export const batchesQuery = (query: BatchesQuery) => list<BatchPage>("batches", { limit: 50, ...query });
export const leavesQuery = (id: string) =>
  list<LeafPage>(`batches/${encodeURIComponent(id)}/leaves`, { limit: 50 });
export const signedClaimsQuery = (query: SignedClaimsQuery) =>
  list<SignedClaimPage>("signed-claims", { limit: 50, ...query });
export const accountsQuery = (query: AccountsQuery) => list<AccountPage>("accounts", { limit: 50, ...query });
export const eventsQuery = (query: EventsQuery) => list<EventPage>("events", { limit: 50, ...query });
/** What the overview's stream begins with. */
export const newestEventsQuery = eventsQuery({ limit: 25 });

export const glossaryQuery = queryOptions({
  ...one<Glossary>("glossary"),
  staleTime: Number.POSITIVE_INFINITY,
});
export const operatorQuery = queryOptions({ ...one<Operator>("operator"), refetchInterval: OPERATOR_MS });
export const healthQuery = queryOptions({
  queryKey: ["healthz"],
  // A node that is silent makes the health an answer of 503 with the same form.
  queryFn: async ({ signal }) => {
    const response = await source().ask("/healthz", { signal });
    if (!response.ok && response.status !== 503) throw await failureOf(response);
    return (await response.json()) as Health;
  },
  refetchInterval: HEALTH_MS,
  retry: false,
});
export const searchQuery = (q: string) =>
  queryOptions({
    queryKey: ["search", q],
    queryFn: ({ signal }) => getJson<SearchResult>(`/v1/search${queryString({ q })}`, signal),
  });
