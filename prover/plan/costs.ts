/** What results cost by each method, fitted to measurements: reads costs.json, which `npm run bench -- lane-sizes
 *  --write` renews. Every formula is a sum of products; seconds are those of the machine that it names. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { BaseError } from "../../base/errors.ts";

const amount = z.number().nonnegative();
/** base + perDomain · domain + perCoefficient · coefficients, of a circuit (CircuitSize in proof/groth16/compile.ts). */
const ofCircuit = z.strictObject({ base: amount, perDomain: amount, perCoefficient: amount });

/** base + perRow · rows of ezkl's circuit. */
const ofRows = z.strictObject({ base: amount, perRow: amount });

const schema = z.strictObject({
  about: z.string(),
  /** where it was measured */
  machine: z.array(z.string()),
  groth16: z.strictObject({
    /** witness and proof */
    proveSeconds: ofCircuit,
    /** compilation and development keys */
    setupSeconds: ofCircuit,
    /** proving key; and bytes for each constraint */
    keyBytes: ofCircuit.extend({ perConstraint: amount }),
    /** peak of the proving process */
    memoryBytes: z.strictObject({ base: amount, perDomain: amount }),
    /** whole transaction */
    settleGas: z.strictObject({ base: amount, perSignal: amount }),
    /** whole transaction, of proofs with as many signals as the task's */
    batchGas: z.strictObject({ base: amount, perProof: amount }),
    /** whole transaction that stores the verification key */
    storeKeyGas: z.strictObject({ base: amount, perSignal: amount }),
    /** a request that accepts PROOF, 292 bytes of calldata */
    requestGas: amount,
  }),
  ezkl: z.strictObject({
    /** witness and proof, by processes that start for it */
    proveSeconds: ofRows,
    /** circuit and keys, and the development SRS of their size */
    keySeconds: ofRows,
    srsSeconds: ofRows,
    /** proving key */
    keyBytes: ofRows,
    /** peak of the proving process */
    memoryBytes: ofRows,
    /** whole transactions: settlement, request, and what creates verifier, key and registration */
    settleGas: z.strictObject({ base: amount, perInstance: amount }),
    requestGas: z.strictObject({ base: amount, perInput: amount }),
    setupGas: z.strictObject({ base: amount, perByte: amount }),
  }),
  /** whole transactions */
  bond: z.strictObject({ requestGas: amount, claimGas: amount, finalizeGas: amount }),
});

export type Costs = z.infer<typeof schema>;
export type CircuitFormula = z.infer<typeof ofCircuit>;

/** @throws BaseError COSTS_INVALID */
export function readCosts(path: string | URL = new URL("costs.json", import.meta.url)): Costs {
  try {
    return schema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw new BaseError({
      code: "COSTS_INVALID",
      shortMessage: `The measured costs in ${path} cannot be read.`,
      nextStep: "Restore the file, or write it anew with `npm run bench -- lane-sizes --write`.",
      cause,
    });
  }
}

/** A circuit's seconds, or bytes without those of its constraints. */
export const ofSize = (
  { base, perDomain, perCoefficient }: CircuitFormula,
  { domain, coefficients }: { readonly domain: number; readonly coefficients: number },
): number => base + perDomain * domain + perCoefficient * coefficients;
