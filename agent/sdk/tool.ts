/** A model as a tool of a language model, whatever the framework: an output is handed on only when it is final. */
import type { Hex, WalletClient } from "viem";
import { abortAfter } from "../../base/abort.ts";
import { fromHex } from "../../base/bytes.ts";
import { meaningOf, type Reading } from "../../inference/meaning/read.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { decodeReturn, encodeCall } from "../../protocol/rules/abi.ts";
import { abiValuesOf, argumentSchema, plainOutputOf } from "../plain-values.ts";
import { inferBytes, type Model, type Values } from "./model.ts";
import { type Asked, prepareRequest, sendRequest, type Terms } from "./request.ts";
import { type FinalityTerms, wait } from "./wait.ts";

/** How an agent gives a model's input and is given its output. */
export interface ToolForm {
  /** JSON Schema of the arguments */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The values of the function's parameters. @throws BaseError naming what does not fit */
  valuesOf(plain: Values): Values;
  /** @param output return data */
  outputOf(output: Hex): Pick<FinalAnswer, "values" | "meaning" | "ids">;
}

/** Plain JSON by the names of the model's function and manifest. */
const plainForm = (model: Model): ToolForm => ({
  parameters: argumentSchema(model),
  valuesOf: (plain) => abiValuesOf(model, plain),
  outputOf: (output) => ({
    values: plainOutputOf(model, decodeReturn(model.function, output)),
    ...meaningOf(model.readable, fromHex(output)),
  }),
});

export interface ToolOptions {
  readonly chain: Chain;
  readonly model: Model;
  /** letters, digits, _ and -: what the language model calls it */
  readonly name: string;
  /** default: the manifest's */
  readonly description?: string;
  /** default: plain JSON; `textForm` of `assay/sdk/text` takes and gives text */
  readonly form?: ToolForm;
  /** absent: the chain itself runs the model in each call, which costs nothing and needs published weights */
  readonly ask?: {
    readonly wallet: WalletClient;
    readonly terms: Terms;
    readonly finality?: Omit<FinalityTerms, "signal">;
    /** how long a call waits for finality, ms */
    readonly waitMs: number;
  };
}

/** JSON throughout. */
export interface FinalAnswer {
  readonly status: "final";
  readonly lane: string;
  readonly requestId?: string;
  readonly claimId?: string;
  /** the model's output by name */
  readonly values: unknown;
  /** what it says, by the model's manifest; for display only */
  readonly meaning?: Reading;
  /** of a language model in text: what is claimed, of which the text in `values` is derived */
  readonly ids?: readonly number[];
}

export interface FinalTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** @throws BaseError NOT_FINAL naming the claim, when the time is over; and whatever request, wait and infer throw */
  run(values: Values, signal?: AbortSignal): Promise<FinalAnswer>;
}

/** A call whose time is over has paid already: the same call again waits for the same request. */
export function finalTool(options: ToolOptions): FinalTool {
  const { chain, model, name, description, ask, form = plainForm(model) } = options;
  const unanswered = new Map<string, Promise<Asked>>();

  async function askOnce(values: Values, asking: NonNullable<ToolOptions["ask"]>): Promise<Asked> {
    const asked = await prepareRequest(chain, asking.wallet, model, values, asking.terms);
    await sendRequest(chain, asking.wallet, asked);
    return asked;
  }

  async function answer(
    values: Values,
    asking: NonNullable<ToolOptions["ask"]>,
    signal: AbortSignal,
  ): Promise<FinalAnswer> {
    const input = encodeCall(model.function, values);
    // Set before anything is awaited, so that two calls at once ask once.
    const pending = unanswered.get(input) ?? askOnce(values, asking);
    unanswered.set(input, pending);
    try {
      const final = await wait(chain, await pending, { ...asking.finality, signal });
      unanswered.delete(input);
      const { requestId, claimId, lane = "BOND", output } = final;
      const named = claimId === undefined ? {} : { claimId };
      return { status: "final", lane, requestId, ...named, ...form.outputOf(output) };
    } catch (error) {
      if (!signal.aborted) unanswered.delete(input);
      throw error;
    }
  }

  return {
    name,
    description: description ?? model.description,
    parameters: form.parameters,
    run: async (plain, signal) => {
      const values = form.valuesOf(plain);
      if (ask === undefined) {
        const output = await inferBytes(chain, model, values);
        return { status: "final", lane: "EXECUTION", ...form.outputOf(output) };
      }
      return answer(values, ask, abortAfter(ask.waitMs, signal));
    },
  };
}
