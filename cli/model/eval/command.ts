/** `assay model eval NAME --data DIR`: the metrics of eval.json again, by the canonical executor on the shipped files. */

import { basename, join } from "node:path";
import type { Command } from "commander";
import { BaseError } from "../../../base/errors.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { type LoadedModel, loadModelFolder, sha256 } from "../../../inference/model-folder.ts";
import { folderText } from "../../../inference/text/folder-text.ts";
import { withSettings } from "../../chain.ts";
import { EZKL_SETTINGS, ezklOptionsOf } from "../../ezkl-options.ts";
import { modelFolder, modelIdIn } from "../../model-source.ts";
import { printResult, withJson } from "../../output.ts";
import { readBytes, readJson } from "../resolve.ts";
import { evaluateChoice } from "./choice.ts";
import { evaluateCredit } from "./credit.ts";
import { evaluateDaily } from "./daily.ts";
import { evaluateEzkl } from "./ezkl.ts";
import { evaluateHourly } from "./hourly.ts";
import { evaluateLanguage } from "./language.ts";
import { evaluatePolicy } from "./policy.ts";
import { evaluateSentiment } from "./sentiment.ts";
import type { DataContext, Evaluation, EvaluationContext } from "./types.ts";

const EVALUATIONS: readonly (readonly [RegExp, (context: EvaluationContext) => Evaluation])[] = [
  [/^sentiment(-words|-transformer)?$/, evaluateSentiment],
  [/^forecast-hourly$/, evaluateHourly],
  [/^credit(-trees)?$/, evaluateCredit],
  [/^policy$/, evaluatePolicy],
  [/^choice$/, evaluateChoice],
  [/^smollm2/, evaluateLanguage],
  [/^forecast-(vix|btc|eth)$/, evaluateDaily],
];

export function addEvalCommand(parent: Command): void {
  const command = parent
    .command("eval <name>")
    .description(
      "compute a shipped model's metrics from the data files, by the canonical executor; a float model's by onnxruntime, and by ezkl where it is installed",
    )
    .requiredOption("--data <dir>", "folder with the data sets");
  withSettings(command, { ezkl: EZKL_SETTINGS.ezkl });
  withJson(command).action(async (name: string, flags: { data: string }, self: Command) => {
    const evaluate = evaluationOf(name, self);
    const directory = modelFolder(name);
    const started = performance.now();
    const { modelId, result } = await evaluate(directory, flags.data);
    const seconds = (performance.now() - started) / 1000;
    printResult(self, { model: name, modelId, seconds, ...result }, [
      `${name} (${modelId}), ${result.count} inputs in ${seconds.toFixed(1)} s`,
      ...Object.entries(result.metrics).map(([key, v]) => `${key}: ${v}${stated(result, key)}`),
      ...(result.notes ?? []),
    ]);
    const wrong = Object.entries(result.stated).filter(
      ([key, v]) => Math.abs((result.metrics[key] ?? Number.NaN) - v) > 5e-3,
    );
    if (wrong.length > 0) {
      throw new BaseError({
        code: "EVALUATION_MISMATCH",
        shortMessage: `${wrong.map(([key, v]) => `${key} is ${result.metrics[key]}, eval.json says ${v}`).join("; ")}.`,
        nextStep: "Check that the data files are those of eval.json (data/SOURCES.md).",
      });
    }
  });
}

const stated = (result: Evaluation, key: string): string =>
  result.stated[key] === undefined ? "" : ` (eval.json: ${result.stated[key]})`;

type Evaluate = (directory: string, data: string) => Promise<{ modelId: string; result: Evaluation }>;

/** @throws BaseError ARGUMENT_INVALID */
function evaluationOf(name: string, self: Command): Evaluate {
  if (name === "forecast-ezkl") {
    // --data is of the data sets here, not of ezkl.
    const { data: _, ...flags } = self.optsWithGlobals();
    const ezkl = ezklOptionsOf(self, flags);
    return async (directory, data) => ({
      modelId: modelIdIn(directory),
      result: await evaluateEzkl(directory, dataContext(directory, data), ezkl),
    });
  }
  const found = EVALUATIONS.find(([pattern]) => pattern.test(basename(name)));
  if (found === undefined) {
    throw new BaseError({
      code: "ARGUMENT_INVALID",
      shortMessage: `There is no evaluation for ${name}.`,
      nextStep:
        "Use sentiment, sentiment-words, a folder sentiment-transformer or smollm2 that was derived, credit, credit-trees, policy, choice, forecast-hourly, forecast-ezkl, forecast-vix, forecast-btc or forecast-eth.",
    });
  }
  return async (directory, data) => {
    const loaded = loadModelFolder(directory);
    return { modelId: loaded.modelId, result: found[1](contextOf(loaded, directory, data)) };
  };
}

const contextOf = (loaded: LoadedModel, directory: string, data: string): EvaluationContext => ({
  ...dataContext(directory, data),
  directory,
  name: loaded.directory.split("/").at(-1) ?? "",
  prepared: prepare(loaded.model, loaded.selector, loaded.profile),
  ...folderText(loaded.tokenizer, loaded.manifest.assay),
});

function dataContext(directory: string, folder: string): DataContext {
  const evaluation = readJson(join(directory, "eval.json")) as Record<string, unknown>;
  const data = (evaluation.data ?? {}) as Record<string, unknown>;
  const hashes = (data.files ?? data) as Record<string, unknown>;
  return {
    evaluation,
    file: (path) => {
      const content = readBytes(join(folder, path));
      const expected = hashes[path];
      if (typeof expected === "string" && sha256(content) !== expected) {
        throw new BaseError({
          code: "DATA_MISMATCH",
          shortMessage: `${path} has sha256 ${sha256(content)}, eval.json was made with ${expected}.`,
          nextStep: "Take the file that SOURCES.md names.",
        });
      }
      return new TextDecoder().decode(content);
    },
  };
}
