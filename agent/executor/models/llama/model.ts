/** A model that runs in this process by llama.cpp, from an installation that is not a dependency of this package. */
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { BaseError } from "../../../../base/errors.ts";
import { type CompletionRequest, type LanguageModel, truncated } from "../language-model.ts";
import { fileHash, isLlamaInstalled, llamaFiles } from "./install.ts";
import type { Llama, LlamaContext, LlamaLibrary, LlamaWeights } from "./library.ts";

export interface LlamaOptions {
  /** of an installation */
  readonly folder: string;
  /** GGUF file; default: the installed one */
  readonly model?: string | undefined;
  readonly temperature: number;
  readonly maxTokens: number;
  /** threads that compute; 0: as many as llama.cpp thinks right */
  readonly threads: number;
}

/** Tokens of prompt and completion together. */
const CONTEXT_TOKENS = 4_096;

/** Loads the weights.
 *  @throws BaseError LLAMA_MISSING, LLAMA_FAILED */
export async function openLlamaModel(options: LlamaOptions): Promise<LanguageModel> {
  const { folder, threads } = options;
  if (!isLlamaInstalled(folder)) {
    throw new BaseError({
      code: "LLAMA_MISSING",
      shortMessage: `There is no local model in ${folder}.`,
      nextStep: "Install it with `assay agent llama install`.",
    });
  }
  const files = llamaFiles(folder);
  const modelPath = options.model ?? files.model;
  try {
    const library = (await import(pathToFileURL(files.library).href)) as LlamaLibrary;
    const llama = await library.getLlama({
      gpu: false,
      build: "never",
      skipDownload: true,
      progressLogs: false,
      logLevel: "error",
      maxThreads: threads,
    });
    const weights = await llama.loadModel({ modelPath });
    const contextSize = Math.min(CONTEXT_TOKENS, weights.trainContextSize);
    const context = await weights.createContext({ contextSize });
    const sha256 = await fileHash(modelPath);
    return new LlamaModel({ library, llama, weights, context }, options, {
      file: basename(modelPath),
      sha256,
    });
  } catch (cause) {
    throw failed(`load ${modelPath}`, cause);
  }
}

interface Loaded {
  readonly library: LlamaLibrary;
  readonly llama: Llama;
  readonly weights: LlamaWeights;
  readonly context: LlamaContext;
}

class LlamaModel implements LanguageModel {
  readonly description: LanguageModel["description"];
  readonly #loaded: Loaded;
  readonly #options: LlamaOptions;
  readonly #sequence: ReturnType<LlamaContext["getSequence"]>;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    loaded: Loaded,
    options: LlamaOptions,
    file: { readonly file: string; readonly sha256: string },
  ) {
    this.#loaded = loaded;
    this.#options = options;
    this.#sequence = loaded.context.getSequence();
    const { temperature, maxTokens } = options;
    this.description = {
      provider: "llama",
      ...file,
      temperature: `${temperature}`,
      maxTokens: `${maxTokens}`,
    };
  }

  /** One after the other: there is one context. */
  complete(request: CompletionRequest, signal?: AbortSignal): Promise<string> {
    const completion = this.#turn.then(() => this.#complete(request, signal));
    this.#turn = completion.catch(() => undefined);
    return completion;
  }

  async close(): Promise<void> {
    await this.#turn;
    const { context, weights, llama } = this.#loaded;
    await context.dispose();
    await weights.dispose();
    await llama.dispose();
  }

  async #complete({ prompt, grammar, seed }: CompletionRequest, signal?: AbortSignal): Promise<string> {
    const { temperature, maxTokens } = this.#options;
    const { library, llama } = this.#loaded;
    let reply: { readonly responseText: string; readonly stopReason: string };
    try {
      const rules = await llama.createGrammar({ grammar });
      await this.#sequence.clearHistory();
      const session = new library.LlamaChatSession({ contextSequence: this.#sequence, systemPrompt: "" });
      const limits = { temperature, seed, maxTokens, grammar: rules };
      reply = await session.promptWithMeta(prompt, signal === undefined ? limits : { ...limits, signal });
      session.dispose({ disposeSequence: false });
    } catch (cause) {
      throw failed("complete a prompt", cause);
    }
    if (reply.stopReason === "maxTokens") throw truncated(maxTokens);
    return reply.responseText;
  }
}

const failed = (what: string, cause: unknown): BaseError =>
  new BaseError({
    code: "LLAMA_FAILED",
    shortMessage: `The local model could not ${what}: ${cause instanceof Error ? cause.message : String(cause)}.`,
    nextStep: "Check the file and the free memory.",
    cause,
  });
