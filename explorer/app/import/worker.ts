/** The importer of `assay model import`, off the page's thread. Nothing of a file leaves the browser. */
import { sha256 } from "@noble/hashes/sha2.js";
import { expose } from "comlink";
import { zipSync } from "fflate";
import { fromHex, type Hex } from "../../../base/bytes.ts";
import { commitModel } from "../../../inference/commit/commitments.ts";
import { KEY_FILE, LANES, laneBits } from "../../../inference/manifest/assay.ts";
import { type ImportResult, importModel } from "../../../inference/manifest/import-model.ts";
import { manifestBytes } from "../../../inference/manifest/model-files.ts";
import type { WrittenModel } from "../../../inference/manifest/write.ts";
import { encodeProgram } from "../../../inference/program/encode.ts";
import { demandDepth } from "../../../inference/program/shape.ts";
import { estimateInferenceGas, MAX_TRANSACTION_GAS } from "../../../protocol/chain/execution/cost.ts";
import { planPublication } from "../../../protocol/chain/execution/publication.ts";
import { COSTS } from "../../../protocol/chain/plan/costs.ts";
import { offersOf } from "../../../protocol/chain/plan/estimates.ts";
import { ASSUMED, type Plan, plan } from "../../../protocol/chain/plan/plan.ts";
import { chunksOf } from "../../../protocol/chain/register.ts";
import { stepSheets } from "../verify/steps.ts";
import type { Deployable, ImportJob, ImportOutcome, ModelSheet, PlanWishes } from "./forms.ts";
import { readDropped } from "./read-dropped.ts";
import { refusalOf } from "./refusal.ts";

/** Of a model that is not on the chain. */
const NOWHERE = { keyStored: false, published: false, compiled: false };
/** A file of a model's folder in the archive: the same bytes make the same archive. */
const STAMP = { mtime: "1980-01-01T00:00:00", level: 6 } as const;

let made: ImportResult | undefined;

/** @throws Error before the first import */
function current(): ImportResult {
  if (made === undefined) throw new Error("No model is imported.");
  return made;
}

/** All files of the model's folder, by name. */
const folderOf = ({ files, manifest }: WrittenModel) => [
  ...files,
  ["manifest.json", manifestBytes(manifest)] as const,
];

function sheetOf({ imported, written }: ImportResult, seconds: number): ModelSheet {
  const { model, nodes, profile, requantizations, trees, notes } = imported;
  const { assay, name } = written.manifest;
  return {
    ...{ name, modelId: assay.modelId as Hex, codec: assay.codec, lanes: assay.lanes },
    ...{ inputs: assay.inputs, outputs: assay.outputs, requantizations, trees, notes, seconds },
    steps: stepSheets(model.program, profile).map((step, i) => ({ ...step, node: nodes[i] ?? "" })),
    weightBytes: model.weights.reduce((sum, weights) => sum + weights.length, 0),
    files: folderOf(written).map(([file, content]) => ({ name: file, bytes: content.length })),
    depth: demandDepth(model.program),
    hasKey: written.files.has(KEY_FILE),
  };
}

const importer = {
  async import({ files, name, settings, lanes }: ImportJob): Promise<ImportOutcome> {
    made = undefined;
    const before = performance.now();
    try {
      const dropped = await readDropped(files);
      made = importModel({ ...dropped, name, settings, lanes }, sha256);
      return { kind: "imported", model: sheetOf(made, (performance.now() - before) / 1_000) };
    } catch (error) {
      return { kind: "refused", refusal: refusalOf(error) };
    }
  },
  /** What each lane would cost, whether the model offers it or not. */
  plan(wishes: PlanWishes): Plan {
    const { model } = current().imported;
    const offers = offersOf(
      {
        model,
        circuit: { refused: "`assay plan` counts its circuit, which this page does not" },
        ...{ isForgeable: false, onChain: NOWHERE, keyHere: false },
      },
      COSTS,
    );
    return plan({
      ...{ ...wishes, offers, depth: demandDepth(model.program), modelLanes: laneBits(LANES) },
      capitalPercent: ASSUMED.capitalPercent,
    });
  },
  /** The model's folder as an archive. */
  archive(): Uint8Array {
    const all = folderOf(current().written);
    return zipSync(Object.fromEntries(all.map(([name, content]) => [name, [content, STAMP]])));
  },
  deployable(): Deployable {
    const { imported, written } = current();
    const { lanes, selector, vkHash } = written.manifest.assay;
    const { model } = imported;
    const isRun = lanes.includes("EXECUTION") && estimateInferenceGas(model.program) <= MAX_TRANSACTION_GAS;
    const program = encodeProgram(model.program);
    const verificationKey = written.files.get(KEY_FILE);
    const publication = isRun ? planPublication(model) : undefined;
    const registering = chunksOf(program).length + 1 + (verificationKey === undefined ? 0 : 1);
    return {
      ...{ program, publication, verificationKey, registering },
      transactions: registering + (publication?.transactions ?? 0),
      identity: {
        ...commitModel(model),
        ...{ selector: fromHex(selector), lanes: laneBits(lanes), vkHash: fromHex(vkHash) },
      },
    };
  },
};

export type Importer = typeof importer;
expose(importer);
