/** Estimates of what a result costs by each method, from the model alone and from measured costs (costs.json). */
import { type Model, whyNotExecuted } from "../../../inference/program/form.ts";
import { maxCalldata, outputLength } from "../../../inference/program/shape.ts";
import { planCompilation } from "../execution/compiled.ts";
import { estimateFastGas, estimateInferenceGas, MAX_SETTLING_RUN_GAS } from "../execution/cost.ts";
import { planPublication } from "../execution/publication.ts";
import { BYTES } from "../move-costs.ts";
import { type Costs, ofSize } from "./costs.ts";
import type { Method, Offer } from "./plan.ts";

/** What the formulas look at in a circuit. */
export interface CircuitSize {
  readonly constraints: number;
  readonly coefficients: number;
  readonly publicSignals: number;
  readonly domain: number;
}

/** What is known of a model, and of the chain that it would be used on. */
export interface ModelFacts {
  readonly model: Model;
  /** its circuit, or why there is none */
  readonly circuit: CircuitSize | { readonly refused: string };
  /** proofs of the key can be forged by whoever knows its seed, and the chain is not local */
  readonly isForgeable: boolean;
  /** what is on the chain already; nothing of it where no chain was asked */
  readonly onChain: { readonly keyStored: boolean; readonly published: boolean; readonly compiled: boolean };
  /** the proving key lies here */
  readonly keyHere: boolean;
}

/** Bytes of an element in calldata. */
const WORD = 32;
const FORGEABLE = "a development key: whoever knows its seed can forge proofs";
/** Seconds of a run of the executor, memory of a node that only runs models: small beside a proof's. */
const RUN = { seconds: 0.01, memoryBytes: 120e6 } as const;
/** Transactions that set something up are cut to fit a block; a result's must fit as it is. */
const NOTHING = { setupSeconds: 0, keyBytes: 0 } as const;

export function offersOf(facts: ModelFacts, costs: Costs): Readonly<Record<Method, Offer>> {
  return {
    execution: execution(facts),
    "execution-compiled": compiled(facts),
    groth16: groth16(facts, costs),
    ezkl: { unavailable: "ezkl proves float models, which have no program; this one is int8" },
    bond: bond(facts, costs),
  };
}

/** What is known of a model without a program, and of the chain that it would be used on. */
export interface ProofModelFacts {
  /** of its circuit */
  readonly rows: number;
  /** elements */
  readonly inputs: number;
  /** public values of a proof */
  readonly instances: number;
  /** of its verifier contract */
  readonly initCodeBytes: number;
  readonly isForgeable: boolean;
  /** verifier, key and registration are on the chain */
  readonly isRegistered: boolean;
  /** circuit and keys lie here, and the SRS */
  readonly keysHere: boolean;
  readonly srsHere: boolean;
}

const NO_PROGRAM = "a float model has no program that anybody could run again";

export function offersOfProofModel(
  facts: ProofModelFacts,
  { ezkl: measured }: Costs,
): Readonly<Record<Method, Offer>> {
  const { rows, inputs, instances, initCodeBytes, isForgeable, isRegistered, keysHere, srsHere } = facts;
  const ofRows = ({ base, perRow }: { base: number; perRow: number }): number => base + perRow * rows;
  const { keySeconds, srsSeconds, settleGas, requestGas, setupGas } = measured;
  const settle = settleGas.base + settleGas.perInstance * instances;
  const request = requestGas.base + requestGas.perInput * inputs;
  const setup = setupGas.base + setupGas.perByte * initCodeBytes;
  const ezkl: Offer = {
    setupSeconds: (keysHere ? 0 : ofRows(keySeconds)) + (srsHere ? 0 : ofRows(srsSeconds)),
    seconds: ofRows(measured.proveSeconds),
    memoryBytes: ofRows(measured.memoryBytes),
    keyBytes: ofRows(measured.keyBytes),
    gasSetup: isRegistered ? 0n : BigInt(Math.ceil(setup)),
    gasPerResult: BigInt(Math.ceil(settle + request)),
    bytesPerResult: [
      BYTES.request + WORD * inputs,
      BYTES.settle + WORD * (inputs + 2 * instances) + BYTES.ezklProof,
    ],
    gasOfLargest: BigInt(Math.ceil(settle)),
    ...(isForgeable ? { caution: FORGEABLE } : {}),
  };
  return {
    execution: { unavailable: NO_PROGRAM },
    "execution-compiled": { unavailable: NO_PROGRAM },
    groth16: { unavailable: "Groth16 proves programs, and a float model has none" },
    ezkl,
    bond: { unavailable: `${NO_PROGRAM}, so nobody could challenge a claim` },
  };
}

