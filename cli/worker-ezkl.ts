/** The ezkl proofs of a worker, by what `assay proof ezkl install` put there. */
import { fromHex } from "../base/bytes.ts";
import { oneAtATime } from "../base/one-at-a-time.ts";
import { joinBytes } from "../protocol/service/workers/orders.ts";
import type { ProofMaker } from "../protocol/service/workers/worker.ts";
import type { ProofModel } from "../prover/proof/ezkl/folder.ts";
import type { EzklOptions } from "../prover/proof/ezkl/keys.ts";
import { proveEzkl } from "../prover/proof/ezkl/prove.ts";

/** A proof takes every core and hundreds of megabytes: one at a time.
 *  @returns what makes proofs of whichever model is asked for; keys that are not there are made. It throws as `load` and
 *  `proveEzkl` */
export function workerEzkl(options: EzklOptions, load: (model: string) => Promise<ProofModel>): ProofMaker {
  const inTurn = oneAtATime();
  return async (id, { binding, calldata }, signal) => {
    const model = await load(id);
    const { output, proof } = await inTurn(() => {
      signal.throwIfAborted();
      return proveEzkl({ ...options, signal }, model, calldata, binding);
    });
    return joinBytes([fromHex(output), fromHex(proof)]);
  };
}
