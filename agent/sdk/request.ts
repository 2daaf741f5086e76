/** Requests: from a model's parameters to an order on the chain. */
import type { Account, Hex, WalletClient } from "viem";
import { BaseError } from "../../base/errors.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { chainError, decodeRevert, withContext } from "../../protocol/chain/errors.ts";
import { newRequest, type RequestTerms } from "../../protocol/chain/new-request.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { requestIdOf } from "../../protocol/rules/ids.ts";
import type { Request, RequestId } from "../../protocol/rules/types.ts";
import type { Model, Values } from "./model.ts";

/** What an agent asked for. Keep it: the fee can be taken back with it, and an answer waited for, in another process. */
export interface Asked {
  readonly requestId: RequestId;
  readonly request: Request;
  /** calldata */
  readonly input: Hex;
  readonly model: Model;
}

/** Lanes default to all that the model has. */
export type Terms = Omit<RequestTerms, "lanes"> & { readonly lanes?: number };

/** Fills in a request without sending it.
 *  @throws BaseError INPUTS_INVALID, WINDOW_TOO_SHORT, WALLET_EMPTY; faults of the node */
export async function prepareRequest(
  chain: Chain,
  wallet: WalletClient,
  model: Model,
  values: Values,
  { lanes = model.word.lanes, ...terms }: Terms,
): Promise<Asked> {
  const least = 4 * chain.constants.answerSeconds;
  if (terms.window !== undefined && terms.window < least) {
    throw new BaseError({
      code: "WINDOW_TOO_SHORT",
      shortMessage: `The window is ${terms.window} seconds, must be at least ${least}, 4T.`,
      nextStep: "Leave it out for the shortest one.",
    });
  }
  const input = encodeCall(model.function, values);
  const requester = accountOf(wallet).address;
  const request = await newRequest(chain, requester, model.modelId, input, { lanes, ...terms });
  return { requestId: requestIdOf(chain.game, request), request, input, model };
}

/** Sends a prepared request, once: sent again it changes nothing and costs nothing.
 *  @returns when the chain has it
 *  @throws BaseError REQUEST_REFUSED with the contract's reason; faults of wallet and node, after which the request may
 *  or may not be sent: send the same one again, or wait for it */
export async function sendRequest(chain: Chain, wallet: WalletClient, asked: Asked): Promise<void> {
  const { client, game } = chain;
  const { to, data, value, doneBy } = new Actions(game).request(asked.request, asked.input);
  const account = accountOf(wallet);
  const context = `send request ${asked.requestId}`;
  try {
    await client.call({ account: account.address, to, data, value });
  } catch (error) {
    const revert = decodeRevert(error);
    if (revert === undefined) throw chainError(error, context);
    if (doneBy.includes(revert.name)) return;
    throw refused(asked, revert.message, error);
  }
  const { status } = await withContext(context, async () => {
    const hash = await wallet.sendTransaction({ account, chain: null, to, data, value });
    return client.waitForTransactionReceipt({ hash });
  });
  if (status !== "success") throw refused(asked, "its transaction was reverted");
}

/** Prepares and sends. */
export async function request(
  chain: Chain,
  wallet: WalletClient,
  model: Model,
  values: Values,
  terms: Terms,
): Promise<Asked> {
  const asked = await prepareRequest(chain, wallet, model, values, terms);
  await sendRequest(chain, wallet, asked);
  return asked;
}

function accountOf(wallet: WalletClient): Account {
  if (wallet.account !== undefined) return wallet.account;
  throw new BaseError({
    code: "WALLET_EMPTY",
    shortMessage: "The wallet has no account.",
    nextStep: "Give createWalletClient an account.",
  });
}

const refused = ({ requestId, request: { inputHash } }: Asked, why: string, cause?: unknown) =>
  new BaseError({
    code: "REQUEST_REFUSED",
    shortMessage: `The chain refused request ${requestId}: ${why}.`,
    nextStep: "Check input, lanes, window and the wallet's balance.",
    details: { requestId, inputHash },
    cause,
  });
