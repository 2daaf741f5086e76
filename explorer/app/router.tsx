import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { filters } from "./data/filters.ts";
import { Overview } from "./pages/overview.tsx";
import { Shell } from "./shell/shell.tsx";
import { Broken, NotFound } from "./shell/wrong-turns.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Broken });
const under = <Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => root, path, component });

const listed = <Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => root, path, component, validateSearch: filters });

const routes = [
  createRoute({ getParentRoute: () => root, path: "/", component: Overview }),
  under(
    "/models",
    lazyRouteComponent(() => import("./pages/models.tsx"), "Models"),
  ),
  under(
    "/models/$id",
    lazyRouteComponent(() => import("./pages/model.tsx"), "Model"),
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
  ),
  under(
    "/requests/$id",
    lazyRouteComponent(() => import("./pages/request.tsx"), "Request"),
  ),
  listed(
    "/claims",
    lazyRouteComponent(() => import("./pages/claims.tsx"), "Claims"),
  ),
  under(
    "/claims/$id",
    lazyRouteComponent(() => import("./pages/claim.tsx"), "Claim"),
  ),
  under(
    "/claims/$id/dispute",
    lazyRouteComponent(() => import("./pages/dispute.tsx"), "Dispute"),
  ),
  listed(
    "/accounts",
    lazyRouteComponent(() => import("./pages/accounts.tsx"), "Accounts"),
  ),
  under(
    "/accounts/$id",
    lazyRouteComponent(() => import("./pages/account.tsx"), "Account"),
  ),
  under(
    "/operator",
    lazyRouteComponent(() => import("./pages/operator.tsx"), "Operator"),
  ),
  under(
    "/transactions/$id",
    lazyRouteComponent(() => import("./pages/transaction.tsx"), "Transaction"),
  ),
  createRoute({
    getParentRoute: () => root,
    path: "/search",
    component: lazyRouteComponent(() => import("./pages/search.tsx"), "Search"),
    validateSearch: ({ q }: Record<string, unknown>) => ({ q: String(q ?? "") }),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
