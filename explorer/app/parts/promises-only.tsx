import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { healthQuery } from "../data/queries.ts";
import { Empty, Loading } from "./states.tsx";

/** A page of promises, where the deployment has any. */
export function PromisesOnly({ children }: { readonly children: ReactNode }) {
  const { data: health, isError } = useQuery(healthQuery);
  if (health === undefined && !isError) return <Loading />;
  if (health !== undefined && health.promises === undefined) {
    return (
      <Empty title="This deployment has no promises">
        Its provers answer by claims on the chain alone. <code>assay deploy --force</code> adds the contract.
      </Empty>
    );
  }
  return children;
}
