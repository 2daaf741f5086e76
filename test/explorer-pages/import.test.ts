/** The import page: what it makes is what `assay model import` writes, and files that are no models say why. */
import { cpSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../inference/model-folder.ts";
import { importOnnx } from "../../inference/onnx/import.ts";
import { RefusedImport } from "../../inference/onnx/refused-import.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { PATIENCE_MS } from "../support/explorer-pages.ts";
import { HOSTILE } from "../support/explorer-system.ts";
import { assay, filesOf, importPage, NUDGEABLE } from "../support/import-page.ts";
import { onnxFile } from "../support/onnx-file.ts";
import { sampled } from "../support/scale.ts";

const at = importPage();

/** SHA-256 and length of each file, by name. */
const digests = (files: Readonly<Record<string, Uint8Array>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([name, content]) => [name, `${sha256(content)}, ${content.length} bytes`]),
  );
const written = (directory: string) =>
  digests(
    Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))])),
  );

describe("the import", () => {
  it.each(sampled(["sentiment", "forecast-vix", "credit-trees"], 2))(
    "default: %s becomes, byte for byte, the folder that `assay model import` writes",
    async (name) => {
      const source = join(projectRoot, "models", name);
      await at.open();
      await at.give(filesOf(name));
      await at.imported().waitFor();
      const out = join(at.parts().folder, name);
      await assay("model", "import", join(source, "model.onnx"), "--out", out);
      expect(digests(await at.downloaded())).toEqual(written(out));
    },
  );

  it("behavior: a file alone is called by its name; nudging and lanes make the models of --nudge and --lane", async () => {
    const source = join(at.parts().folder, "conv1d");
    mkdirSync(source);
    const file = join(source, "conv1d.onnx");
    cpSync(NUDGEABLE, file);
    const importedWith = async (...flags: readonly string[]) => {
      const out = join(at.parts().folder, `conv1d-as${flags.join("")}`);
      await assay("model", "import", file, "--out", out, ...flags);
      return written(out);
    };
    await at.open();
    await at.give(file);
    await at.imported().waitFor();
    const plain = await at.idShown();
    expect(digests(await at.downloaded())).toEqual(await importedWith());
    await at.page.getByText("1 of 4 requantizations").waitFor();
    await at.page.getByRole("checkbox", { name: /^nudge/ }).check();
    const nudged = await at.anotherThan(plain);
    expect(digests(await at.downloaded())).toEqual(await importedWith("--nudge"));
    await at.page.getByText("2 scales were moved").waitFor();
    await at.page.getByRole("checkbox", { name: "execution" }).check();
    await at.anotherThan(nudged);
    const lanes = ["--lane", "EXECUTION", "--lane", "BOND"];
    expect(digests(await at.downloaded())).toEqual(await importedWith("--nudge", ...lanes));
    await at.page.getByRole("row", { name: /execution interpreted/ }).waitFor();
    await at.page.evaluate("scrollTo(0, 0)");
    await at.picture("import");
  });

  it("behavior: every step is shown with the node that it comes from", async () => {
    const { nodes, model } = importOnnx(new Uint8Array(readFileSync(NUDGEABLE)));
    await at.open();
    await at.give(NUDGEABLE);
    await at.imported().waitFor();
    expect(await at.page.locator(".step-box").count()).toBe(model.program.steps.length);
    const dot = model.program.steps.findIndex(({ opcode }) => opcode === "dot");
    await at.page.getByRole("button", { name: new RegExp(`^${dot} dot`) }).click();
    await at.page.locator(".program-step", { hasText: nodes[dot] as string }).waitFor();
  });

  it("behavior: the costs of lanes follow the stake, and a wrong amount is told", async () => {
    await at.open();
    await at.give(NUDGEABLE);
    const bond = at.page.getByRole("row", { name: /bond/ }).getByRole("cell").last();
    await bond.waitFor();
    expect(await bond.textContent()).toMatch(/^0\.\d+ ETH$/);
    await at.page.getByRole("textbox", { name: /at stake/ }).fill("7ether");
    await expect.poll(() => bond.textContent(), { timeout: PATIENCE_MS }).toBe("7 ETH");
    await at.page.getByRole("textbox", { name: /at stake/ }).fill("seven");
    await at.page.getByText("must be wei, or a number with its unit").waitFor();
  });
});

/** Operators that are not lowered, with names that a stranger chose. */
const strangeFile = () =>
  onnxFile({
    nodes: [
      { op: "NonMaxSuppression", inputs: ["x", "x"], outputs: ["y"], name: HOSTILE },
      { op: "Unique", inputs: ["y"], outputs: ["z"], name: "second" },
    ],
    inputs: { x: { type: "float32", dims: [1, 4] } },
    outputs: { z: "float32" },
  });

