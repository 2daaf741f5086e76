import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../../tools/foundry.ts";
import { bundleForBrowser } from "../../support/browser-bundle.ts";

describe("assay/sdk", () => {
  it("default: bundles for browsers, with nothing of Node.js in it", async () => {
    const { code, ours } = await bundleForBrowser(`export * from "./agent/sdk/index.ts";`);
    expect(ours).toContain("agent/sdk/index.ts");
    expect(ours.filter((path) => !/^(agent\/sdk|protocol|inference|base)\//.test(path))).toEqual([
      "agent/abi-schema.ts",
      "agent/plain-values.ts",
    ]);
    expect(code).not.toMatch(/\bBuffer\b|\bprocess\.(env|cwd|exit)|from"node:/);
  });

  it("error: a bundle with a module of Node.js is refused", async () => {
    const bundling = bundleForBrowser(`export * from "./protocol/chain/deployment-file.ts";`);
    await expect(bundling).rejects.toThrow(/node:fs/);
  });

  it("behavior: is importable by the package's name", () => {
    const script = `import("assay/sdk").then((sdk) => console.log(Object.keys(sdk).sort().join(" ")))`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", "-e", script], {
      cwd: projectRoot,
      encoding: "utf8",
    });
    expect(`${stdout}${stderr}`).toMatchInlineSnapshot(`
      "BaseError LANE askSigned askSignedMany connect finalTool infer inferBytes isBaseError makeReceipt makeRecord openModel parseDeployment parsePresented parseReceipt parseRecord policyOf prepareRequest readingOf receiptOf renderPresented renderReceipt renderRecord report request sendRequest spotCheck validationStatement verifyReceipt verifyRecord wait watch
      "
    `);
  });
});
