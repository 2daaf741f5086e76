/** The models whose files an explorer has, wherever they lie: folders of a machine, or beside exported pages. */
import { toHex } from "../base/bytes.ts";
import { RecentMap } from "../base/recent.ts";
import { type AbiFunction, selectorOf } from "../inference/manifest/abi.ts";
import type { FileEntry, Manifest } from "../inference/manifest/assay.ts";
import type { ProofManifest } from "../inference/manifest/proof-model.ts";
import type { Readable } from "../inference/meaning/form.ts";
import type { Program } from "../inference/program/form.ts";
import { readProgram } from "../inference/program/validate.ts";

export interface ShelvedModel {
  readonly id: string;
  /** name of the folder */
  readonly folder: string;
  readonly manifest: Manifest | ProofManifest;
  /** the function that calldata calls */
  readonly function: AbiFunction & { readonly selector: `0x${string}` };
  /** how its output is read */
  readonly readable: Readable;
}

export interface ModelFile extends FileEntry {
  readonly name: string;
}

export interface Shelf {
  readonly models: Iterable<ShelvedModel>;
  get(id: string): ShelvedModel | undefined;
  /** What can be read of a model. */
  files(id: string): readonly ModelFile[];
  /** Text of a file that describes the model; undefined where there is none.
   *  @throws BaseError for a file that is not what the manifest names, or cannot be read */
  text(id: string, name: string): Promise<string | undefined>;
  /** The program, of a model that is not here from the chain; undefined for a model without one.
   *  @throws BaseError faults of the node, of a file that changed */
  program(id: string): Promise<Program | undefined>;
}

/** @throws TypeError for a manifest without its function */
export function shelve(folder: string, manifest: Manifest | ProofManifest): ShelvedModel {
  const { modelId, selector } = manifest.assay;
  const called = manifest.abi.find((entry) => toHex(selectorOf(entry)) === selector);
  if (called === undefined) throw new TypeError(`The manifest of ${folder} does not describe ${selector}.`);
  return {
    id: modelId,
    folder,
    manifest,
    function: { ...called, selector: toHex(selectorOf(called)) },
    readable: manifest.assay,
  };
}

/** Programs that are kept decoded. */
const MAX_PROGRAMS = 64;

/** Programs by model id, each read once. */
export class Programs {
  readonly #read: (id: string) => Promise<Uint8Array>;
  readonly #known = new RecentMap<string, Promise<Program | undefined>>(MAX_PROGRAMS);

  /** @param read a program's bytes, none of a model without one */
  constructor(read: (id: string) => Promise<Uint8Array>) {
    this.#read = read;
  }

  /** @throws what `read` throws; BaseError for bytes that are no program */
  get(id: string): Promise<Program | undefined> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const reading = this.#read(id).then((bytes) => (bytes.length === 0 ? undefined : readProgram(bytes)));
    this.#known.set(id, reading);
    reading.catch(() => this.#known.delete(id));
    return reading;
  }
}