/** Why no interpreter runs the program, if none does. */
function withoutKernel({ program }: Model): { readonly unavailable: string } | undefined {
  const unavailable = whyNotExecuted(program);
  return unavailable === undefined ? undefined : { unavailable };
}

/** The chain runs the model for each result. @param gas of a run */
const byRun = (model: ModelFacts["model"], gasSetup: bigint, gas: bigint): Offer => ({
  ...NOTHING,
  ...RUN,
  seconds: 0,
  gasSetup,
  gasPerResult: gas,
  bytesPerResult: [maxCalldata(model.program)],
  gasOfLargest: gas,
});

function execution({ model, onChain }: ModelFacts): Offer {
  const refused = withoutKernel(model);
  if (refused !== undefined) return refused;
  const gas = BigInt(estimateInferenceGas(model.program));
  if (gas > BigInt(MAX_SETTLING_RUN_GAS)) {
    return {
      unavailable: `a run takes about ${gas} gas, and the lane settles by runs of at most ${MAX_SETTLING_RUN_GAS}`,
    };
  }
  const gasSetup = onChain.published ? 0n : BigInt(planPublication(model).gas);
  return byRun(model, gasSetup, gas);
}

function compiled({ model, onChain }: ModelFacts): Offer {
  const refused = withoutKernel(model);
  if (refused !== undefined) return refused;
  const plan = planCompilation(model.program);
  if (plan.parts.length === 0) return { unavailable: "no linear layer of it can be compiled" };
  const gas = BigInt(estimateFastGas(model.program, plan.parts.length));
  const publication = onChain.published ? 0n : BigInt(planPublication(model).gas);
  const gasSetup = publication + (onChain.compiled ? 0n : plan.gas);
  return byRun(model, gasSetup, gas);
}

function groth16(
  { model: { program }, circuit, isForgeable, onChain, keyHere }: ModelFacts,
  { groth16: measured }: Costs,
): Offer {
  if ("refused" in circuit) return { unavailable: circuit.refused };
  const { keyBytes, memoryBytes, settleGas, storeKeyGas } = measured;
  const settle = settleGas.base + settleGas.perSignal * circuit.publicSignals;
  const store = storeKeyGas.base + storeKeyGas.perSignal * circuit.publicSignals;
  return {
    setupSeconds: keyHere ? 0 : ofSize(measured.setupSeconds, circuit),
    seconds: ofSize(measured.proveSeconds, circuit),
    memoryBytes: memoryBytes.base + memoryBytes.perDomain * circuit.domain,
    keyBytes: ofSize(keyBytes, circuit) + keyBytes.perConstraint * circuit.constraints,
    gasSetup: onChain.keyStored ? 0n : BigInt(Math.ceil(store)),
    gasPerResult: BigInt(Math.ceil(settle + measured.requestGas)),
    bytesPerResult: [
      BYTES.request + maxCalldata(program),
      BYTES.settle + maxCalldata(program) + outputLength(program) + BYTES.groth16Evidence,
    ],
    gasOfLargest: BigInt(Math.ceil(settle)),
    ...(isForgeable ? { caution: FORGEABLE } : {}),
  };
}

function bond({ model: { program } }: ModelFacts, { bond: measured }: Costs): Offer {
  const { requestGas, claimGas, finalizeGas } = measured;
  const gas = BigInt(Math.ceil(requestGas + claimGas + finalizeGas));
  const largest = BigInt(Math.ceil(Math.max(requestGas, claimGas)));
  return {
    ...NOTHING,
    ...RUN,
    gasSetup: 0n,
    gasPerResult: gas,
    bytesPerResult: [
      BYTES.request + maxCalldata(program),
      BYTES.claim + outputLength(program),
      BYTES.finalize,
    ],
    gasOfLargest: largest,
  };
}
