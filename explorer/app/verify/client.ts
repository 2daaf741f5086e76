import { queryOptions } from "@tanstack/react-query";
import { type Remote, wrap } from "comlink";
import type { Hex } from "../../../base/bytes.ts";
import type { Shown } from "./descent.ts";
import type { Verifier } from "./worker.ts";

let started: Remote<Verifier> | undefined;

/** The worker, which is loaded when something is verified first. */
function verifier(): Remote<Verifier> {
  started ??= wrap<Verifier>(new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }));
  return started;
}

/** What is computed here never changes: it is kept under `files`, which events do not touch. */
const computed = <T>(key: readonly unknown[], compute: () => Promise<T>) =>
  queryOptions({
    queryKey: ["files", "verified", ...key],
    queryFn: compute,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

export const runQuery = (model: string, input: Hex) =>
  computed(["run", model, input], () => verifier().run(model, input));
export const programQuery = (model: string) => computed(["program", model], () => verifier().program(model));
export const tensorQuery = (model: string, input: Hex, step: number) =>
  computed(["tensor", model, input, step], () => verifier().tensor(model, input, step));
export const descentQuery = (model: string, input: Hex, shown: Shown) =>
  computed(["descent", model, input, shown], () => verifier().descend(model, input, shown));
export const explainQuery = (model: string, input: Hex, step: number, element: number) =>
  computed(["explain", model, input, step, element], async () => {
    // A query has no undefined.
    return (await verifier().explain(model, input, step, element)) ?? null;
  });
