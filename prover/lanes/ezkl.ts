/** ezkl as a method of settling: models without a program, proven in worker processes. */
import { existsSync } from "node:fs";
import type { Address, Hex } from "viem";
import { isBaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { isKeyStored, proofLaneOf } from "../../protocol/chain/proof/store-key.ts";
import { ezklBinding } from "../../protocol/rules/proof/public-signals.ts";
import { LANE, type ModelId } from "../../protocol/rules/types.ts";
import { ezklEvidenceBytes, ezklSettleGas } from "../costs.ts";
import type { TruthTerms } from "../decide.ts";
import { hasProgram, type ServedModel, type ServedProofModel } from "../models.ts";
import { pythonOf } from "../proof/ezkl/install.ts";
import { encodeEvidence } from "../proof/ezkl/instances.ts";
import type { EzklOptions } from "../proof/ezkl/keys.ts";
import { modelKeys, proveEzkl } from "../proof/ezkl/prove.ts";
import { verifierOf } from "../proof/ezkl/register.ts";
import { ezklMissing } from "../proof/ezkl/worker.ts";
import type { Truth, TruthSource } from "./source.ts";

export interface EzklParts {
  readonly chain: Chain & { readonly account: { readonly address: Hex } };
  readonly ezkl: EzklOptions;
  readonly log: Logger;
}

export class EzklSource implements TruthSource {
  readonly method = "ezkl";
  readonly lane = LANE.PROOF;
  readonly #parts: EzklParts;
  /** verifier contracts of the models that can be proven */
  readonly #ready = new Map<ModelId, Address>();
  readonly #missing = new Map<ModelId, string>();
  /** models whose files or keys are wrong: nothing that time mends */
  readonly #refused = new Set<ModelId>();
  /** A proof takes every core and hundreds of megabytes: one at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: EzklParts) {
    this.#parts = parts;
  }

  async refresh(models: Iterable<ServedModel>): Promise<void> {
    for (const model of models) {
      if (hasProgram(model) || this.#ready.has(model.id) || this.#refused.has(model.id)) continue;
      try {
        await this.#open(model);
      } catch (error) {
        const mayMend = isBaseError(error) && (error.retryable || error.code === "EZKL_MISSING");
        if (!mayMend) this.#refused.add(model.id);
        this.#reportOnce(model, error instanceof Error ? error.message : String(error));
      }
    }
  }

  terms(model: ServedModel): TruthTerms | undefined {
    if (hasProgram(model) || !this.#ready.has(model.id)) return undefined;
    return {
      method: this.method,
      lane: this.lane,
      gas: ezklSettleGas(model.proofModel),
      evidenceBytes: ezklEvidenceBytes(model.proofModel),
    };
  }

  missing({ id }: ServedModel): string | undefined {
    return this.#missing.get(id);
  }

  async prove(model: ServedModel, calldata: Uint8Array, signal: AbortSignal): Promise<Truth> {
    const { chain, ezkl } = this.#parts;
    const verifier = this.#ready.get(model.id);
    if (hasProgram(model) || verifier === undefined) throw new Error("the keys are not ready");
    const binding = ezklBinding({
      chainId: chain.game.chainId,
      proofLane: proofLaneOf(chain),
      modelId: model.id,
      submitter: chain.account.address,
    });
    const proving = this.#last.then(() =>
      proveEzkl({ ...ezkl, signal }, model.proofModel, calldata, binding),
    );
    this.#last = proving.catch(() => undefined);
    const { output, proof } = await proving;
    return { output, evidence: encodeEvidence(verifier, proof) };
  }

  /** Keys that are not there are made. */
  async #open(model: ServedProofModel): Promise<void> {
    const { chain, ezkl, log } = this.#parts;
    const { proofAdapter } = chain.deployment.contracts;
    if (proofAdapter === undefined) return;
    const python = pythonOf(ezkl.folder);
    if (!existsSync(python)) throw ezklMissing(python);
    const { verifier, isThere } = await verifierOf(chain, model.proofModel);
    // Not registered yet: nobody can ask for it.
    if (!isThere || !(await isKeyStored(chain, model.id))) return;
    const keys = await modelKeys(ezkl, model.proofModel);
    this.#ready.set(model.id, verifier);
    this.#missing.delete(model.id);
    log.info({ model: model.name, rows: 2 ** keys.logrows }, "proofs of this model are possible");
  }

  #reportOnce(model: ServedModel, reason: string): void {
    if (this.#missing.get(model.id) === reason) return;
    this.#missing.set(model.id, reason);
    this.#parts.log.warn({ model: model.name, reason }, "no proofs of this model from here");
  }
}
