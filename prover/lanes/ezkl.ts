/** ezkl as a method of settling: models without a program, proven by workers of the database or in processes of this
 *  machine. */
import { existsSync } from "node:fs";
import type { Address, Hex } from "viem";
import { toHex } from "../../base/bytes.ts";
import { BaseError, isBaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { oneAtATime } from "../../base/one-at-a-time.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { isTrueOnChain } from "../../protocol/chain/proof/is-true.ts";
import { isKeyStored, proofLaneOf } from "../../protocol/chain/proof/store-key.ts";
import { ezklBinding } from "../../protocol/rules/proof/public-signals.ts";
import { LANE, type ModelId } from "../../protocol/rules/types.ts";
import { splitBytes } from "../../protocol/service/workers/orders.ts";
import { ezklEvidenceBytes, ezklSettleGas } from "../costs.ts";
import type { TruthTerms } from "../decide.ts";
import { hasProgram, type ServedModel, type ServedProofModel } from "../models.ts";
import { pythonOf } from "../proof/ezkl/install.ts";
import { encodeEvidence } from "../proof/ezkl/instances.ts";
import type { EzklOptions } from "../proof/ezkl/keys.ts";
import { modelKeys, proveEzkl } from "../proof/ezkl/prove.ts";
import { verifierOf } from "../proof/ezkl/register.ts";
import { ezklMissing } from "../proof/ezkl/worker.ts";
import { type AskedProof, type ProofWorkers, provenByWorkers } from "./proofs-by-workers.ts";
import type { Truth, TruthSource } from "./source.ts";

export interface EzklParts {
  readonly chain: Chain & { readonly account: { readonly address: Hex } };
  readonly ezkl: EzklOptions;
  /** that are asked for a proof first; absent: none */
  readonly workers?: ProofWorkers | undefined;
  readonly log: Logger;
}

interface Ready {
  readonly verifier: Address;
  /** whether this machine can prove it: it has ezkl */
  readonly isProvenHere: boolean;
}

export class EzklSource implements TruthSource {
  readonly method = "ezkl";
  readonly lane = LANE.PROOF;
  readonly #parts: EzklParts;
  /** models that can be proven */
  readonly #ready = new Map<ModelId, Ready>();
  readonly #missing = new Map<ModelId, string>();
  /** models whose files or keys are wrong: nothing that time mends */
  readonly #refused = new Set<ModelId>();
  /** A proof takes every core and hundreds of megabytes: one at a time. */
  readonly #inTurn = oneAtATime();

  constructor(parts: EzklParts) {
    this.#parts = parts;
  }

  async refresh(models: Iterable<ServedModel>): Promise<void> {
    for (const model of models) {
      if (hasProgram(model) || this.#refused.has(model.id)) continue;
      // Where workers prove it, ezkl may be installed here later.
      const ready = this.#ready.get(model.id);
      if (ready !== undefined && (ready.isProvenHere || !this.#isInstalled)) continue;
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
    const ready = this.#ready.get(model.id);
    if (hasProgram(model) || ready === undefined || !(ready.isProvenHere || this.#hasWorkers))
      return undefined;
    return {
      method: this.method,
      lane: this.lane,
      gas: ezklSettleGas(model.proofModel),
      evidenceBytes: ezklEvidenceBytes(model.proofModel),
    };
  }

  missing({ id }: ServedModel): string | undefined {
    const isOfWorkers = this.#ready.get(id)?.isProvenHere === false;
    if (isOfWorkers && !this.#hasWorkers) return "no worker is alive, and ezkl is not installed here";
    return this.#missing.get(id);
  }

  async prove(model: ServedModel, calldata: Uint8Array, signal: AbortSignal, leftMs: number): Promise<Truth> {
    const { chain, ezkl } = this.#parts;
    const ready = this.#ready.get(model.id);
    if (hasProgram(model) || ready === undefined) throw new Error("the keys are not ready");
    const { verifier, isProvenHere } = ready;
    const binding = ezklBinding({
      chainId: chain.game.chainId,
      proofLane: proofLaneOf(chain),
      modelId: model.id,
      submitter: chain.account.address,
    });
    const made = await this.#provenByWorkers(model, verifier, { calldata, binding, leftMs }, signal);
    if (made !== undefined) return made;
    if (!isProvenHere) throw notProven();
    const { output, proof } = await this.#inTurn(() =>
      proveEzkl({ ...ezkl, signal }, model.proofModel, calldata, binding),
    );
    return { output, evidence: encodeEvidence(verifier, proof) };
  }

  get #isInstalled(): boolean {
    return existsSync(pythonOf(this.#parts.ezkl.folder));
  }

  get #hasWorkers(): boolean {
    return (this.#parts.workers?.runs.alive ?? 0) > 0;
  }

  /** The output is the worker's as well: it is right if the contract takes the proof for it. */
  async #provenByWorkers(
    { id: modelId, proofModel }: ServedProofModel,
    verifier: Address,
    statement: Omit<AskedProof, "task" | "model">,
    signal: AbortSignal,
  ): Promise<Truth | undefined> {
    const { chain, workers } = this.#parts;
    if (workers === undefined) return undefined;
    const submitter = chain.account.address;
    const input = toHex(statement.calldata);
    const read = (content: Uint8Array) => readTruth(content, verifier, proofModel.outputs);
    const isValid = async (content: Uint8Array) => {
      const truth = read(content);
      return truth !== undefined && (await isTrueOnChain(chain, { modelId, submitter, input, ...truth }));
    };
    const asked = { task: "ezkl", model: modelId, ...statement } as const;
    const content = await provenByWorkers(workers, asked, isValid, signal);
    return content && read(content);
  }

  /** Keys that are not there are made, where this machine has ezkl. */
  async #open(model: ServedProofModel): Promise<void> {
    const { chain, ezkl, workers, log } = this.#parts;
    const { proofAdapter } = chain.deployment.contracts;
    if (proofAdapter === undefined) return;
    const isProvenHere = this.#isInstalled;
    if (!isProvenHere && workers === undefined) throw ezklMissing(pythonOf(ezkl.folder));
    const { verifier, isThere } = await verifierOf(chain, model.proofModel);
    // Not registered yet: nobody can ask for it.
    if (!isThere || !(await isKeyStored(chain, model.id))) return;
    const rows = isProvenHere ? 2 ** (await modelKeys(ezkl, model.proofModel)).logrows : undefined;
    this.#ready.set(model.id, { verifier, isProvenHere });
    this.#missing.delete(model.id);
    log.info(
      { model: model.name, rows, by: isProvenHere ? "this machine" : "workers" },
      "proofs of this model are possible",
    );
  }

  #reportOnce(model: ServedModel, reason: string): void {
    if (this.#missing.get(model.id) === reason) return;
    this.#missing.set(model.id, reason);
    this.#parts.log.warn({ model: model.name, reason }, "no proofs of this model from here");
  }
}

/** @param outputs words @returns undefined for bytes that are no output with its proof */
function readTruth(content: Uint8Array, verifier: Address, outputs: number): Truth | undefined {
  const [output, proof, ...rest] = splitBytes(content) ?? [];
  if (output?.length !== 32 * outputs || proof === undefined || rest.length > 0) return undefined;
  return { output: toHex(output), evidence: encodeEvidence(verifier, toHex(proof)) };
}

const notProven = (): BaseError =>
  new BaseError({
    code: "NOT_PROVEN",
    shortMessage: "No worker made a proof that the contract takes, and ezkl is not installed here.",
    nextStep:
      "Start workers with --ezkl, or install it here with `assay proof ezkl install`; the request is tried again.",
    retryable: true,
  });
