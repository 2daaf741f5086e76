import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readMetadata } from "../../../agent/metadata/read.ts";
import { imageOf } from "../../../inference/manifest/model-files.ts";
import type { ProofManifest } from "../../../inference/manifest/proof-model.ts";
import { sha256Bytes } from "../../../inference/model-folder.ts";
import { proofImageOf } from "../../../prover/proof/ezkl/folder.ts";

const folders = readdirSync("models")
  .map((name) => join("models", name))
  .filter((folder) => existsSync(join(folder, "manifest.json")));

describe.each(folders)("%s", (folder) => {
  const { metadata, errors, warnings } = readMetadata(readFileSync(join(folder, "manifest.json")));

  // shows: S-01, S-51
  it("default: valid metadata that describes every parameter, and an image that is its folder", () => {
    expect(errors).toEqual([]);
    expect(warnings.filter(({ rule }) => rule !== "homepage")).toEqual([]);
    const { assay } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as ProofManifest;
    const files = new Map(Object.keys(assay.files).map((file) => [file, readFileSync(join(folder, file))]));
    const image = Number(assay.format) === 2 ? proofImageOf(files) : imageOf(files, sha256Bytes);
    expect(metadata?.container_image).toBe(image);
  });

  // shows: S-52
  it("default: a page with a usage example and the limits", () => {
    const page = readFileSync(join(folder, "README.md"), "utf8");
    const sections = new Map(page.split(/^## /m).map((part) => [part.split("\n", 1)[0], part]));
    expect(sections.get("Use")).toMatch(/^ {4}\S|```/m);
    expect(sections.get("Limits")?.length).toBeGreaterThan(100);
  });
});

it("behavior: there are tools to check", () => {
  expect(folders.length).toBeGreaterThan(5);
});
