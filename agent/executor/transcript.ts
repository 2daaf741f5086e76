/** The signed record of one iteration: what the model was asked, what it wrote, and what was made of it. It attests;
 *  it does not prove that the model wrote this. */
import {
  type Address,
  type Hex,
  isAddress,
  isHex,
  keccak256,
  type LocalAccount,
  stringToBytes,
  verifyTypedData,
} from "viem";
import { z } from "zod";
import { BaseError } from "../../base/errors.ts";
import { isModelId } from "../../protocol/rules/types.ts";
import { choiceHashOf, toResult } from "./agent-executor.ts";
import type { ReasoningEngine } from "./engine/engine.ts";
import type { Iteration } from "./iterate.ts";
import { EXACT_PROVIDER } from "./models/language-model.ts";
import type { Registry } from "./registry.ts";
import { PARAM_TYPES, type Tool } from "./tool.ts";

const hex = z.custom<Hex>((value) => isHex(value), "must be hex");
const address = z.custom<Address>(
  (value) => typeof value === "string" && isAddress(value),
  "must be an address",
);
const integer = z.string().regex(/^(0|-?[1-9]\d*)$/, "must be a decimal integer");

const transcriptSchema = z.strictObject({
  version: z.literal("1"),
  /** decimal, as are all integers */
  chainId: integer,
  agent: address,
  /** -1 for a run that no callback agent keeps */
  runId: integer,
  iteration: integer,
  /** of the run, as the callback agent has it; else the hash of the run's name */
  historyHash: hex,
  executor: address,
  modelId: z.string(),
  engine: z.string(),
  /** provider, model, file hash, temperature */
  model: z.record(z.string(), z.string()),
  basePrompt: z.string(),
  tools: z.array(
    z.strictObject({
      address,
      name: z.string(),
      description: z.string(),
      params: z.array(
        z.strictObject({ type: z.enum(PARAM_TYPES), name: z.string(), description: z.string() }),
      ),
    }),
  ),
  agentReasoning: z.array(z.string()),
  toolResults: z.array(z.string()),
  /** what was asked in this run */
  question: z.string(),
  /** the prompt that the engine made of all this */
  prompt: z.string(),
  /** every completion; those that were not used say why */
  attempts: z
    .array(z.strictObject({ seed: integer, completion: z.string(), error: z.string().optional() }))
    .min(1),
  /** what was posted */
  result: z.strictObject({ isFinalAnswer: z.boolean(), choiceHash: hex, agentReasoning: z.string() }),
});

export type Transcript = z.infer<typeof transcriptSchema>;

const signedSchema = z.strictObject({ transcript: transcriptSchema, hash: hex, signature: hex });
export type SignedTranscript = z.infer<typeof signedSchema>;

/** @throws BaseError TRANSCRIPT_MALFORMED */
export function parseSignedTranscript(json: string): SignedTranscript {
  try {
    return signedSchema.parse(JSON.parse(json));
  } catch (cause) {
    const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined;
    const why = issue === undefined ? String(cause) : `${issue.path.join(".")}: ${issue.message}`;
    throw new BaseError({
      code: "TRANSCRIPT_MALFORMED",
      shortMessage: `This is no signed transcript: ${why}.`,
      nextStep: "Take one from `assay agent transcript show`.",
      cause,
    });
  }
}

/** What an iteration was asked for, and by whom it was decided. */
export type TranscriptSubject = Omit<
  Transcript,
  "version" | "tools" | "model" | "prompt" | "attempts" | "result"
> & { readonly tools: readonly Tool[] };

/** The transcript of an iteration, to be signed. */
export function recordIteration(
  subject: TranscriptSubject,
  { model, prompt, attempts, step }: Iteration,
): Transcript {
  const result = toResult(step);
  return {
    version: "1",
    ...subject,
    tools: subject.tools.map((tool) => ({ ...tool, params: [...tool.params] })),
    model,
    prompt,
    attempts: attempts.map((attempt) => ({ ...attempt, seed: `${attempt.seed}` })),
    result: {
      isFinalAnswer: result.isFinalAnswer,
      choiceHash: choiceHashOf(result),
      agentReasoning: result.agentReasoning,
    },
  };
}

