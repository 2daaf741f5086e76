/** The models of a worker: folders of its cache, which are filled by their ids. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { type LoadedModel, loadModelFolder } from "../inference/model-folder.ts";
import type { CanonicalPool } from "../inference/runtime/canonical-pool.ts";
import type { ModelId } from "../protocol/rules/types.ts";
import { loadProofModel, type ProofModel } from "../prover/proof/ezkl/folder.ts";
import { pullModel } from "./pull.ts";

export interface WorkerModelsParts {
  readonly cache: string;
  /** base URLs of provers */
  readonly sources: readonly string[];
  readonly pool: Pick<CanonicalPool, "add">;
  readonly log: Logger;
}

/** Between two tries to have a model that could not be had, ms. */
const AGAIN_MS = 10_000;

/** What is being made by a name, or is made; after a failure it is tried anew in a while. */
function once<T>(known: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  const before = known.get(name);
  if (before !== undefined) return before;
  const making = make();
  known.set(name, making);
  making.catch(() => setTimeout(() => known.delete(name), AGAIN_MS).unref());
  return making;
}

export class WorkerModels {
  readonly #parts: WorkerModelsParts;
  readonly #loading = new Map<string, Promise<LoadedModel>>();
  readonly #loadingProofs = new Map<string, Promise<ProofModel>>();

  constructor(parts: WorkerModelsParts) {
    this.#parts = parts;
  }

  /** Loads a model from the cache, and takes it from a prover where the cache lacks it. Every file is checked against
   *  the id in both ways. @throws BaseError MODEL_NOT_HERE, MODEL_OTHER, and as loadModelFolder does */
  load(id: string): Promise<LoadedModel> {
    return once(this.#loading, id, async () => {
      const loaded = await this.#open(id, loadModelFolder);
      this.#parts.pool.add(id, loaded);
      return loaded;
    });
  }

  /** The same of a model without a program, which ezkl proves. @throws BaseError as load, and as loadProofModel does */
  loadProofModel(id: string): Promise<ProofModel> {
    return once(this.#loadingProofs, id, () => this.#open(id, loadProofModel));
  }

  async #open<T extends LoadedModel | ProofModel>(id: string, open: (folder: string) => T): Promise<T> {
    const { cache, log } = this.#parts;
    const folder = join(cache, id);
    if (!existsSync(folder)) await this.#pull(id, folder);
    const loaded = open(folder);
    if (loaded.modelId !== id)
      throw new BaseError({
        code: "MODEL_OTHER",
        shortMessage: `${folder} holds model ${loaded.modelId}, not ${id}.`,
        nextStep: "Remove the folder: it is taken from a prover again.",
      });
    log.info({ model: loaded.manifest.name, id }, "a model is loaded");
    return loaded;
  }

  async #pull(id: string, folder: string): Promise<void> {
    const reasons: string[] = [];
    for (const source of this.#parts.sources) {
      try {
        await pullModel(source, id as ModelId, folder);
        return;
      } catch (error) {
        // Another worker of this machine may have filled it.
        if (existsSync(folder)) return;
        reasons.push(error instanceof Error ? error.message : String(error));
      }
    }
    throw new BaseError({
      code: "MODEL_NOT_HERE",
      shortMessage: `The model ${id} is not in ${this.#parts.cache}, and no prover gave it: ${reasons.join(" ") || "none is named"}.`,
      nextStep: "Name a prover that serves it with --sources, or fill the folder with `assay model pull`.",
      retryable: true,
    });
  }
}
