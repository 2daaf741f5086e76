import type { ClaimSummary } from "../../api/types.ts";

/** Whose claim it is: of a promise, not the contract's that files it, but whoever promised. */
export const proverOf = ({ prover, promisedBy = prover }: ClaimSummary): string => promisedBy;
