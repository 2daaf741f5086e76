/** The models whose files lie beside exported pages. */
import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { mustEqual } from "../../inference/manifest/model-files.ts";
import type { Program } from "../../inference/program/form.ts";
import { type ModelFile, Programs, type Shelf, type ShelvedModel, shelve } from "../shelf.ts";
import { modelPath, type SiteModel } from "./site-file.ts";

export class SiteShelf implements Shelf {
  readonly #models: ReadonlyMap<string, ShelvedModel>;
  readonly #files: ReadonlyMap<string, readonly ModelFile[]>;
  readonly #programs: Programs;
  readonly #fetch: (path: string) => Promise<Uint8Array>;

  /** @param fetch a file of the site, by its path; @throws BaseError
   *  @param fromChain a registered program's bytes */
  constructor(
    models: readonly SiteModel[],
    fetch: (path: string) => Promise<Uint8Array>,
    fromChain: (id: string) => Promise<Uint8Array>,
  ) {
    const shelved = models.map(({ folder, manifest, files }) => ({
      ...{ model: shelve(folder, manifest), files },
    }));
    this.#models = new Map(shelved.map(({ model }) => [model.id, model]));
    this.#files = new Map(shelved.map(({ model, files }) => [model.id, files]));
    this.#fetch = fetch;
    this.#programs = new Programs(async (id) =>
      this.#models.has(id) ? ((await this.#file(id, "program.bin")) ?? new Uint8Array()) : fromChain(id),
    );
  }

  get models(): Iterable<ShelvedModel> {
    return this.#models.values();
  }

  get(id: string): ShelvedModel | undefined {
    return this.#models.get(id);
  }

  files(id: string): readonly ModelFile[] {
    return this.#files.get(id) ?? [];
  }

  async text(id: string, name: string): Promise<string | undefined> {
    const bytes = await this.#file(id, name);
    return bytes && new TextDecoder().decode(bytes);
  }

  program(id: string): Promise<Program | undefined> {
    return this.#programs.get(id);
  }

  /** @throws BaseError MODEL_MISMATCH for one that is not what the manifest names */
  async #file(id: string, name: string): Promise<Uint8Array | undefined> {
    const entry = this.files(id).find((file) => file.name === name);
    if (entry === undefined) return undefined;
    const bytes = await this.#fetch(modelPath(id, name));
    mustEqual(`sha256 of ${name}`, entry.sha256, toHex(sha256(bytes)).slice(2));
    return bytes;
  }
}

/** @param root of the site @throws BaseError SITE_INCOMPLETE for what is not there */
export const fetchBelow =
  (root: URL) =>
  async (path: string): Promise<Uint8Array> => {
    const response = await fetch(new URL(path, root));
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
    throw new BaseError({
      code: "SITE_INCOMPLETE",
      shortMessage: `${path} of this site cannot be read: the answer is ${response.status}.`,
      nextStep: "Whoever publishes the site publishes all files that `assay explorer export` wrote.",
    });
  };
