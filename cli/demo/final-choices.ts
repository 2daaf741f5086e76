/** An agent that nobody owns and whose every choice is a final output of a language model, with a prover that lies about
 *  one of them. */
import { join } from "node:path";
import type { Address, Hex } from "viem";
import { type ChoiceFile, encodeChoices } from "../../agent/executor/choice/choice-file.ts";
import { readTools } from "../../agent/executor/tool-reader.ts";
import { readAnyManifest, readTokenizer } from "../../inference/model-folder.ts";
import { ModelText, textLengths } from "../../inference/text/model-text.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import { EventFollower } from "../../protocol/chain/follower.ts";
import type { SigningChain } from "../../protocol/chain/sender.ts";
import { FALL_REASONS, LANE, type ModelId } from "../../protocol/rules/types.ts";
import { modelFolder } from "../model-source.ts";
import { CallbackDemo, create } from "./callback-agent.ts";

/** The language model below models/. */
export const CHOICE_MODEL = "choice";
export const RULE = "Buy if the mood is bullish, sell if it is bearish, otherwise hold.";

/** @param tool the sentiment of a text */
const choicesWith = (tool: Address): ChoiceFile => ({
  opening: `<|rule|>${RULE}<|question|>`,
  closing: "<|choice|>",
  questionBytes: 72,
  resultBytes: 32,
  refusal: "The model chose nothing of the list.",
  choices: [
    { token: "T", kind: "TOOL_WITH_QUESTION", tool, text: "I need the mood.", recall: "<|result|>" },
    { token: "B", kind: "ANSWER", text: "Buy.", recall: "" },
    { token: "S", kind: "ANSWER", text: "Sell.", recall: "" },
    { token: "H", kind: "ANSWER", text: "Hold.", recall: "" },
  ],
});

/** The model's text, without the model. */
export function choiceText(): ModelText {
  const folder = modelFolder(CHOICE_MODEL);
  const manifest = readAnyManifest(join(folder, "manifest.json"));
  const files = readTokenizer(folder, manifest);
  if (files === undefined) throw new TypeError(`${CHOICE_MODEL} has no tokenizer.`);
  return new ModelText(files, textLengths(manifest.assay));
}

export interface ModelIds {
  readonly sentiment: ModelId;
  readonly choice: ModelId;
}

/** Deploys the executor and, with it alone, an agent. */
export async function deployFinalChoices(
  chain: SigningChain,
  rpcUrl: string,
  { sentiment, choice }: ModelIds,
  iterationSeconds: number,
): Promise<{ readonly demo: CallbackDemo; readonly executor: Address }> {
  const { tokenizer } = choiceText();
  let executor: Address | undefined;
  const demo = await CallbackDemo.deploy(chain, rpcUrl, {
    modelId: sentiment,
    llm: CHOICE_MODEL,
    executors: async (tool) => {
      const tools = await readTools(chain.client, [tool]);
      const { terms, choices } = encodeChoices(choicesWith(tool), tokenizer, tools);
      const window = 4 * chain.constants.answerSeconds;
      const policy = { modelId: choice, lanes: LANE.BOND, minBond: 0n, minWindow: window };
      const { assay } = chain.deployment.contracts;
      executor = await create(chain, rpcUrl, "FinalChoiceExecutor", [
        assay,
        { ...policy, ...terms },
        choices,
      ]);
      return [executor];
    },
    threshold: 1,
    iterationSeconds,
    isOwned: false,
  });
  return { demo, executor: executor as Address };
}

/** Logs claims on the language model until the signal aborts.
 *  @param names of provers @param textOf what an output says @param onFall called for each claim that fell */
export async function logClaims(
  chain: SigningChain,
  watched: {
    readonly modelId: ModelId;
    readonly names: ReadonlyMap<Address, string>;
    readonly textOf: (output: Hex) => string;
    readonly log: (line: string) => void;
    readonly onFall: () => void;
  },
  signal: AbortSignal,
): Promise<void> {
  const claims = new Map<Hex, string>();
  const follower = new EventFollower(chain, { pollIntervalMs: 100 });
  const take = ({ name, args }: ChainEvent) => {
    if (name === "Claimed" && args.claim.modelId === watched.modelId) {
      const by = watched.names.get(args.claim.prover) ?? args.claim.prover;
      claims.set(args.claimId, by);
      watched.log(`${by} claims, with a bond, that the model chooses ${watched.textOf(args.output)}`);
    } else if (name === "Challenged" && claims.has(args.claimId)) {
      watched.log(`the claim of ${claims.get(args.claimId)} is challenged`);
    } else if (name === "Fell" && claims.has(args.claimId)) {
      watched.log(`CONVICTED: the claim of ${claims.get(args.claimId)} fell by ${FALL_REASONS[args.reason]}`);
      watched.onFall();
    }
  };
  await follower.run((batch) => {
    if (batch.kind === "blocks") for (const event of batch.events) take(event);
  }, signal);
}
