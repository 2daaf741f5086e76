import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type RouterHistory, RouterProvider } from "@tanstack/react-router";
import { Tooltip } from "radix-ui";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { startLive } from "./data/live.ts";
import { isWorthRetrying } from "./data/queries.ts";
import { routerWith } from "./router.tsx";
import "./theme/tokens.css";
import "./theme/base.css";
import "./theme/parts.css";
import "./theme/shell.css";
import "./theme/pages.css";

/** Shows the pages. @param history absent: every page has a path of the server */
export function start(history?: RouterHistory): void {
  const queries = new QueryClient({
    defaultOptions: { queries: { staleTime: 10_000, retry: isWorthRetrying, refetchOnWindowFocus: false } },
  });
  startLive(queries);
  createRoot(document.getElementById("root") as HTMLElement).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Tooltip.Provider delayDuration={250}>
          <RouterProvider router={routerWith(queries, history)} />
        </Tooltip.Provider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
