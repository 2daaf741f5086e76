/** The model folders of this machine by model id: their manifests, and what stands behind them, read when it is asked
 *  for. A program that no folder has is read from the chain, where it is registered. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { toHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { RecentMap } from "../base/recent.ts";
import { type AbiFunction, selectorOf } from "../inference/manifest/abi.ts";
import type { FileEntry, Manifest } from "../inference/manifest/assay.ts";
import type { ProofManifest } from "../inference/manifest/proof-model.ts";
import type { Readable } from "../inference/meaning/form.ts";
import { readAnyManifest, readChecked, sha256 } from "../inference/model-folder.ts";
import type { Program } from "../inference/program/form.ts";
import { readProgram } from "../inference/program/validate.ts";

export interface ShelvedModel {
  readonly id: string;
  /** name of the folder */
  readonly folder: string;
  readonly directory: string;
  readonly manifest: Manifest | ProofManifest;
  /** the function that calldata calls */
  readonly function: AbiFunction & { readonly selector: `0x${string}` };
  /** how its output is read */
  readonly readable: Readable;
}

export interface ModelFile extends FileEntry {
  readonly name: string;
}

const MANIFEST = "manifest.json";
/** Programs that are kept decoded. */
const MAX_PROGRAMS = 64;

export class Library {
  readonly #models = new Map<string, ShelvedModel>();
  readonly #programs = new RecentMap<string, Promise<Program | undefined>>(MAX_PROGRAMS);
  /** files that were found to be what their manifest says: path, size and time of change */
  readonly #checked = new Set<string>();
  readonly #fromChain: (id: string) => Promise<Uint8Array>;

  /** @param parents folders that hold model folders; what has no manifest, or a wrong one, is left out
   *  @param fromChain a registered program's bytes; @throws BaseError MODEL_UNKNOWN, faults of the node */
  constructor(parents: readonly string[], log: Logger, fromChain: (id: string) => Promise<Uint8Array>) {
    this.#fromChain = fromChain;
    for (const parent of parents.filter(existsSync)) {
      for (const name of readdirSync(parent).sort()) {
        const directory = join(parent, name);
        if (!existsSync(join(directory, MANIFEST))) continue;
        try {
          const model = shelve(directory);
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

  /** The program, undefined for a model without one.
   *  @throws BaseError faults of the node, of a folder that changed */
  program(id: string): Promise<Program | undefined> {
    const known = this.#programs.get(id);
    if (known !== undefined) return known;
    const reading = this.#readProgram(id);
    this.#programs.set(id, reading);
    reading.catch(() => this.#programs.delete(id));
    return reading;
  }

  /** What can be read of a model's folder. */
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

  /** Text of a file that describes the model; undefined where there is none. */
  text(id: string, name: string): string | undefined {
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

  async #readProgram(id: string): Promise<Program | undefined> {
    const model = this.#models.get(id);
    const entry = model?.manifest.assay.files["program.bin"];
    if (model !== undefined && entry === undefined) return undefined;
    const bytes =
      model === undefined || entry === undefined
        ? await this.#fromChain(id)
        : readChecked(model.directory, "program.bin", entry);
    return bytes.length === 0 ? undefined : readProgram(bytes);
  }
}

/** @throws BaseError MANIFEST_INVALID, MODEL_FOLDER_INVALID; TypeError for a manifest without its function */
function shelve(directory: string): ShelvedModel {
  const manifest = readAnyManifest(join(directory, MANIFEST));
  const { modelId, selector } = manifest.assay;
  const called = manifest.abi.find((entry) => toHex(selectorOf(entry)) === selector);
  if (called === undefined)
    throw new TypeError(`The manifest of ${directory} does not describe ${selector}.`);
  return {
    id: modelId,
    folder: basename(directory),
    directory,
    manifest,
    function: { ...called, selector: toHex(selectorOf(called)) },
    readable: manifest.assay,
  };
}

function fileUnknown(id: string, name: string, files: readonly ModelFile[]): BaseError {
  const names = files.map((file) => file.name).join(", ");
  return new BaseError({
    code: "FILE_UNKNOWN",
    shortMessage: `There is no file ${JSON.stringify(name.slice(0, 80))} of model ${id} here.`,
    nextStep: names === "" ? "Ask a prover that serves the model." : `Take one of ${names}.`,
  });
}
