/** The model folders of this machine by model id: their manifests, and what stands behind them, read when it is asked
 *  for. A program that no folder has is read from the chain, where it is registered. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { BaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { FileEntry } from "../inference/manifest/assay.ts";
import { readAnyManifest, readChecked, sha256 } from "../inference/model-folder.ts";
import type { Program } from "../inference/program/form.ts";
import { type ModelFile, Programs, type Shelf, type ShelvedModel, shelve } from "./shelf.ts";

/** A model with the folder that it lies in. */
interface Held extends ShelvedModel {
  readonly directory: string;
}

const MANIFEST = "manifest.json";

export class Library implements Shelf {
  readonly #models = new Map<string, Held>();
  readonly #programs: Programs;
  /** files that were found to be what their manifest says: path, size and time of change */
  readonly #checked = new Set<string>();

  /** @param parents folders that hold model folders; what has no manifest, or a wrong one, is left out
   *  @param fromChain a registered program's bytes; @throws BaseError MODEL_UNKNOWN, faults of the node */
  constructor(parents: readonly string[], log: Logger, fromChain: (id: string) => Promise<Uint8Array>) {
    this.#programs = new Programs(async (id) => this.#programHere(id) ?? fromChain(id));
    for (const parent of parents.filter(existsSync)) {
      for (const name of readdirSync(parent).sort()) {
        const directory = join(parent, name);
        const path = join(directory, MANIFEST);
        if (!existsSync(path)) continue;
        try {
          const model = { ...shelve(name, readAnyManifest(path)), directory };
          if (!this.#models.has(model.id)) this.#models.set(model.id, model);
        } catch (error) {
          log.error({ folder: directory, error }, "a model folder is left out");
        }
      }
    }
  }

  get models(): Iterable<ShelvedModel> {
    return this.#models.values();
  }

  get(id: string): ShelvedModel | undefined {
    return this.#models.get(id);
  }

  program(id: string): Promise<Program | undefined> {
    return this.#programs.get(id);
  }

  files(id: string): ModelFile[] {
    const model = this.#models.get(id);
    if (model === undefined) return [];
    const manifest = readFileSync(join(model.directory, MANIFEST));
    const entries = Object.entries(model.manifest.assay.files).filter(([name]) =>
      existsSync(join(model.directory, name)),
    );
    return [
      { name: MANIFEST, bytes: manifest.length, sha256: sha256(manifest) },
      ...entries.map(([name, entry]) => ({ name, ...entry })),
    ];
  }

  /** Where a file is, after a look that it is what the manifest names.
   *  @throws BaseError FILE_UNKNOWN, MODEL_FOLDER_INVALID, MODEL_MISMATCH */
  file(id: string, name: string): ModelFile & { readonly directory: string } {
    const model = this.#models.get(id);
    const found = this.files(id).find((file) => file.name === name);
    if (model === undefined || found === undefined) throw fileUnknown(id, name, this.files(id));
    if (name !== MANIFEST) this.#check(model.directory, found);
    return { ...found, directory: model.directory };
  }

  async text(id: string, name: string): Promise<string | undefined> {
    const model = this.#models.get(id);
    const entry = model?.manifest.assay.files[name];
    if (model === undefined || entry === undefined || !existsSync(join(model.directory, name)))
      return undefined;
    return new TextDecoder().decode(readChecked(model.directory, name, entry));
  }

  #check(directory: string, { name, ...entry }: ModelFile): void {
    const { mtimeMs, size } = statSync(join(directory, name));
    const key = `${join(directory, name)} ${size} ${mtimeMs}`;
    if (this.#checked.has(key)) return;
    readChecked(directory, name, entry);
    this.#checked.add(key);
  }

  /** @returns undefined for a model that is not here */
  #programHere(id: string): Uint8Array | undefined {
    const model = this.#models.get(id);
    const entry: FileEntry | undefined = model?.manifest.assay.files["program.bin"];
    if (model === undefined) return undefined;
    return entry === undefined ? new Uint8Array() : readChecked(model.directory, "program.bin", entry);
  }
}

function fileUnknown(id: string, name: string, files: readonly ModelFile[]): BaseError {
  const names = files.map((file) => file.name).join(", ");
  return new BaseError({
    code: "FILE_UNKNOWN",
    shortMessage: `There is no file ${JSON.stringify(name.slice(0, 80))} of model ${id} here.`,
    nextStep: names === "" ? "Ask a prover that serves the model." : `Take one of ${names}.`,
  });
}
