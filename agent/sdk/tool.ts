/** A model as a tool of a language model, whatever the framework: an output is handed on only when it is final. */
import type { WalletClient } from "viem";
import { abortAfter } from "../../base/abort.ts";
import { fromHex } from "../../base/bytes.ts";
import { meaningOf, type Reading } from "../../inference/meaning/read.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { decodeReturn, encodeCall } from "../../protocol/rules/abi.ts";
import { abiValuesOf, argumentSchema, plainOutputOf } from "../plain-values.ts";
import { inferBytes, type Model, type Values } from "./model.ts";
import { type Asked, prepareRequest, sendRequest, type Terms } from "./request.ts";
import { type FinalityTerms, wait } from "./wait.ts";

export interface ToolOptions {
  readonly chain: Chain;
  readonly model: Model;
  /** letters, digits, _ and -: what the language model calls it */
  readonly name: string;
  /** default: the manifest's */
  readonly description?: string;
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
export function finalTool({ chain, model, name, description, ask }: ToolOptions): FinalTool {
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
      const { requestId, claimId, lane = "BOND", values: output, meaning } = final;
      const named = claimId === undefined ? {} : { claimId };
      const read = meaning === undefined ? {} : { meaning };
      return { status: "final", lane, requestId, ...named, values: plainOutputOf(model, output), ...read };
    } catch (error) {
      if (!signal.aborted) unanswered.delete(input);
      throw error;
    }
  }

  return {
    name,
    description: description ?? model.description,
    parameters: argumentSchema(model),
    run: async (plain, signal) => {
      const values = abiValuesOf(model, plain);
      if (ask === undefined) {
        const output = await inferBytes(chain, model, values);
        const shown = plainOutputOf(model, decodeReturn(model.function, output));
        const read = meaningOf(model.readable, fromHex(output));
        return { status: "final", lane: "EXECUTION", values: shown, ...read };
      }
      return answer(values, ask, abortAfter(ask.waitMs, signal));
    },
  };
}
