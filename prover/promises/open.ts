/** Opens what a prover needs to sign: the thread with the key, its journal, and the follower of Promises. */
import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import type { Logger } from "../../base/log.ts";
import { EventFollower } from "../../protocol/chain/follower.ts";
import { promiseSource } from "../../protocol/chain/promises/events.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import type { SigningChain } from "../../protocol/chain/sender.ts";
import type { SqliteDatabase } from "../../protocol/service/journal/database.ts";
import { PromiseStore } from "../../protocol/service/store/promise-store.ts";
import { journalPath, SignedJournal } from "./journal/journal.ts";
import { PromiseNode, requireBatchWindow } from "./node.ts";
import type { PromiseParts } from "./parts.ts";
import { Signer } from "./signing/signer.ts";
import type { SigningTerms } from "./terms.ts";

/** What `--sign on` asks for. */
export interface SigningOptions extends SigningTerms {
  /** private key that signs answers, and nothing else unless it is the account's */
  readonly key: Hex;
}

export interface OpenedSigning {
  readonly node: PromiseNode;
  readonly signer: Signer;
  readonly journal: SignedJournal;
  /** Follows Promises until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** @param parts the database holds the tables of PROMISE_EVENTS_SCHEMA
 *  @throws BaseError PROMISES_MISSING, BATCH_WINDOW_INVALID, SIGNER_LOST */
export async function openSigning(
  { key, ...terms }: SigningOptions,
  parts: Pick<PromiseParts, "sender" | "store" | "models" | "signal"> & {
    readonly chain: SigningChain;
    readonly data: string;
    readonly db: SqliteDatabase;
    readonly pollIntervalMs: number;
    readonly confirmations: number;
    readonly log: Logger;
  },
): Promise<OpenedSigning> {
  const { chain, data, db, pollIntervalMs, confirmations, log } = parts;
  const { deployment, account } = chain;
  const batchWindow = requireBatchWindow(terms.batchWindow, chain.constants.answerSeconds);
  const owner = {
    ...promisesOf(deployment),
    ...{ prover: account.address, blockHash: deployment.block.hash },
  };
  const signer = await Signer.open({ path: journalPath(data), key, owner }, log);
  const journal = new SignedJournal(data, account.address);
  const promises = new PromiseStore(db, account.address);
  const node = new PromiseNode({
    ...parts,
    ...{ promises, journal, signer, key: privateKeyToAddress(key), terms: { ...terms, batchWindow } },
  });
  const cursor = promises.cursor();
  const follower = new EventFollower(
    chain,
    { pollIntervalMs, confirmations, log, ...(cursor === undefined ? {} : { cursor }) },
    promiseSource(deployment),
  );
  return {
    ...{ node, signer, journal },
    run: (signal) =>
      follower.run(
        (batch) => node.take(batch),
        signal,
        (now) => node.onTime(now),
      ),
    close: async () => {
      await node.stop();
      // The thread's is the last connection: its end leaves one file, which may be copied.
      journal.close();
      await signer.close();
    },
  };
}
