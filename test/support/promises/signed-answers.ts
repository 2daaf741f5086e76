/** Asking a prover's process for signed answers, and what a test does with them on the chain. */
import type { LoadedModel } from "../../../inference/model-folder.ts";
import { PromiseActions } from "../../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../../protocol/chain/promises/place.ts";
import { PromiseStateReader } from "../../../protocol/chain/promises/reads.ts";
import type { Sender, SigningChain } from "../../../protocol/chain/sender.ts";
import { type Presented, parsePresented } from "../../../protocol/rules/promises/presented.ts";
import { encodeText } from "../sentiment-call.ts";

const ASK_AGAIN_MS = 200;

export interface SignedReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** Asks once. @param query after finality @param signal ends the wait */
export async function ask(
  url: string,
  model: LoadedModel,
  text: string,
  finality: string,
  query = "",
  signal: AbortSignal | null = null,
): Promise<SignedReply> {
  const response = await fetch(`${url}/v1/tools/${model.manifest.name}?finality=${finality}${query}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ text }),
    signal,
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as never };
}

/** Asks until the node has looked at the chain and signs. */
export async function askUntilSigned(
  url: string,
  model: LoadedModel,
  text: string,
): Promise<Record<string, unknown>> {
  for (;;) {
    const { status, body } = await ask(url, model, text, "signed");
    if (status === 200) return body;
    const { code } = (body as { error: { code: string } }).error;
    if (code !== "SIGNING_PAUSED") throw new Error(JSON.stringify(body));
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
}

/** What a signed answer holds, checked against its own hashes. */
export const presentedOf = (
  { deployment }: Pick<SigningChain, "deployment">,
  body: Record<string, unknown>,
): Presented => parsePresented(promisesOf(deployment), body.signedClaim);

export const calldataOf = (model: LoadedModel, text: string): Uint8Array => encodeText(model, text);

/** Moves of an account on promises. */
export function promisesBy({ chain, sender }: { readonly chain: SigningChain; readonly sender: Sender }) {
  const actions = new PromiseActions(promisesOf(chain.deployment), chain.game);
  const reader = new PromiseStateReader(chain);
  const must = async (action: Parameters<Sender["send"]>[0]) => {
    const result = await sender.send(action);
    if (result.status === "sent" || result.status === "already-done") return result;
    throw new Error(
      `${action.key}: ${JSON.stringify(result, (_key, v) => (typeof v === "bigint" ? `${v}` : v))}`,
    );
  };
  return { actions, reader, must };
}
