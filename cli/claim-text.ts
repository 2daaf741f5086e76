/** What was asked and claimed as text, beside the ids that it is derived from: where the model's folder is here. */
import { visibleText } from "../agent/gateway/visible-text.ts";
import { fromHex, type Hex } from "../base/bytes.ts";
import { answerIfAny, askedIfAny, type DataText } from "../inference/text/data-text.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { historyOf } from "../protocol/chain/history.ts";
import type { Claim } from "../protocol/rules/types.ts";
import type { ReadModel } from "./model-source.ts";

export interface ClaimText {
  /** of a language model */
  readonly prompt?: DataText;
  readonly answer?: DataText;
  /** of a classifier: the word pieces of its text */
  readonly pieces?: DataText;
}

/** Characters; a prompt of a thousand ids has less, unless somebody made it to be long. */
const MOST_SHOWN = 10_000;

/** @param output return data that is claimed
 *  @returns nothing of data that hold no ids of the model @throws BaseError RPC_UNREACHABLE, RPC_FAULT (retryable) */
export async function claimText(
  chain: Chain,
  { claim, output }: { readonly claim: Pick<Claim, "requestId">; readonly output: Hex },
  model: ReadModel,
): Promise<ClaimText> {
  if (model.text === undefined && model.pieces === undefined) return {};
  const name = model.text === undefined ? "pieces" : "prompt";
  const requested = (await historyOf(chain, claim.requestId)).find((event) => event.name === "Requested");
  const asked =
    requested?.name === "Requested" ? askedIfAny(model, fromHex(requested.args.input)) : undefined;
  const answer = answerIfAny(model.text, fromHex(output));
  return {
    ...(asked === undefined ? {} : { [name]: asked }),
    ...(answer === undefined ? {} : { answer }),
  };
}

/** Texts of others in one line each, and their ids below. */
export const claimTextLines = ({ prompt, pieces, answer }: ClaimText): readonly string[] =>
  Object.entries({ prompt, pieces, answer }).flatMap(([name, data]) =>
    data === undefined
      ? []
      : [
          `  ${name.padEnd(10)} ${visibleText(data.text, MOST_SHOWN)}`,
          `  ${"ids".padEnd(10)} ${data.ids.join(" ")}`,
        ],
  );
