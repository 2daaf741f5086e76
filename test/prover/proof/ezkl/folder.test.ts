import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { checkFiles, loadModelFolder } from "../../../../inference/model-folder.ts";
import { loadProofModel, proofImageOf } from "../../../../prover/proof/ezkl/folder.ts";
import { keyHash } from "../../../../prover/proof/ezkl/key.ts";
import { projectRoot } from "../../../../tools/foundry.ts";

const shipped = join(projectRoot, "models/forecast-ezkl");
const temporary = mkdtempSync(join(tmpdir(), "assay-ezkl-"));
afterAll(() => rmSync(temporary, { recursive: true }));

let copies = 0;
/** A copy of the shipped folder with one file changed. */
function changed(file: string, change: (text: string) => string): string {
  const copy = join(temporary, `${copies++}`);
  cpSync(shipped, copy, { recursive: true });
  const path = join(copy, file);
  writeFileSync(path, change(readFileSync(path, "utf8")));
  return copy;
}

describe("loadProofModel", () => {
  it("default", () => {
    const model = loadProofModel(shipped);
    const { assay, container_image } = model.manifest;
    expect([model.inputs, model.outputs]).toEqual([512, 96]);
    expect(assay.vkHash).toBe(keyHash(model.key));
    expect(assay.modelId).toBe(model.modelId);
    expect(assay.ezkl.srs).toBe("development");
    checkFiles(shipped, model.manifest);
    const names = Object.keys(assay.files);
    const files = names.map((name) => [name, new Uint8Array(readFileSync(join(shipped, name)))] as const);
    expect(container_image).toBe(proofImageOf(new Map(files)));
  });

  it.each([
    [
      "manifest.json",
      '"inputSize": 512',
      '"inputSize": 511',
      "codec.inputSize is 512, the manifest says 511.",
    ],
    ["manifest.json", '"scaleBits": 13', '"scaleBits": 12', /^the scales is/],
    [
      "manifest.json",
      '"outputLength": 3072',
      '"outputLength": 3104',
      "outputLength is 3072, the manifest says 3104.",
    ],
    [
      "manifest.json",
      '"int256[96]"',
      '"int256[95]"',
      "the number of output words is 95, the manifest says 96.",
    ],
    ["manifest.json", '"PROOF"', '"BOND"', "only proofs make a model without a program final"],
    ["manifest.json", '"vkHash": "0x0', '"vkHash": "0x6', /^vkHash is/],
    ["settings.json", "Fixed", "Fixes", /^sha256 of settings.json is/],
    ["verifier.json", '"code": "0x60', '"code": "0x61', /^sha256 of verifier.json is/],
  ])("error: %s with %s", (file, from, to, why) => {
    const folder = changed(file, (text) => {
      expect(text).toContain(from);
      return text.replace(from, to);
    });
    // No exact code: the reason stands in the sentence.
    expect(() => loadProofModel(folder)).toThrow(why);
  });

  it("error: a model with a program", () => {
    expect(() => loadProofModel(join(projectRoot, "models/forecast-hourly"))).toThrow(
      "holds a model with a program, which ezkl does not prove",
    );
  });
});

describe("loadModelFolder", () => {
  it("error: a model without a program", () => {
    expect(() => loadModelFolder(shipped)).toThrow("describes a model without a program");
  });
});
