/** Every route of the JSON interface: what it takes, what it answers, and how. The OpenAPI document is made of them. */
import type { Hex } from "viem";
import type { z } from "zod";
import * as accounts from "../api/schemas/accounts.ts";
import * as common from "../api/schemas/common.ts";
import * as disputes from "../api/schemas/dispute.ts";
import * as models from "../api/schemas/models.ts";
import * as operators from "../api/schemas/operator.ts";
import * as overviews from "../api/schemas/overview.ts";
import * as promises from "../api/schemas/promises.ts";
import * as proofs from "../api/schemas/proofs.ts";
import * as queries from "../api/schemas/queries.ts";
import * as requests from "../api/schemas/requests.ts";
import { accountPage, accountView } from "../read/accounts.ts";
import { batchPage, batchView, leafPage, leafView } from "../read/batches.ts";
import { disputeView } from "../read/dispute.ts";
import { eventPage } from "../read/events.ts";
import { claimView, requestView } from "../read/life.ts";
import { claimPage, requestPage } from "../read/lists.ts";
import { modelPage, modelView } from "../read/models.ts";
import { operatorView } from "../read/operator.ts";
import { overviewOf } from "../read/overview.ts";
import { type AnswerParts, atOneBlock, type ReadParts } from "../read/parts.ts";
import { searchResult, transactionView } from "../read/search.ts";
import { signedPage, signedView } from "../read/signed.ts";

/** The forms of the answers, by name. */
export const ANSWERS = {
  Error: common.error,
  Head: common.head,
  Event: common.event,
  Data: common.data,
  Overview: overviews.overview,
  Events: common.page(common.event),
  Model: models.model,
  Models: common.page(models.modelSummary),
  Inference: models.inference,
  InferBody: models.inferBody,
  Asked: models.asked,
  AskBody: models.askBody,
  Request: requests.request,
  Requests: common.page(requests.requestSummary),
  Claim: requests.claim,
  Claims: common.page(requests.claimSummary),
  Dispute: disputes.dispute,
  Batch: promises.batch,
  Batches: common.page(promises.batchSummary),
  Leaf: promises.leaf,
  Leaves: common.page(promises.leafSummary),
  SignedClaim: promises.signedClaim,
  SignedClaims: common.page(promises.signedSummary),
  Receipt: proofs.receipt,
  Record: proofs.record,
  Account: accounts.account,
  Accounts: common.page(accounts.accountSummary),
  Operator: operators.operator,
  Search: overviews.searchResult,
  Transaction: overviews.transaction,
  Glossary: overviews.glossary,
  Health: overviews.health,
  Alive: overviews.alive,
} as const satisfies Record<string, z.ZodType>;
export type AnswerName = keyof typeof ANSWERS;

export interface Route {
  readonly path: string;
  readonly summary: string;
  readonly parameters: z.ZodObject;
  readonly query: z.ZodObject;
  readonly answer: AnswerName;
  /** other statuses than those that every route has */
  readonly errors: readonly number[];
  readonly read: (parts: AnswerParts, parameters: unknown, query: unknown) => Promise<unknown>;
}

const NONE = queries.noQuery;

/** Keeps parameters, query and handler of one route in step. */
function route<Parameters extends z.ZodObject, Query extends z.ZodObject>(
  path: string,
  answer: AnswerName,
  summary: string,
  forms: { readonly parameters: Parameters; readonly query: Query; readonly errors?: readonly number[] },
  read: (parts: AnswerParts, parameters: z.output<Parameters>, query: z.output<Query>) => Promise<unknown>,
): Route {
  const { parameters, query, errors = [] } = forms;
  return { path, answer, summary, parameters, query, errors, read: read as Route["read"] };
}

/** Of an answer that is in the index, but for the names of models. */
const indexed =
  <Parameters, Query>(read: (parts: ReadParts, parameters: Parameters, query: Query) => Promise<unknown>) =>
  (parts: AnswerParts, parameters: Parameters, query: Query) =>
    atOneBlock(parts, (own) => read(own, parameters, query));

const byId = { parameters: queries.idPath, query: NONE, errors: [404] } as const;
const listed = <Query extends z.ZodObject>(query: Query) => ({ parameters: NONE, query });
const hex = (id: string): Hex => id as Hex;

