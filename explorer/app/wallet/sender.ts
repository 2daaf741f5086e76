/** Brings actions onto the chain by a wallet: its owner signs each, and everything is asked of the wallet's own node. */
import {
  type Hex,
  type TransactionReceipt,
  UserRejectedRequestError,
  WaitForTransactionReceiptTimeoutError,
  type WalletClient,
} from "viem";
import { BaseError } from "../../../base/errors.ts";
import type { Action } from "../../../protocol/chain/actions.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { chainError } from "../../../protocol/chain/errors.ts";
import type { ActionSender, SendResult } from "../../../protocol/chain/sender.ts";
import { explainRevert, isKnown, simulate, toInclusion } from "../../../protocol/chain/transactions.ts";
import type { SentHashes } from "./sent.ts";

/** How long a transaction is waited for before its sender is asked what to do. */
const PATIENCE_MS = 120_000;
const POLL_MS = 1_000;
const USER_REJECTED = UserRejectedRequestError.code;

/** What a transaction waits for: its owner's signature, or a block. */
export type WaitsFor = "wallet" | "block";

export interface WalletParts {
  readonly chain: Chain;
  readonly wallet: WalletClient;
  readonly account: Hex;
  readonly sent: SentHashes;
  readonly patienceMs?: number;
}

export class WalletSender implements ActionSender {
  /** of all transactions that this one saw mined */
  gasUsed = 0n;
  transactions = 0;
  readonly #parts: WalletParts;
  readonly #onWait: (what: WaitsFor) => void;

  constructor(parts: WalletParts, onWait: (what: WaitsFor) => void) {
    this.#parts = parts;
    this.#onWait = onWait;
  }

  /** Never throws for a fault of chain or wallet. */
  async send(action: Action): Promise<SendResult> {
    try {
      const { chain, sent } = this.#parts;
      await this.#requireChain();
      const before = sent.get(action.key);
      if (before !== undefined && (await isKnown(chain.client, before)))
        return await this.#mined(action, before);
      sent.delete(action.key);
      return await this.#sent(action);
    } catch (error) {
      return { status: "retryable", error: walletError(error, action.key) };
    }
  }

  async #sent(action: Action): Promise<SendResult> {
    const { chain, wallet, account, sent } = this.#parts;
    const simulated = await simulate(chain.client, { address: account }, action, {});
    if (typeof simulated !== "bigint") {
      const isDone = action.doneBy.includes(simulated.name);
      return isDone ? { status: "already-done" } : { status: "refused", revert: simulated };
    }
    this.#onWait("wallet");
    const { to, data, value } = action;
    const hash = await wallet.sendTransaction({ account, chain: null, to, data, value, gas: simulated });
    sent.set(action.key, hash);
    return this.#mined({ ...action, gas: simulated }, hash);
  }

  async #mined(action: Action, hash: Hex): Promise<SendResult> {
    const { chain, account, sent, patienceMs: timeout = PATIENCE_MS } = this.#parts;
    this.#onWait("block");
    let isCancelled = false;
    const receipt: TransactionReceipt = await chain.client.waitForTransactionReceipt({
      hash,
      timeout,
      pollingInterval: POLL_MS,
      onReplaced: ({ reason }) => {
        isCancelled = reason !== "repriced";
      },
    });
    sent.delete(action.key);
    if (isCancelled) return { status: "retryable", error: cancelled(action.key) };
    this.gasUsed += receipt.gasUsed;
    this.transactions++;
    const inclusion = toInclusion(receipt);
    if (receipt.status === "success") return { status: "sent", inclusion };
    const call = { ...action, gas: action.gas ?? receipt.gasUsed + 1n };
    const revert = await explainRevert(chain.client, { address: account }, call, receipt);
    const isDone = action.doneBy.includes(revert.name);
    return isDone ? { status: "already-done", inclusion } : { status: "refused", revert, inclusion };
  }

  /** A wallet may be switched at any time, and what is signed for another chain is lost there. */
  async #requireChain(): Promise<void> {
    const { client, game } = this.#parts.chain;
    const chainId = await client.getChainId();
    if (chainId === game.chainId) return;
    throw new BaseError({
      code: "CHAIN_MISMATCH",
      shortMessage: `The wallet is on chain ${chainId}, the deployment on chain ${game.chainId}.`,
      nextStep: "Switch the wallet back and go on.",
      retryable: true,
    });
  }
}

/** Wraps what a wallet or its node says, once. */
export function walletError(error: unknown, what: string): BaseError {
  for (
    let link = error;
    typeof link === "object" && link !== null;
    link = (link as { cause?: unknown }).cause
  ) {
    // A wallet's own error is any object with the code of EIP-1193.
    if ((link as { code?: unknown }).code === USER_REJECTED) return rejected(what);
    if (link instanceof WaitForTransactionReceiptTimeoutError) return notMinedYet(what);
  }
  return chainError(error, `send ${what} by the wallet`);
}

const rejected = (what: string): BaseError =>
  new BaseError({
    code: "WALLET_REJECTED",
    shortMessage: `The wallet did not sign ${what}.`,
    nextStep: "Go on when you want to: what is on the chain stays there.",
    retryable: true,
  });

const notMinedYet = (what: string): BaseError =>
  new BaseError({
    code: "NOT_MINED_YET",
    shortMessage: `${what} is sent but not mined yet.`,
    nextStep: "Go on to wait for it; if the wallet's node has lost it, it is sent again.",
    retryable: true,
  });

const cancelled = (what: string): BaseError =>
  new BaseError({
    code: "WALLET_REPLACED",
    shortMessage: `The wallet put another transaction in the place of ${what}.`,
    nextStep: "Go on to send it again.",
    retryable: true,
  });
