import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 as portableSha256 } from "@noble/hashes/sha2.js";
import { describe, expect, it } from "vitest";
import { importModel } from "../../../inference/manifest/import-model.ts";
import { sha256Bytes } from "../../../inference/model-folder.ts";
import { projectRoot } from "../../../tools/foundry.ts";
import { bundleForBrowser } from "../../support/browser-bundle.ts";

describe("the importer", () => {
  it("default: bundles for browsers, with nothing of Node.js in it", async () => {
    const { code, ours } = await bundleForBrowser(
      `export * from "./inference/manifest/import-model.ts"; export * from "./protocol/chain/plan/estimates.ts";`,
    );
    expect(ours).toContain("inference/onnx/import.ts");
    expect(ours).not.toContain("inference/model-folder.ts");
    expect(code).not.toMatch(/\bBuffer\b|\bprocess\.(env|cwd|exit)|from"node:/);
  });

  it("behavior: writes the same by the browser's SHA-256 and by that of Node.js", () => {
    const folder = join(projectRoot, "models/policy");
    const onnx = new Uint8Array(readFileSync(join(folder, "model.onnx")));
    const source = { onnx, name: "policy", settings: {}, companions: new Map() };
    const [here, there] = [sha256Bytes, portableSha256].map((hash) => importModel(source, hash).written);
    expect(there).toEqual(here);
  });
});
