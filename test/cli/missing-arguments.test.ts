/** Commands without what they need: they say what is missing, before they ask a node or a disk. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, describe, expect, test } from "vitest";
import { SILENT } from "../../base/log.ts";
import { loadModels } from "../../cli/daemon.ts";
import { createProgram, loadCommands } from "../../cli/program.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { runInProcess } from "../support/assay.ts";
import { COMPUTED_PRODUCTS } from "../support/attention-graphs.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { onnxFile, type TestGraph } from "../support/onnx-file.ts";
import { createRng } from "../support/rng.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

const COMMANDS = await loadCommands();

/** All commands that do something, as words. */
function commandsOf(command: Command, words: readonly string[] = []): string[][] {
  if (command.commands.length === 0) return [[...words]];
  return command.commands.flatMap((one) => commandsOf(one, [...words, one.name()]));
}
/** These do something without any argument, or run until they are stopped. */
const COMPLETE = [
  "deploy",
  "doctor",
  "init",
  "node anvil",
  "explorer",
  "prover",
  "withdraw",
  "stake show",
  "stake exit",
  "stake withdraw",
  "audit",
  "agent transcript show",
  "conformance cases",
  "conformance serve",
  "agent llama install",
  "proof ezkl install",
];
const isComplete = (name: string): boolean =>
  COMPLETE.includes(name) ||
  /^(gateway|challenger) (?!verify|challenge$|show-claim|attention|drill|investigate)/.test(name);

const run = (words: readonly string[]) =>
  runInProcess(words, {
    ASSAY_RPC_URL: "http://127.0.0.1:1",
    ASSAY_DATA: join(folder.path, "data"),
    ASSAY_CONFIG: "",
  });

describe("assay", () => {
  const names = commandsOf(createProgram(COMMANDS)).map((words) => words.join(" "));

  test.each(names.filter((name) => !isComplete(name)))("error: %s without arguments", async (name) => {
    const stderr: string[] = [];
    const write = process.stderr.write.bind(process.stderr);
    // Commander writes there itself.
    process.stderr.write = ((part: string) => stderr.push(String(part)) > 0) as typeof process.stderr.write;
    try {
      const result = await run(name.split(" "));
      const text = stderr.join("") + result.stderr;
      expect([name, result.code]).toEqual([name, 2]);
      expect(text).toMatch(/missing required argument|required option|is missing|No key is configured/);
      expect(text).not.toMatch(/undefined|null|\[object/);
    } finally {
      process.stderr.write = write;
    }
  });

  test.each([
    ["request sentiment", "--inputs FILE or --text TEXT is missing: it must be one of the two."],
    ["model infer sentiment", "--inputs FILE or --text TEXT is missing: it must be one of the two."],
    ["model halt sentiment", "--inputs FILE or --text TEXT is missing: it must be one of the two."],
    ["challenger drill", "MODEL or --request is missing: it must be one of the two."],
  ])("error: %s", async (words, message) => {
    const { code, stderr } = await run(words.split(" "));
    expect([code, stderr.split("\n", 1)[0]]).toEqual([2, `error: ${message}`]);
  });
});

describe("loadModels", () => {
  test("behavior: follows links to folders, and passes links that lead nowhere", () => {
    const models = join(folder.path, "models");
    mkdirSync(models);
    symlinkSync(join(projectRoot, "models/sentiment"), join(models, "linked"));
    symlinkSync(join(folder.path, "nothing"), join(models, "broken"));
    expect(loadModels(models, SILENT).programs.map(({ manifest }) => manifest.name)).toEqual([
      "Sentiment of a financial text",
    ]);
    const whole = join(folder.path, "all");
    symlinkSync(models, whole);
    expect(loadModels(whole, SILENT).programs).toHaveLength(1);
  });

  test("behavior: a model that the deployment's judge is too old for is left out, by name", async () => {
    const models = join(folder.path, "judged");
    const { graph } = COMPUTED_PRODUCTS["QLinearMatMul, both computed"]?.(createRng(3)) ?? {};
    const file = join(folder.path, "products.onnx");
    writeFileSync(file, onnxFile(graph as TestGraph));
    for (const form of ["pairs", "dot"]) {
      const { code } = await run(["model", "import", file, "--products", form, "--out", join(models, form)]);
      expect(code).toBe(0);
    }
    const deployment = (judgeVersion: number) =>
      ({ deployment: { judgeVersion } }) as Pick<Chain, "deployment">;
    const left: unknown[] = [];
    const log = { ...SILENT, error: (fields: object) => left.push(fields) };
    expect(loadModels(models, log, deployment(2)).programs).toHaveLength(2);
    expect(left).toEqual([]);
    const { programs } = loadModels(models, log, deployment(1));
    expect(programs.map(({ directory }) => directory)).toEqual([join(models, "pairs")]);
    expect(left).toEqual([
      { folder: join(models, "dot"), error: expect.objectContaining({ code: "JUDGE_TOO_OLD" }) },
    ]);
    rmSync(join(models, "pairs"), { recursive: true });
    expect(() => loadModels(models, log, deployment(1))).toThrow(
      expect.objectContaining({ code: "MODELS_MISSING" }),
    );
  });
});
