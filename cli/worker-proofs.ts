/** The Groth16 proofs of a worker, by the proving keys in its folder. */
import type { Logger } from "../base/log.ts";
import type { LoadedModel } from "../inference/model-folder.ts";
import type { Canonical } from "../inference/runtime/canonical-pool.ts";
import { encodeProof } from "../protocol/rules/proof/groth16.ts";
import type { ProofMaker } from "../protocol/service/workers/worker.ts";
import { type CompiledCircuit, compileCircuit } from "../prover/proof/groth16/compile.ts";
import { developmentKeyPath, keysInFolder, type ModelKeys, openKeys } from "../prover/proof/groth16/keys.ts";
import type { Groth16Prover } from "../prover/proof/groth16/snark/prover.ts";
import { stateInference } from "../prover/proof/groth16/statement.ts";

export interface WorkerProofsParts {
  /** folder of proving keys, in which none is made */
  readonly keys: string;
  readonly load: (model: string) => Promise<LoadedModel>;
  readonly canonical: Canonical;
  readonly prover: Groth16Prover;
  readonly log: Logger;
}

interface Ready {
  readonly circuit: CompiledCircuit;
  readonly keys: ModelKeys;
}

/** @returns what makes proofs of whichever model is asked for; it throws BaseError PROVING_KEY_MISSING, KEY_MISMATCH, and
 *  as `stateInference` and `Groth16Prover.prove` */
export function workerProofs({ keys: folder, load, canonical, prover, log }: WorkerProofsParts): ProofMaker {
  const ready = new Map<string, Promise<Ready>>();
  const open = async ({ model, manifest }: LoadedModel): Promise<Ready> => {
    const keys = await keysInFolder(manifest.assay.vkHash, folder, () =>
      openKeys(developmentKeyPath(model, folder)),
    );
    const circuit = compileCircuit(model);
    log.info(
      { model: manifest.name, constraints: circuit.r1cs.constraints.length },
      "proofs of this model are possible",
    );
    return { circuit, keys };
  };
  const readyFor = (id: string, loaded: LoadedModel): Promise<Ready> => {
    const known = ready.get(id) ?? open(loaded);
    ready.set(id, known);
    // A key that is put there later is found.
    known.catch(() => ready.delete(id));
    return known;
  };
  return async (id, { binding, calldata }, signal) => {
    const loaded = await load(id);
    const { circuit, keys } = await readyFor(id, loaded);
    const output = await canonical.output(id, calldata, { urgency: "own", signal });
    const { selector, model } = loaded;
    const { witness } = stateInference(circuit, model.program, selector, calldata, output, binding);
    return encodeProof(await prover.prove(keys.provingKey, witness, signal));
  };
}
