/** llama.cpp on the same file and the same prompt, in two threads, as the executor. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isLlamaInstalled, llamaFiles } from "../../agent/executor/models/llama/install.ts";
import { projectRoot } from "../../tools/foundry.ts";

/** Where `npm run test:executor` and `test:sequences` install it. */
const FOLDER = join(projectRoot, "build", "executor-data", "llama");

const THREADS = 2;

/** What is used of node-llama-cpp here. */
interface Library {
  getLlama(options: {
    readonly gpu: false;
    readonly build: "never";
    readonly skipDownload: true;
    readonly progressLogs: false;
    readonly logLevel: "error";
    readonly maxThreads: number;
  }): Promise<{
    loadModel(options: { readonly modelPath: string }): Promise<{
      createContext(options: { readonly contextSize: number; readonly threads: number }): Promise<{
        getSequence(): {
          evaluate(
            tokens: readonly number[],
            options: { readonly temperature: number; readonly yieldEogToken: boolean },
          ): AsyncIterable<number>;
          clearHistory(): Promise<void>;
        };
      }>;
    }>;
    dispose(): Promise<void>;
  }>;
}

/** Finds the likeliest ids behind a prompt, one time after the other.
 *  @param count ids @returns of each time the seconds from the prompt to each id; undefined where llama.cpp is not installed */
export async function generateByLlamaCpp(
  weights: string,
  {
    prompt,
    count,
    times,
  }: { readonly prompt: readonly number[]; readonly count: number; readonly times: number },
): Promise<readonly (readonly number[])[] | undefined> {
  if (!isLlamaInstalled(FOLDER)) return undefined;
  const library = (await import(pathToFileURL(llamaFiles(FOLDER).library).href)) as Library;
  const llama = await library.getLlama({
    ...{ gpu: false, build: "never", skipDownload: true, progressLogs: false, logLevel: "error" },
    maxThreads: THREADS,
  });
  try {
    const model = await llama.loadModel({ modelPath: weights });
    const context = await model.createContext({ contextSize: prompt.length + count + 1, threads: THREADS });
    const sequence = context.getSequence();
    const answers: number[][] = [];
    for (let time = 0; time < times; time++) {
      await sequence.clearHistory();
      const seen: number[] = [];
      const began = performance.now();
      for await (const _ of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
        seen.push((performance.now() - began) / 1000);
        if (seen.length === count) break;
      }
      answers.push(seen);
    }
    return answers;
  } finally {
    await llama.dispose();
  }
}