describe("a file that is no model", () => {
  it("error: nodes that cannot be lowered are listed with the reasons and next steps of the importer", async () => {
    const file = strangeFile();
    let parts: RefusedImport["parts"] | undefined;
    try {
      importOnnx(file);
    } catch (error) {
      if (error instanceof RefusedImport) parts = error.parts;
    }
    expect(parts?.nodes.length).toBeGreaterThan(0);
    await at.open();
    const name = `${HOSTILE.replaceAll("/", "")}.onnx`;
    await at.give({ name, mimeType: "application/octet-stream", buffer: Buffer.from(file) });
    await at.page.locator('[data-code="IMPORT_REFUSED"]').waitFor();
    const rows = await at.page.locator(".refused-node").allTextContents();
    for (const [i, { op, reason, nextStep }] of (parts?.nodes ?? []).entries()) {
      for (const text of [op, reason, nextStep]) expect(rows[i]).toContain(text);
    }
    const body = (await at.page.locator("body").textContent()) ?? "";
    expect(body).toContain("\\u{202e}123");
    expect(body).not.toContain("\u202e");
    expect(await at.page.locator("main img, main script").count()).toBe(0);
    expect(await at.page.title()).toBe("Import · Assay");
    await at.picture("import-refused");
    await at.expectAccessible("refused");
  });

  const whole = readFileSync(NUDGEABLE);
  const broken = [
    ["ONNX_MALFORMED", "cut off", "a.onnx", whole.subarray(0, 3_000)],
    ["ONNX_", "empty", "a.onnx", Buffer.alloc(0)],
    ["ONNX_", "of text", "a.onnx", Buffer.from("<html>".repeat(100))],
    ["FILES_UNCLEAR", "alone that belongs beside a model", "tool.json", Buffer.from("{}")],
  ] as const;
  it.each(sampled(broken, 3))(
    "error: %s for a file %s, and the next file is imported all the same",
    async (code, _what, name, buffer) => {
      await at.open();
      await at.give({ name, mimeType: "application/octet-stream", buffer });
      const notice = at.page.locator("[data-code]");
      await notice.waitFor();
      expect(await notice.getAttribute("data-code")).toContain(code);
      expect(await notice.locator("p").textContent()).toMatch(/\w/);
      await at.give(NUDGEABLE);
      await at.imported().waitFor();
    },
  );

  it("error: a file beyond the limit is not read", async () => {
    const path = join(at.parts().folder, "huge.onnx");
    writeFileSync(path, "");
    truncateSync(path, 2 ** 29 + 1);
    await at.open();
    await at.give(path);
    await at.page.locator('[data-code="FILE_TOO_LARGE"]', { hasText: `at most ${2 ** 29}` }).waitFor();
  });

  it("error: a tool.json and an eval.json that are no JSON, a setting of another form", async () => {
    const json = (name: string, text: string) => ({
      ...{ name, mimeType: "application/json", buffer: Buffer.from(text) },
    });
    const model = { name: "a.onnx", mimeType: "application/octet-stream", buffer: whole };
    await at.open();
    await at.give([model, json("tool.json", "{")]);
    await at.page.locator('[data-code="FILE_NOT_JSON"]', { hasText: "tool.json" }).waitFor();
    await at.give([model, json("tool.json", '{"abi":[],"lanes":["<b>"]}')]);
    await at.page.locator('[data-code="TOOL_INVALID"]', { hasText: "EXECUTION, PROOF, BOND" }).waitFor();
    await at.give([model, json("eval.json", "}")]);
    await at.page.locator('[data-code="FILE_NOT_JSON"]', { hasText: "eval.json" }).waitFor();
    await at.page.getByText("More settings").click();
    await at.page.getByLabel("Sizes of symbolic dims").fill("batch=many");
    await at.page.getByRole("button", { name: "Import again" }).click();
    await at.page.getByRole("alert").filter({ hasText: "NAME=N with N at least 1" }).waitFor();
  });

  it("behavior: an import that takes long can be stopped, and begun again", async () => {
    // The importer does not get as far as to begin.
    const held = "**/assets/worker-*.js";
    await at.page.route(held, () => undefined);
    await at.open();
    await at.give(NUDGEABLE);
    await at.page.getByRole("button", { name: "Stop" }).click();
    await at.page.getByText("The import was stopped").waitFor();
    await at.page.unroute(held);
    await at.page.getByRole("button", { name: "Import it after all" }).click();
    await at.imported().waitFor();
  });
});
