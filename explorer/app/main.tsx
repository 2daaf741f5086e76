import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { Tooltip } from "radix-ui";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { startLive } from "./data/live.ts";
import { isWorthRetrying } from "./data/queries.ts";
import { router } from "./router.tsx";
import "./theme/tokens.css";
import "./theme/base.css";
import "./theme/parts.css";
import "./theme/shell.css";
import "./theme/pages.css";

const queries = new QueryClient({
  defaultOptions: { queries: { staleTime: 10_000, retry: isWorthRetrying, refetchOnWindowFocus: false } },
});
startLive(queries);

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Tooltip.Provider delayDuration={250}>
        <RouterProvider router={router} />
      </Tooltip.Provider>
    </QueryClientProvider>
  </StrictMode>,
);
