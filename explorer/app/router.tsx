import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  type RouterHistory,
} from "@tanstack/react-router";
import { filters } from "./data/filters.ts";
import {
  accountQuery,
  batchQuery,
  claimQuery,
  claimsQuery,
  disputeQuery,
  glossaryQuery,
  modelQuery,
  modelsQuery,
  newestEventsQuery,
  overviewQuery,
  requestQuery,
  requestsQuery,
  signedClaimQuery,
  transactionQuery,
} from "./data/queries.ts";
import { Overview } from "./pages/overview.tsx";
import { Shell } from "./shell/shell.tsx";
import { Broken, NotFound } from "./shell/wrong-turns.tsx";
import { startVerifier } from "./verify/client.ts";

interface Context {
  readonly queries: QueryClient;
}

const root = createRootRouteWithContext<Context>()({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: Broken,
  // All pages explain their terms.
  loader: ({ context: { queries } }) => void queries.prefetchQuery(glossaryQuery),
});

/** @param ask for what the page shows first, while its own script is still on its way */
const under = <Path extends string>(
  path: Path,
  component: RouteComponent,
  ask?: (queries: QueryClient, id: string) => unknown,
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component,
    loader: ({ context: { queries }, params }) => void ask?.(queries, (params as { id?: string }).id ?? ""),
  });

const listed = <Path extends string>(
  path: Path,
  component: RouteComponent,
  ask?: (queries: QueryClient, query: object) => unknown,
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component,
    validateSearch: filters,
    loaderDeps: ({ search }) => search,
    loader: ({ context: { queries }, deps }) => void ask?.(queries, deps),
  });

const routes = [
  under("/", Overview, (queries) =>
    Promise.all([queries.prefetchQuery(overviewQuery), queries.prefetchInfiniteQuery(newestEventsQuery)]),
  ),
  under(
    "/models",
    lazyRouteComponent(() => import("./pages/models.tsx"), "Models"),
    (queries) => queries.prefetchInfiniteQuery(modelsQuery),
  ),
  under(
    "/models/$id",
    lazyRouteComponent(() => import("./pages/model.tsx"), "Model"),
    (queries, id) => queries.prefetchQuery(modelQuery(id)),
  ),
  createRoute({
    getParentRoute: () => root,
    path: "/models/$id/program",
    component: lazyRouteComponent(() => import("./pages/program.tsx"), "Program"),
    validateSearch: ({ claim }: Record<string, unknown>): { claim?: string } =>
      typeof claim === "string" ? { claim } : {},
  }),
  under(
    "/import",
    lazyRouteComponent(() => import("./pages/import.tsx"), "Import"),
  ),
  listed(
    "/requests",
    lazyRouteComponent(() => import("./pages/requests.tsx"), "Requests"),
    (queries, query) => queries.prefetchInfiniteQuery(requestsQuery(query)),
  ),
  under(
    "/requests/$id",
    lazyRouteComponent(() => import("./pages/request.tsx"), "Request"),
    (queries, id) => queries.prefetchQuery(requestQuery(id)),
  ),
  listed(
    "/claims",
    lazyRouteComponent(() => import("./pages/claims.tsx"), "Claims"),
    (queries, query) => queries.prefetchInfiniteQuery(claimsQuery(query)),
  ),
  under(
    "/claims/$id",
    lazyRouteComponent(() => import("./pages/claim.tsx"), "Claim"),
    (queries, id) => queries.prefetchQuery(claimQuery(id)),
  ),
  under(
    "/claims/$id/dispute",
    lazyRouteComponent(() => import("./pages/dispute.tsx"), "Dispute"),
    (queries, id) => {
      startVerifier();
      return Promise.all([queries.prefetchQuery(claimQuery(id)), queries.prefetchQuery(disputeQuery(id))]);
    },
  ),
  listed(
    "/batches",
    lazyRouteComponent(() => import("./pages/batches.tsx"), "Batches"),
  ),
  under(
    "/batches/$id",
    lazyRouteComponent(() => import("./pages/batch.tsx"), "Batch"),
    (queries, id) => queries.prefetchQuery(batchQuery(id)),
  ),
  under(
    "/batches/$id/leaves/$index",
    lazyRouteComponent(() => import("./pages/leaf.tsx"), "Leaf"),
  ),
  listed(
    "/signed-claims",
    lazyRouteComponent(() => import("./pages/signed-claims.tsx"), "SignedClaims"),
  ),
  under(
    "/signed-claims/$id",
    lazyRouteComponent(() => import("./pages/signed-claim.tsx"), "SignedClaim"),
    (queries, id) => queries.prefetchQuery(signedClaimQuery(id)),
  ),
  listed(
    "/accounts",
    lazyRouteComponent(() => import("./pages/accounts.tsx"), "Accounts"),
  ),
  under(
    "/accounts/$id",
    lazyRouteComponent(() => import("./pages/account.tsx"), "Account"),
    (queries, id) => queries.prefetchQuery(accountQuery(id)),
  ),
  under(
    "/operator",
    lazyRouteComponent(() => import("./pages/operator.tsx"), "Operator"),
  ),
  under(
    "/transactions/$id",
    lazyRouteComponent(() => import("./pages/transaction.tsx"), "Transaction"),
    (queries, id) => queries.prefetchQuery(transactionQuery(id)),
  ),
  createRoute({
    getParentRoute: () => root,
    path: "/search",
    component: lazyRouteComponent(() => import("./pages/search.tsx"), "Search"),
    validateSearch: ({ q }: Record<string, unknown>) => ({ q: String(q ?? "") }),
  }),
] as const;

/** @param history absent: that of the address's paths */
export const routerWith = (queries: QueryClient, history?: RouterHistory) =>
  createRouter({
    routeTree: root.addChildren(routes),
    context: { queries },
    defaultPreload: "intent",
    scrollRestoration: true,
    ...(history === undefined ? {} : { history }),
  });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof routerWith>;
  }
}
