/** Groth16 as a method of settling: models whose verification key is on the chain and whose proving key is here. */
import { existsSync } from "node:fs";
import type { Hex } from "viem";
import type { Logger } from "../../base/log.ts";
import type { Canonical } from "../../inference/runtime/canonical-pool.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { BYTES } from "../../protocol/chain/move-costs.ts";
import { isKeyStored } from "../../protocol/chain/proof/store-key.ts";
import { LANE, type ModelId } from "../../protocol/rules/types.ts";
import { GAS } from "../costs.ts";
import type { TruthTerms } from "../decide.ts";
import { hasProgram, type ServedModel, type ServedProgram } from "../models.ts";
import { type CompiledCircuit, compileCircuit } from "../proof/groth16/compile.ts";
import {
  assertKeysOf,
  ceremonyKeyPath,
  developmentKeys,
  type ModelKeys,
  openKeys,
} from "../proof/groth16/keys.ts";
import { proveInference } from "../proof/groth16/prove-inference.ts";
import type { Groth16Prover } from "../proof/groth16/snark/prover.ts";
import type { Truth, TruthSource } from "./source.ts";

export interface Groth16Parts {
  readonly chain: Chain & { readonly account: { readonly address: Hex } };
  /** folder of proving keys; development keys that are not there are made */
  readonly keys: string;
  readonly prover: Groth16Prover;
  readonly canonical: Canonical;
  readonly log: Logger;
}

interface Ready {
  readonly circuit: CompiledCircuit;
  readonly keys: ModelKeys;
}

export class Groth16Source implements TruthSource {
  readonly method = "groth16";
  readonly lane = LANE.PROOF;
  readonly #parts: Groth16Parts;
  readonly #ready = new Map<ModelId, Ready>();
  /** models without proving key or circuit, so that the reason is said once */
  readonly #without = new Set<ModelId>();

  constructor(parts: Groth16Parts) {
    this.#parts = parts;
  }

  async refresh(models: Iterable<ServedModel>): Promise<void> {
    const { proofAdapter } = this.#parts.chain.deployment.contracts;
    if (proofAdapter === undefined) return;
    for (const model of models) {
      const isKnown = this.#ready.has(model.id) || this.#without.has(model.id);
      if (!hasProgram(model) || (model.lanes & LANE.PROOF) === 0 || isKnown) continue;
      try {
        if (await isKeyStored(this.#parts.chain, model.id))
          this.#ready.set(model.id, await this.#open(model));
      } catch (error) {
        this.#without.add(model.id);
        this.#parts.log.warn(
          { model: model.name, reason: String(error) },
          "no proofs of this model from here",
        );
      }
    }
  }

  terms(model: ServedModel): TruthTerms | undefined {
    const ready = this.#ready.get(model.id);
    if (ready === undefined) return undefined;
    const gas = GAS.settleProof + GAS.perSignal * BigInt(ready.circuit.signals.count);
    return { method: this.method, lane: this.lane, gas, evidenceBytes: BYTES.groth16Evidence };
  }

  async prove(model: ServedModel, calldata: Uint8Array, signal: AbortSignal): Promise<Truth> {
    const { chain, prover, canonical } = this.#parts;
    const { proofAdapter } = chain.deployment.contracts;
    const ready = this.#ready.get(model.id);
    if (!hasProgram(model) || ready === undefined || proofAdapter === undefined)
      throw new Error("the proving key is not open");
    const binding = {
      chainId: chain.deployment.chainId,
      proofLane: proofAdapter,
      modelId: model.id,
      submitter: chain.account.address,
    };
    const calledOff: Groth16Prover = {
      prove: (key, witness) => prover.prove(key, witness, signal),
      verify: (...args) => prover.verify(...args),
      close: () => {},
    };
    const output = await canonical.output(model.id, calldata, { signal });
    return proveInference(model.prepared, calldata, binding, ready.keys, calledOff, {
      circuit: ready.circuit,
      output,
    });
  }

  /** The proving key that a ceremony left in the folder, else the development key. */
  async #open({ name, prepared, manifest }: ServedProgram): Promise<Ready> {
    const { keys: folder, log } = this.#parts;
    const { vkHash } = manifest.assay;
    const circuit = compileCircuit(prepared.model);
    const path = ceremonyKeyPath(vkHash, folder);
    const keys = existsSync(path)
      ? await openKeys(path)
      : await developmentKeys(prepared.model, folder, undefined, circuit);
    assertKeysOf(vkHash, keys);
    log.info(
      { model: name, constraints: circuit.r1cs.constraints.length },
      "proofs of this model are possible",
    );
    return { circuit, keys };
  }
}
