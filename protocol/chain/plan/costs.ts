/** What results cost by each method, fitted to measurements, in costs.json, which `npm run bench -- lane-sizes --write`
 *  renews. Every formula is a sum of products; seconds are those of the machine that the file names. */
import measured from "./costs.json" with { type: "json" };

/** base + perDomain · domain + perCoefficient · coefficients, of a circuit (CircuitSize in estimates.ts). */
export interface CircuitFormula {
  readonly base: number;
  readonly perDomain: number;
  readonly perCoefficient: number;
}

/** base + perRow · rows of ezkl's circuit. */
interface RowFormula {
  readonly base: number;
  readonly perRow: number;
}

export interface Costs {
  readonly about: string;
  /** where it was measured */
  readonly machine: readonly string[];
  readonly groth16: {
    /** witness and proof */
    readonly proveSeconds: CircuitFormula;
    /** compilation and development keys */
    readonly setupSeconds: CircuitFormula;
    /** proving key; and bytes for each constraint */
    readonly keyBytes: CircuitFormula & { readonly perConstraint: number };
    /** peak of the proving process */
    readonly memoryBytes: { readonly base: number; readonly perDomain: number };
    /** whole transaction */
    readonly settleGas: { readonly base: number; readonly perSignal: number };
    /** whole transaction, of proofs with as many signals as the task's */
    readonly batchGas: { readonly base: number; readonly perProof: number };
    /** whole transaction that stores the verification key */
    readonly storeKeyGas: { readonly base: number; readonly perSignal: number };
    /** a request that accepts PROOF, 292 bytes of calldata */
    readonly requestGas: number;
  };
  readonly ezkl: {
    /** witness and proof, by processes that start for it */
    readonly proveSeconds: RowFormula;
    /** circuit and keys, and the development SRS of their size */
    readonly keySeconds: RowFormula;
    readonly srsSeconds: RowFormula;
    /** proving key */
    readonly keyBytes: RowFormula;
    /** peak of the proving process */
    readonly memoryBytes: RowFormula;
    /** whole transactions: settlement, request, and what creates verifier, key and registration */
    readonly settleGas: { readonly base: number; readonly perInstance: number };
    readonly requestGas: { readonly base: number; readonly perInput: number };
    readonly setupGas: { readonly base: number; readonly perByte: number };
  };
  /** whole transactions */
  readonly bond: { readonly requestGas: number; readonly claimGas: number; readonly finalizeGas: number };
}

export const COSTS: Costs = measured;

/** A circuit's seconds, or bytes without those of its constraints. */
export const ofSize = (
  { base, perDomain, perCoefficient }: CircuitFormula,
  { domain, coefficients }: { readonly domain: number; readonly coefficients: number },
): number => base + perDomain * domain + perCoefficient * coefficients;