/** Pages of other origins may not read it. */
export const OPERATOR_PATH = "/v1/operator";

export const ROUTES: readonly Route[] = [
  route("/v1/overview", "Overview", "The deployment as a whole.", listed(NONE), overviewOf),
  route(
    "/v1/events",
    "Events",
    "Events, newest first.",
    listed(queries.eventsQuery),
    indexed(({ index }, _, query) => eventPage(index.tables, query)),
  ),
  route("/v1/models", "Models", "Models, newest first.", listed(queries.modelsQuery), (parts, _, query) =>
    modelPage(parts, query),
  ),
  route("/v1/models/{id}", "Model", "One model.", byId, (parts, { id }) => modelView(parts, hex(id))),
  route(
    "/v1/requests",
    "Requests",
    "Requests, newest first.",
    listed(queries.requestsQuery),
    indexed((parts, _, query) => requestPage(parts, query)),
  ),
  route(
    "/v1/requests/{id}",
    "Request",
    "One request with its life.",
    byId,
    indexed((parts, { id }) => requestView(parts, hex(id))),
  ),
  route(
    "/v1/claims",
    "Claims",
    "Claims, newest first.",
    listed(queries.claimsQuery),
    indexed((parts, _, query) => claimPage(parts, query)),
  ),
  route(
    "/v1/claims/{id}",
    "Claim",
    "One claim with its life.",
    byId,
    indexed((parts, { id }) => claimView(parts, hex(id))),
  ),
  route(
    "/v1/claims/{id}/dispute",
    "Dispute",
    "What was demanded and opened of a claim's trace, and the arithmetic of its conviction.",
    byId,
    (parts, { id }) => disputeView(parts, hex(id)),
  ),
  route(
    "/v1/batches",
    "Batches",
    "Batches, newest first.",
    listed(queries.batchesQuery),
    indexed((parts, _, query) => batchPage(parts, query)),
  ),
  route(
    "/v1/batches/{id}",
    "Batch",
    "One batch with its life.",
    byId,
    indexed((parts, { id }) => batchView(parts, hex(id))),
  ),
  route(
    "/v1/batches/{id}/leaves",
    "Leaves",
    "The leaves of a batch, in their order.",
    { parameters: queries.idPath, query: queries.leavesQuery, errors: [404] },
    indexed((parts, { id }, query) => leafPage(parts, hex(id), query)),
  ),
  route(
    "/v1/batches/{id}/leaves/{index}",
    "Leaf",
    "One leaf, with its path and what requireFinalLeaf takes.",
    { parameters: queries.leafPath, query: NONE, errors: [404] },
    indexed((parts, { id, index }) => leafView(parts, hex(id), index)),
  ),
  route(
    "/v1/signed-claims",
    "SignedClaims",
    "Signed claims that somebody opened, newest first.",
    listed(queries.signedClaimsQuery),
    indexed((parts, _, query) => signedPage(parts, query)),
  ),
  route(
    "/v1/signed-claims/{id}",
    "SignedClaim",
    "One signed claim with its life; id is its digest.",
    byId,
    indexed((parts, { id }) => signedView(parts, hex(id))),
  ),
  route(
    "/v1/accounts",
    "Accounts",
    "Accounts; those that moved last come first.",
    listed(queries.accountsQuery),
    indexed((parts, _, query) => accountPage(parts, query)),
  ),
  route(
    "/v1/accounts/{address}",
    "Account",
    "One account.",
    { parameters: queries.accountPath, query: NONE, errors: [404] },
    (parts, { address }) => accountView(parts, address),
  ),
  route(
    OPERATOR_PATH,
    "Operator",
    "The daemons that this explorer was told to watch: how they are, alerts, and the clocks of their accounts.",
    listed(NONE),
    indexed(operatorView),
  ),
  route(
    "/v1/transactions/{id}",
    "Transaction",
    "One transaction with its events.",
    byId,
    indexed((parts, { id }) => transactionView(parts, hex(id))),
  ),
  route(
    "/v1/search",
    "Search",
    "What has this id, address, transaction, block or name.",
    listed(queries.searchQuery),
    indexed((parts, _, { q }) => searchResult(parts, q)),
  ),
  route(
    "/v1/glossary",
    "Glossary",
    "The terms that pages explain.",
    listed(NONE),
    async ({ glossary }) => glossary,
  ),
];
