/** GET /v1/models, and the files of a model. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Router } from "express";
import { toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { jsonOf } from "../../base/json.ts";
import { sha256 } from "../../inference/model-folder.ts";
import { findModel, hasProgram, type ServedModel } from "../models.ts";
import type { HttpParts } from "./parts.ts";

const MANIFEST = "manifest.json";
/** What an id names never changes. */
const FOREVER = "public, max-age=31536000, immutable";

export function modelRoutes({ models }: HttpParts): Router {
  const router = Router();
  router.get("/v1/models", (_request, response) => {
    response.type("application/json").send(jsonOf({ models: [...models.values()].map(describe) }));
  });
  router.get("/v1/models/:id", (request, response) => {
    response.type("application/json").send(jsonOf(describe(findModel(models, request.params.id))));
  });
  router.get("/v1/models/:id/files", (request, response) => {
    const model = findModel(models, request.params.id);
    response.type("application/json").send(jsonOf({ modelId: model.id, files: filesOf(model) }));
  });
  router.get("/v1/models/:id/files/:name", async (request, response) => {
    const model = findModel(models, request.params.id);
    const content = await contentOf(model, request.params.name);
    response.setHeader("Cache-Control", FOREVER);
    response.type(request.params.name.endsWith(".json") ? "application/json" : "application/octet-stream");
    response.send(content);
  });
  return router;
}

function describe(model: ServedModel): Record<string, unknown> {
  const { id, name, manifest, maxCalldata, outputLength } = model;
  const { codec, lanes, windowSeconds } = manifest.assay;
  return {
    modelId: id,
    name,
    description: manifest.description,
    version: manifest.version,
    image: manifest.container_image,
    selector: toHex(model.selector),
    function: model.function,
    codec,
    lanes,
    windowSeconds,
    maxCalldata,
    outputLength,
    /** 0: no program, only a proof says what it computes */
    steps: hasProgram(model) ? model.prepared.program.steps.length : 0,
    depth: model.depth,
    ...(hasProgram(model) && model.text !== undefined ? { text: model.text.lengths } : {}),
    ...(hasProgram(model) && model.pieces !== undefined ? { pieces: model.pieces.length } : {}),
  };
}

/** The manifest as it was checked at the start; the folder may have changed since. */
const manifestBytes = ({ manifest }: ServedModel): Buffer =>
  Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);

function filesOf(model: ServedModel): { name: string; bytes: number; sha256: string }[] {
  const manifest = manifestBytes(model);
  return [
    { name: MANIFEST, bytes: manifest.length, sha256: sha256(manifest) },
    ...Object.entries(model.manifest.assay.files).map(([name, entry]) => ({ name, ...entry })),
  ];
}

/** @throws BaseError FILE_UNKNOWN, MODEL_FILE_CHANGED */
async function contentOf(model: ServedModel, name: string): Promise<Buffer> {
  if (name === MANIFEST) return manifestBytes(model);
  const { files } = model.manifest.assay;
  const entry = Object.hasOwn(files, name) ? files[name] : undefined;
  if (entry === undefined) {
    throw new BaseError({
      code: "FILE_UNKNOWN",
      shortMessage: `The model ${model.name} has no file ${JSON.stringify(name.slice(0, 80))}.`,
      nextStep: `Take one of ${filesOf(model)
        .map((file) => file.name)
        .join(", ")}.`,
    });
  }
  const content = await readFile(join(model.directory, name));
  if (sha256(content) === entry.sha256) return content;
  throw new BaseError({
    code: "MODEL_FILE_CHANGED",
    shortMessage: `${name} of ${model.name} is not the file that the manifest names any more.`,
    nextStep: "Restore the model's folder.",
  });
}
