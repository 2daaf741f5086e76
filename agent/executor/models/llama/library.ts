/** What is used of node-llama-cpp, which is not a dependency: its own types are not here to be imported. */

export interface LlamaLibrary {
  getLlama(options: {
    readonly gpu: false;
    readonly build: "never";
    readonly skipDownload: boolean;
    readonly progressLogs: boolean;
    readonly logLevel: "error";
    readonly maxThreads: number;
  }): Promise<Llama>;
  readonly LlamaChatSession: new (options: {
    readonly contextSequence: LlamaSequence;
    readonly systemPrompt: string;
  }) => LlamaChatSession;
}

export interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<LlamaWeights>;
  createGrammar(options: { readonly grammar: string }): Promise<object>;
  dispose(): Promise<void>;
}

export interface LlamaWeights {
  readonly trainContextSize: number;
  createContext(options: { readonly contextSize: number }): Promise<LlamaContext>;
  dispose(): Promise<void>;
}

export interface LlamaContext {
  getSequence(): LlamaSequence;
  dispose(): Promise<void>;
}

interface LlamaSequence {
  clearHistory(): Promise<void>;
}

interface LlamaChatSession {
  promptWithMeta(
    prompt: string,
    options: {
      readonly grammar: object;
      readonly temperature: number;
      readonly seed: number;
      readonly maxTokens: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<{ readonly responseText: string; readonly stopReason: string }>;
  dispose(options: { readonly disposeSequence: boolean }): void;
}
