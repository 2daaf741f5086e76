/** The language models of a command: which agents' model ids they answer to, and where they are. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { z } from "zod";
import {
  createModelRegistry,
  type LanguageModel,
  type ModelRegistry,
} from "../../agent/executor/models/language-model.ts";
import { openLlamaModel } from "../../agent/executor/models/llama/model.ts";
import { isModelId } from "../../protocol/rules/types.ts";
import {
  CHAIN_SETTINGS,
  type Config,
  type ConfigSources,
  integer,
  loadConfig,
  type Settings,
  text,
} from "../../protocol/service/config.ts";
import { modelFolder, modelIdIn } from "../model-source.ts";
import { refuseArgument } from "../output.ts";

export const MODEL_SETTINGS = {
  model: {
    schema: text,
    description:
      "models by the id that agents name, separated by commas: ID=llama, ID=llama:FILE.gguf, ID=openai:NAME or ID=exact:FOLDER",
  },
  endpoint: {
    schema: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
    default: "https://api.openai.com/v1",
    description: "URL of an endpoint that speaks the OpenAI protocol, with its version path",
  },
  llama: {
    schema: text,
    isPath: true,
    description: "folder of the local model; default llama in the data folder",
  },
  temperature: {
    schema: z.coerce.number("must be a number from 0 to 2").min(0).max(2),
    default: 0,
    description: "how freely models choose words",
  },
  maxTokens: { schema: integer(1, 65_536), default: 1_024, description: "most tokens of one completion" },
  timeoutMs: {
    schema: integer(100, 3_600_000),
    default: 120_000,
    description: "longest wait for an endpoint, ms",
  },
  threads: {
    schema: integer(0, 256),
    default: 0,
    description: "threads of the local model, 0: as many as fit",
  },
  tries: {
    schema: integer(1, 20),
    default: 3,
    description: "how often a model may write what cannot be used; an exact model once",
  },
} as const satisfies Settings;

export type ModelConfig = Config<typeof MODEL_SETTINGS> & { readonly data: string };

/** Settings of the section `executor`, and the data folder. */
export const modelConfig = (command: Command): ModelConfig =>
  modelConfigOf({ flags: command.optsWithGlobals(), env: process.env });

export function modelConfigOf(sources: ConfigSources): ModelConfig {
  const { data } = loadConfig({ data: CHAIN_SETTINGS.data }, sources);
  return { ...loadConfig(MODEL_SETTINGS, sources, "executor"), data };
}

/** Where the local model is, or will be. */
export const llamaFolder = ({ llama, data }: Pick<ModelConfig, "llama" | "data">): string =>
  resolve(llama ?? `${data}/llama`);

/** Opens all configured models; close them when done. The endpoint's key comes from OPENAI_API_KEY.
 *  @throws BaseError ARGUMENT_INVALID, MODEL_TAKEN, LLAMA_MISSING, LLAMA_FAILED, MODEL_NOT_FOUND; as `ExactModel` */
export async function openModels(config: ModelConfig): Promise<ModelRegistry> {
  const registry = createModelRegistry();
  for (const entry of (config.model ?? "").split(",").map((each) => each.trim())) {
    const [, id, kind, name] = /^([^=]+)=(llama|openai|exact)(?::(.+))?$/.exec(entry) ?? [];
    if (id === undefined || kind === undefined || (kind !== "llama" && name === undefined))
      refuseArgument(
        "--model",
        config.model,
        "ID=llama, ID=llama:FILE, ID=openai:NAME or ID=exact:FOLDER, separated by commas",
      );
    // An agent that names a model of the registry would get another one.
    if (kind !== "exact" && isModelId(id)) refuseArgument("--model", entry, `${id}=exact:FOLDER`);
    registry.register(id, kind === "exact" ? await openExact(id, name) : await openModel(config, kind, name));
  }
  return registry;
}

/** An agent that names a model id of the registry gets that model or none. */
async function openExact(id: string, folder = ""): Promise<LanguageModel> {
  const directory = modelFolder(folder);
  if (isModelId(id) && modelIdIn(directory) !== id.toLowerCase())
    refuseArgument("--model", `${id}=exact:${folder}`, `a folder of model ${id}`);
  const { ExactModel } = await import("../../agent/executor/models/exact.ts");
  return new ExactModel(directory);
}

async function openModel(
  config: ModelConfig,
  kind: string,
  name: string | undefined,
): Promise<LanguageModel> {
  const { temperature, maxTokens, threads, timeoutMs, endpoint } = config;
  if (kind === "llama")
    return openLlamaModel({ folder: llamaFolder(config), model: name, temperature, maxTokens, threads });
  const apiKey = process.env.OPENAI_API_KEY;
  const { OpenAiModel } = await import("../../agent/executor/models/openai.ts");
  return new OpenAiModel({ baseUrl: endpoint, model: name ?? "", apiKey, temperature, maxTokens, timeoutMs });
}

export async function closeModels(models: ModelRegistry): Promise<void> {
  for (const id of models.ids()) await models.get(id).close();
}
