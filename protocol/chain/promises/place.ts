/** Where a deployment keeps promises. Those from before promises have no such contract. */
import { BaseError } from "../../../base/errors.ts";
import type { PromisesAddress } from "../../rules/promises/signed-claim.ts";
import type { Deployment } from "../deployment.ts";

export const hasPromises = ({ contracts }: Pick<Deployment, "contracts">): boolean =>
  contracts.promises !== undefined;

/** @throws BaseError PROMISES_MISSING */
export function promisesOf({
  chainId,
  contracts,
}: Pick<Deployment, "chainId" | "contracts">): PromisesAddress {
  const { promises } = contracts;
  if (promises !== undefined) return { chainId, promises };
  throw new BaseError({
    code: "PROMISES_MISSING",
    shortMessage: `The deployment on chain ${chainId} has no Promises: its file names no contract "promises".`,
    nextStep: "Run `assay deploy --force`: it adds Promises to what stands, and writes the file anew.",
    details: { chainId },
  });
}