/** UTF-8 of JSON without spaces, keys in the order of their UTF-16 code units (RFC 8785; there are no numbers). */
function canonicalBytes(transcript: Transcript): Uint8Array {
  return stringToBytes(JSON.stringify(sorted(transcript)));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, held]) => held !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, held]) => [key, sorted(held)]),
  );
}

const transcriptHash = (transcript: Transcript): Hex => keccak256(canonicalBytes(transcript));

const TYPES = {
  Iteration: [
    { name: "runId", type: "int256" },
    { name: "iteration", type: "uint256" },
    { name: "historyHash", type: "bytes32" },
    { name: "transcriptHash", type: "bytes32" },
  ],
} as const;

/** EIP-712: domain "Assay agent executor", version 1, of the agent's contract. */
const typedData = (transcript: Transcript, hash: Hex) =>
  ({
    domain: {
      name: "Assay agent executor",
      version: "1",
      chainId: Number(transcript.chainId),
      verifyingContract: transcript.agent,
    },
    types: TYPES,
    primaryType: "Iteration",
    message: {
      runId: BigInt(transcript.runId),
      iteration: BigInt(transcript.iteration),
      historyHash: transcript.historyHash,
      transcriptHash: hash,
    },
  }) as const;

/** @param account the transcript's executor */
export async function signTranscript(
  account: LocalAccount,
  transcript: Transcript,
): Promise<SignedTranscript> {
  const hash = transcriptHash(transcript);
  return { transcript, hash, signature: await account.signTypedData(typedData(transcript, hash)) };
}

/** Checks what a transcript says of itself: hash, signature, that its model is the exact one where the agent names one,
 *  that its engine makes this prompt of its parts, and this result of its completion. Whether the model wrote the
 *  completion, only a replay can make likely.
 *  @returns what is wrong, one sentence each; none: the transcript holds together */
export async function transcriptProblems(
  { transcript, hash, signature }: SignedTranscript,
  engines: Registry<ReasoningEngine>,
): Promise<string[]> {
  const problems: string[] = [];
  const actual = transcriptHash(transcript);
  if (actual !== hash) problems.push(`its hash is ${actual}, not ${hash}`);
  const isSigned = await verifyTypedData({
    address: transcript.executor,
    signature,
    ...typedData(transcript, hash),
  }).catch(() => false);
  if (!isSigned) problems.push(`it is not signed by ${transcript.executor}`);
  const { modelId, model } = transcript;
  const isAsNamed = model.provider === EXACT_PROVIDER && model.modelId === modelId.toLowerCase();
  // A model id of the registry is that of an exact model: no other one may stand in for it.
  if (isModelId(modelId) && !isAsNamed)
    problems.push(`its agent names the exact model ${modelId}, and another one was asked`);
  try {
    const engine = engines.get(transcript.engine);
    const { question, ...parts } = transcript;
    if (engine.buildPrompt({ ...parts, prompt: question }) !== transcript.prompt)
      problems.push("its prompt is not what the engine makes of its parts");
    const result = toResult(engine.parse(transcript.attempts.at(-1)?.completion ?? "", transcript.tools));
    const { isFinalAnswer, choiceHash, agentReasoning } = transcript.result;
    const isSame =
      result.isFinalAnswer === isFinalAnswer &&
      choiceHashOf(result) === choiceHash &&
      result.agentReasoning === agentReasoning;
    if (!isSame) problems.push("its result is not what the engine reads in its completion");
  } catch (error) {
    problems.push(`the engine refuses it: ${error instanceof Error ? error.message : String(error)}`);
  }
  return problems;
}
