/** A derived language model in threads of this process: the same completion for the same prompt on every machine. */
import { type Hex, keccak256 } from "viem";
import { RecentMap } from "../../../base/recent.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import type { Program } from "../../../inference/program/form.ts";
import { CanonicalPool } from "../../../inference/runtime/canonical-pool.ts";
import type { AnswerText, ModelText } from "../../../inference/text/model-text.ts";
import { loadTextModel } from "../../../inference/text/text-model.ts";
import { TOKENIZER_FILES } from "../../../inference/text/tokenizer-file.ts";
import {
  aborted,
  type CompletionRequest,
  EXACT_PROVIDER,
  type LanguageModel,
  truncated,
} from "./language-model.ts";

/** Answers that are remembered: a node asks for an iteration again where it could not use what the model wrote. */
const MOST_ANSWERS = 16;

export class ExactModel implements LanguageModel {
  readonly description: LanguageModel["description"];
  readonly exact = { inputHash: (prompt: string): Hex => keccak256(this.#calldata(prompt)) };
  readonly #modelId: string;
  readonly #text: ModelText;
  readonly #program: Program;
  readonly #selector: Uint8Array;
  readonly #pool: CanonicalPool;
  readonly #answers = new RecentMap<string, AnswerText>(MOST_ANSWERS);

  /** @param folder as `assay model derive` writes it
   *  @throws as `loadTextModel`; MODEL_WITHOUT_CHAT, TEMPLATE_INVALID, TEMPLATE_REFUSES; PROMPT_TOO_LONG for a model that
   *  takes no prompt at all */
  constructor(folder: string) {
    const loaded = loadTextModel(folder);
    const { modelId, model, selector, manifest, text } = loaded;
    const { files } = manifest.assay;
    // Ids are what is exact: which text they stand for is a matter of these files.
    const hashes = TOKENIZER_FILES.map((name) => [name, files[name]?.sha256 ?? ""]);
    this.description = { provider: EXACT_PROVIDER, modelId, ...Object.fromEntries(hashes) };
    this.#modelId = modelId;
    this.#text = text;
    this.#program = model.program;
    this.#selector = selector;
    this.#calldata("");
    this.#pool = new CanonicalPool(new Map([[modelId, loaded]]), { threads: 1 });
  }

  /** The likeliest token at each place, up to the first stop. Neither the seed nor the grammar changes it.
   *  @throws BaseError as `ModelText.prompt`; MODEL_TRUNCATED, MODEL_ABORTED, CANONICAL_FAILED, OUTPUT_TOO_COSTLY */
  async complete({ prompt, stop }: CompletionRequest, signal?: AbortSignal): Promise<string> {
    const { text, ids } = this.#answers.get(prompt) ?? (await this.#answer(prompt, signal));
    const stops = stop.map((each) => text.indexOf(each)).filter((index) => index >= 0);
    if (stops.length > 0) return text.slice(0, Math.min(...stops));
    if (ids.at(-1) === this.#text.tokenizer.parts.end) return text;
    throw truncated(ids.length, "Derive the model with a longer --answer");
  }

  async close(): Promise<void> {
    this.#pool.close();
  }

  async #answer(prompt: string, signal: AbortSignal | undefined): Promise<AnswerText> {
    const calldata = this.#calldata(prompt);
    try {
      const options = signal === undefined ? {} : { signal };
      const answer = this.#text.answerOf(await this.#pool.output(this.#modelId, calldata, options));
      this.#answers.set(prompt, answer);
      return answer;
    } catch (error) {
      throw signal?.aborted === true ? aborted() : error;
    }
  }

  /** As `assay request --text` and a prover make it: the prompt is what a user says. */
  #calldata(prompt: string): Uint8Array {
    const { int16s } = this.#text.prompt([{ role: "user", content: prompt }]);
    return encodeInput(this.#program, this.#selector, { codec: "int16s", int16s });
  }
}
