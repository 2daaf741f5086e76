/** A language model as the precompile asks it: bytes of a question to bytes of a decision. */
import { decodeAbiParameters, encodeAbiParameters, getAbiItem } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { iercAgentExecutorAbi } from "../../protocol/rules/generated/abis.ts";
import { toResult } from "../executor/agent-executor.ts";
import { ENGINES, type ReasoningEngine } from "../executor/engine/engine.ts";
import type { PromptParts } from "../executor/engine/prompt.ts";
import { iterate } from "../executor/iterate.ts";
import type { ModelRegistry } from "../executor/models/language-model.ts";
import type { Registry } from "../executor/registry.ts";
import { paramTypeOf } from "../executor/tool-reader.ts";
import { failure, MAX_ANSWER_BYTES } from "./precompile.ts";
import type { Ask } from "./tape.ts";

export interface EmbeddedModelParts {
  readonly models: ModelRegistry;
  readonly engines: Registry<ReasoningEngine>;
  /** how often a model may write something that cannot be used */
  readonly tries: number;
  readonly log: Logger;
}

/** `EmbeddedExecutor.Question`. */
const QUESTION = [
  {
    type: "tuple",
    components: [
      { name: "modelId", type: "string" },
      { name: "basePrompt", type: "string" },
      {
        name: "tools",
        type: "tuple[]",
        components: [
          { name: "tool", type: "address" },
          { name: "name", type: "string" },
          { name: "description", type: "string" },
          {
            name: "params",
            type: "tuple[]",
            components: [
              { name: "paramType", type: "uint8" },
              { name: "name", type: "string" },
              { name: "description", type: "string" },
            ],
          },
        ],
      },
      { name: "agentReasoning", type: "string[]" },
      { name: "toolResults", type: "string[]" },
      { name: "prompt", type: "string" },
    ],
  },
] as const;
const DECISION = getAbiItem({ abi: iercAgentExecutorAbi, name: "runNextIteration" }).outputs;

/** Never throws: whatever goes wrong is an answer, which a block can record. */
export function embeddedModel({ models, engines, tries, log }: EmbeddedModelParts): Ask {
  return async (question) => {
    const read = readQuestion(question);
    if (read === undefined) return { ok: false, data: failure("QuestionMalformed", []) };
    const { modelId, ...parts } = read;
    try {
      const model = models.get(modelId);
      const engine = engines.get(parts.tools.length === 0 ? ENGINES.CHAIN_OF_THOUGHT : ENGINES.RE_ACT);
      log.info({ modelId, iteration: parts.agentReasoning.length }, "asking the model");
      const { step } = await iterate(parts, { engine, model, tries });
      const data = fromHex(encodeAbiParameters(DECISION, [toResult(step)]));
      if (data.length <= MAX_ANSWER_BYTES) return { ok: true, data };
      const lengths = [BigInt(data.length), BigInt(MAX_ANSWER_BYTES)];
      return { ok: false, data: failure("AnswerTooLong", lengths) };
    } catch (error) {
      const code = isBaseError(error) ? error.code : "UNEXPECTED";
      log.warn({ modelId, code, error }, "the model gave nothing that can be used");
      return { ok: false, data: failure("InferenceFailed", [code]) };
    }
  };
}

function readQuestion(question: Uint8Array): (PromptParts & { readonly modelId: string }) | undefined {
  try {
    const [{ tools, ...rest }] = decodeAbiParameters(QUESTION, toHex(question));
    const described = tools.map(({ tool: address, name, description, params }) => ({
      address,
      name,
      description,
      params: params.map((param) => ({ ...param, type: paramTypeOf(address, param.paramType) })),
    }));
    return { ...rest, tools: described };
  } catch {
    // Whoever calls the precompile chooses the bytes.
    return undefined;
  }
}
