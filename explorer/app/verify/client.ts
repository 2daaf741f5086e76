import { queryOptions } from "@tanstack/react-query";
import { proxy } from "comlink";
import type { Hex } from "../../../base/bytes.ts";
import type { PromisesAddress } from "../../../protocol/rules/promises/signed-claim.ts";
import { getBytes } from "../data/api.ts";
import { LazyWorker } from "../lazy-worker.ts";
import type { Shown } from "./descent.ts";
import type { LeafProof } from "./leaf.ts";
import type { Verifier } from "./worker.ts";

const verifier = new LazyWorker<Verifier>(
  "The verifier",
  () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
  // Its messages come in order: it can read before it is asked anything.
  (remote) => void remote.readBy(proxy(getBytes)),
);

/** Loads the verifier while what it will be asked about is still on its way. */
export const startVerifier = (): void => verifier.start();

/** What is computed here never changes: it is kept under `files`, which events do not touch. */
const computed = <T>(key: readonly unknown[], compute: () => Promise<T>) =>
  queryOptions({
    queryKey: ["files", "verified", ...key],
    queryFn: compute,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

export const runQuery = (model: string, input: Hex) =>
  computed(["run", model, input], () => verifier.call((remote) => remote.run(model, input)));
export const leafCheckQuery = (at: PromisesAddress, batchId: Hex, proof: LeafProof) =>
  computed(["leaf", at, batchId, proof], () => verifier.call((remote) => remote.leaf(at, batchId, proof)));
export const programQuery = (model: string) =>
  computed(["program", model], () => verifier.call((remote) => remote.program(model)));
export const tensorQuery = (model: string, input: Hex, step: number) =>
  computed(["tensor", model, input, step], () =>
    verifier.call((remote) => remote.tensor(model, input, step)),
  );
/** A claim, as far as its run follows from it. */
export interface Claimed {
  readonly modelId: string;
  readonly input: { readonly hex: string; readonly isCut: boolean };
  readonly output: { readonly hex: string; readonly isCut: boolean };
}

const bytesOf = ({ modelId, input, output }: Claimed) =>
  [modelId, input.hex as Hex, output.isCut ? undefined : (output.hex as Hex)] as const;

export const descentQuery = (claim: Claimed, shown: Shown) =>
  computed(["descent", ...bytesOf(claim), shown], () =>
    verifier.call((remote) => remote.descend(...bytesOf(claim), shown)),
  );
export const explainQuery = (claim: Claimed, step: number, element: number) =>
  computed(["explain", ...bytesOf(claim), step, element], async () => {
    // A query has no undefined.
    return (await verifier.call((remote) => remote.explain(...bytesOf(claim), step, element))) ?? null;
  });
