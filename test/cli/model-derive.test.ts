/** `assay model derive`, and what the other model commands do with its folder. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { BaseError } from "../../base/errors.ts";
import { addModelCommands } from "../../cli/model/commands.ts";
import type { Manifest } from "../../inference/manifest/assay.ts";
import { writeClassifier } from "../support/classifying-model.ts";
import { type Derivation, measuredOn, writeDerivation } from "../support/derivation.ts";
import { answerOf, derivedLlama, NOTHING } from "../support/derived-llama.ts";
import { createRng } from "../support/rng.ts";
import { smallLlama } from "../support/small-llama.ts";
import { talkingLlama } from "../support/talking-model.ts";

const LENGTHS = { prompt: 4, answer: 3 };
const FLAGS = ["--prompt", "4", "--answer", "3"];

const small = smallLlama(createRng(5), { layers: 1 });
const scales = measuredOn(small, LENGTHS);
const root = mkdtempSync(join(tmpdir(), "assay-derive-"));
const out = join(root, "model");
let source: Derivation;
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

/** Runs `assay model …` and returns what it printed. */
async function assay(...argv: readonly string[]): Promise<string> {
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((text) => void printed.push(String(text)));
  const program = new Command("assay").exitOverride().configureOutput({ writeErr: () => {} });
  addModelCommands(program);
  await program.parseAsync(["node", "assay", "model", ...argv]);
  return printed.join("\n");
}

async function errorOf(...argv: readonly string[]): Promise<BaseError> {
  const error = await assay(...argv).catch((cause: unknown) => cause);
  if (error instanceof BaseError) return error;
  throw error;
}

beforeAll(async () => {
  source = writeDerivation(join(root, "source"), small, scales);
  await assay("derive", source.folder, "--from", source.weights, ...FLAGS, "--out", out);
});

