/** Groth16 as a method of settling: models whose verification key is on the chain and whose proving key is here. */
import type { Hex } from "viem";
import { toHex } from "../../base/bytes.ts";
import type { Logger } from "../../base/log.ts";
import type { Canonical } from "../../inference/runtime/canonical-pool.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { BYTES } from "../../protocol/chain/move-costs.ts";
import { isTrueOnChain } from "../../protocol/chain/proof/is-true.ts";
import { isKeyStored } from "../../protocol/chain/proof/store-key.ts";
import { groth16Binding } from "../../protocol/rules/proof/public-signals.ts";
import { LANE, type ModelId } from "../../protocol/rules/types.ts";
import { GAS } from "../costs.ts";
import type { TruthTerms } from "../decide.ts";
import { hasProgram, type ServedModel, type ServedProgram } from "../models.ts";
import { type CompiledCircuit, compileCircuit } from "../proof/groth16/compile.ts";
import { developmentKeys, keysInFolder, type ModelKeys } from "../proof/groth16/keys.ts";
import { proveInference } from "../proof/groth16/prove-inference.ts";
import type { Groth16Prover } from "../proof/groth16/snark/prover.ts";
import { type ProofWorkers, provenByWorkers } from "./proofs-by-workers.ts";
import type { Truth, TruthSource } from "./source.ts";

export interface Groth16Parts {
  readonly chain: Chain & { readonly account: { readonly address: Hex } };
  /** folder of proving keys; development keys that are not there are made */
  readonly keys: string;
  readonly prover: Groth16Prover;
  readonly canonical: Canonical;
  /** that are asked for a proof first; absent: none */
  readonly workers?: ProofWorkers | undefined;
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

  async prove(model: ServedModel, calldata: Uint8Array, signal: AbortSignal, leftMs: number): Promise<Truth> {
    const { chain, prover, canonical, workers } = this.#parts;
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
    if (workers !== undefined) {
      const { submitter, modelId } = binding;
      const shown = { modelId, submitter, input: toHex(calldata), output: toHex(output) };
      const isValid = (evidence: Uint8Array) => isTrueOnChain(chain, { ...shown, evidence: toHex(evidence) });
      const statement = { calldata, binding: groth16Binding(binding) };
      const asked = { task: "groth16", model: modelId, ...statement, leftMs } as const;
      const evidence = await provenByWorkers(workers, asked, isValid, signal);
      if (evidence !== undefined) return { output: shown.output, evidence: toHex(evidence) };
    }
    return proveInference(model.prepared, calldata, binding, ready.keys, calledOff, {
      circuit: ready.circuit,
      output,
    });
  }

  /** The proving key that a ceremony left in the folder, else the development key. */
  async #open({ name, prepared, manifest }: ServedProgram): Promise<Ready> {
    const { keys: folder, log } = this.#parts;
    const circuit = compileCircuit(prepared.model);
    const keys = await keysInFolder(manifest.assay.vkHash, folder, () =>
      developmentKeys(prepared.model, folder, undefined, circuit),
    );
    log.info(
      { model: name, constraints: circuit.r1cs.constraints.length },
      "proofs of this model are possible",
    );
    return { circuit, keys };
  }
}