describe("assay model derive", () => {
  it("default: a folder with a recipe, that verify makes again", async () => {
    const { assay: section } = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8")) as Manifest;
    expect(Object.keys(section.files)).toEqual(["program.bin", "recipe.json", "weights.bin"]);
    expect(section).toMatchObject({
      lanes: ["BOND"],
      judgeVersion: 2,
      codec: { input: "int16s", output: "int16s", inputSize: 4 },
      claimed: { dims: [3] },
    });
    const verified = await assay("verify", out, "--from", source.weights);
    expect(verified).toContain("ok   derivation: recipe.json derives to program.bin and weights.bin");
    expect(verified).not.toMatch(/^(FAIL|skip)/m);
  });

  it("behavior: the same file and recipe give the same folder", async () => {
    const again = join(root, "again");
    await assay("derive", source.folder, "--from", source.weights, ...FLAGS, "--out", again);
    for (const name of ["manifest.json", "program.bin", "recipe.json", "weights.bin"])
      expect(readFileSync(join(again, name)).equals(readFileSync(join(out, name))), name).toBe(true);
  });

  it("default: a classifier, whose weights lie in its folder", async () => {
    const from = writeClassifier(join(root, "classifier-source"));
    const folder = join(root, "classifier");
    const printed = await assay("derive", from, "--text", "12", "--out", folder);
    expect(printed).toContain("text of up to 12 ids");
    const { assay: section } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
    expect(section).toMatchObject({
      codec: { input: "int16s", output: "words", inputSize: 12 },
      outputs: [{ name: "scores", type: "int32", dims: [2] }],
    });
    expect(section.claimed).toBeUndefined();
    expect(await assay("verify", folder)).toContain("skip derivation: not made again from small.gguf");
    const verified = await assay("verify", folder, "--from", join(from, "small.gguf"));
    expect(verified).not.toMatch(/^(FAIL|skip)/m);
    // Another file is told by its hash before anything in it is read.
    const wrong = await errorOf(
      "derive",
      from,
      "--from",
      join(from, "tool.json"),
      "--out",
      join(root, "none"),
    );
    expect(wrong.code).toBe("WEIGHTS_WRONG");
    const error = await errorOf("derive", from, "--prompt", "4", "--out", join(root, "none"));
    expect(error).toMatchObject({ code: "ARGUMENT_INVALID" });
    expect(error.shortMessage).toContain("--prompt");
    expect((await errorOf("chat", folder, "a")).code).toBe("MODEL_WITHOUT_TEXT");
  });

  it("behavior: text comes along, is no part of the model, and verify makes it again", async () => {
    const talking = talkingLlama();
    const own = writeDerivation(join(root, "talking-source"), talking, measuredOn(talking, LENGTHS));
    const folder = join(root, "talking");
    await assay("derive", own.folder, "--from", own.weights, ...FLAGS, "--out", folder);
    const { assay: section } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
    expect(Object.keys(section.files)).toEqual([
      ...["program.bin", "recipe.json", "tokenizer.json", "tokenizer_config.json", "weights.bin"],
    ]);
    expect(await assay("verify", folder, "--from", own.weights)).toContain(
      "ok   tokenizer: the file of weights gives the same text",
    );
    const config = join(folder, "tokenizer_config.json");
    writeFileSync(config, readFileSync(config, "utf8").replace("assistant", "Assistant"));
    expect(await errorOf("verify", folder)).toMatchObject({
      code: "MODEL_MISMATCH",
      message: expect.stringContaining("sha256 of tokenizer_config.json"),
    });
  });

  it("behavior: verify says what it did not look at, and what another file gives", async () => {
    expect(await assay("verify", out)).toContain("skip derivation: not made again from small.gguf");
    const other = join(root, "other.gguf");
    writeFileSync(other, smallLlama(createRng(6), { layers: 1 }).bytes);
    expect(await errorOf("verify", out, "--from", other)).toMatchObject({ code: "WEIGHTS_WRONG" });
  });

  it("behavior: weights that lie beside the recipe need no option, and verify takes them from the folder", async () => {
    const own = writeDerivation(join(root, "beside"), small, scales);
    const path = join(own.folder, "scales.json");
    expect(await errorOf("derive", own.folder, "--out", join(root, "no"))).toMatchObject({
      code: "ARGUMENT_INVALID",
      shortMessage: "--from is missing: it must be small.gguf of the package small 1.0.0.",
    });
    const { source, ...rest } = JSON.parse(readFileSync(path, "utf8"));
    const { file, sha256 } = source;
    writeFileSync(path, JSON.stringify({ source: { file, sha256 }, ...rest }));
    await assay("derive", own.folder, ...FLAGS, "--out", own.folder);
    expect(await assay("verify", own.folder)).toContain(
      "ok   derivation: recipe.json derives to program.bin and weights.bin",
    );
    writeFileSync(own.weights, "of another model");
    expect(await errorOf("verify", own.folder)).toMatchObject({
      code: "WEIGHTS_WRONG",
      message: expect.stringContaining("small.gguf in the model's folder"),
    });
    rmSync(own.weights);
    expect(await assay("verify", own.folder)).toContain("skip derivation: not made again from small.gguf");
    expect((await errorOf("derive", own.folder, "--out", join(root, "no"))).code).toBe("FILE_NOT_READABLE");
  });

  it("error: without the file of weights too, a manifest with other tensors than the recipe's", async () => {
    const changed = join(root, "changed");
    cpSync(out, changed, { recursive: true });
    const manifest = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8")) as Manifest;
    const [prompt] = manifest.assay.inputs;
    const assaySection = { ...manifest.assay, inputs: [{ ...prompt, dims: [5] }] };
    writeFileSync(join(changed, "manifest.json"), JSON.stringify({ ...manifest, assay: assaySection }));
    expect((await errorOf("verify", changed)).shortMessage).toMatch(/ failed: tensors\.$/);
  });

  it("error: a file that another model left in the folder, and a manifest without self-tests", async () => {
    const left = join(root, "left");
    cpSync(out, left, { recursive: true });
    writeFileSync(join(left, "model.onnx"), "of before");
    const printed = await errorOf("verify", left);
    expect(printed.shortMessage).toMatch(/ failed: files, container_image\.$/);
    rmSync(join(left, "model.onnx"));
    const manifest = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8")) as Manifest;
    const assaySection = { ...manifest.assay, selfTest: [] };
    writeFileSync(join(left, "manifest.json"), JSON.stringify({ ...manifest, assay: assaySection }));
    expect((await errorOf("verify", left)).shortMessage).toMatch(/ failed: self-tests\.$/);
  });

  it("error: a file of weights for a model that was imported", async () => {
    expect(await errorOf("verify", "sentiment", "--from", source.weights)).toMatchObject({
      code: "ARGUMENT_INVALID",
      shortMessage: expect.stringContaining("model.onnx is the source of this one"),
    });
  });

  it("behavior: run gives the answer, and inspect every step with its proof", async () => {
    const prompt = [3, 1, 4];
    const inputs = join(root, "prompt.json");
    const data = [NOTHING, ...prompt.map((id) => id - 32_768)];
    writeFileSync(inputs, JSON.stringify({ prompt: { type: "int32", dims: [4], data } }));
    const { outputs } = JSON.parse(await assay("run", out, "--inputs", inputs, "--json"));
    const own = derivedLlama(small, scales, LENGTHS);
    const expected = answerOf(
      own,
      data.map((x) => x + 32_768),
    );
    expect(outputs.answer.data.map((x: number) => x + 32_768)).toEqual(expected);
    const { io, steps, notes } = JSON.parse(await assay("inspect", out, "--json"));
    expect(Object.keys(io)).toEqual(["inputs", "outputs", "claimed"]);
    expect(steps).toHaveLength(own.derived.model.program.steps.length);
    expect(notes).toEqual(["derived by the recipe in recipe.json: no ONNX file"]);
  });

  it("error: another file, other scales, no scales, lengths that are none; and nothing is written", async () => {
    const nowhere = join(root, "nowhere");
    const derive = (folder: string, from: string, ...flags: string[]) =>
      errorOf("derive", folder, "--from", from, "--out", nowhere, ...flags);
    const other = writeDerivation(join(root, "other"), smallLlama(createRng(7), { layers: 1 }), scales);
    const wrong = await derive(source.folder, other.weights);
    expect(wrong.code).toBe("WEIGHTS_WRONG");
    expect(wrong.message).toContain("small.gguf of the package small 1.0.0");
    const { v, ...rest } = scales.layers[0] as { v: readonly number[] };
    const short = { ...scales, layers: [{ ...rest, v: v.slice(1) }] } as typeof scales;
    const cut = writeDerivation(join(root, "cut"), small, short);
    expect(await derive(cut.folder, cut.weights)).toMatchObject({ code: "SCALES_INVALID" });
    expect(await derive(root, source.weights)).toMatchObject({ code: "MODEL_NOT_FOUND" });
    expect(await derive(source.folder, source.weights, "--prompt", "0")).toMatchObject({
      code: "ARGUMENT_INVALID",
    });
    expect(await derive(source.folder, source.weights, "--prompt", "1000")).toMatchObject({
      code: "LENGTHS_INVALID",
    });
    const held = (only: string) => derive(source.folder, source.weights, "--only", only);
    expect(await held("3;4")).toMatchObject({ code: "ARGUMENT_INVALID" });
    expect(await held("3,3")).toMatchObject({ code: "ANSWER_IDS_INVALID" });
    expect(await held("65535")).toMatchObject({ code: "ANSWER_IDS_INVALID" });
    writeFileSync(
      join(cut.folder, "scales.json"),
      JSON.stringify({ ...scales, source: { file: "small.gguf" } }),
    );
    expect(await derive(cut.folder, cut.weights)).toMatchObject({ code: "RECIPE_INVALID" });
    const sha256 = "0".repeat(64);
    writeFileSync(
      join(cut.folder, "scales.json"),
      JSON.stringify({ ...scales, source: { file: "gone.gguf", sha256 } }),
    );
    const gone = await errorOf("derive", cut.folder, "--out", nowhere);
    expect(gone.code).toBe("FILE_NOT_READABLE");
    expect(gone.message).toContain(`gone.gguf does not exist; its SHA-256 is ${sha256}`);
    expect(gone.message).toContain("Name it with --from");
    expect(existsSync(nowhere)).toBe(false);
  });
});
