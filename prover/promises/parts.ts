/** What the parts of a node that signs share. */
import type { Address } from "viem";
import type { Logger } from "../../base/log.ts";
import type { Sender, SigningChain } from "../../protocol/chain/sender.ts";
import type { EventStore } from "../../protocol/service/store/event-store.ts";
import type { PromiseStore } from "../../protocol/service/store/promise-store.ts";
import type { ServedModels } from "../models.ts";
import type { SignedJournal } from "./journal/journal.ts";
import type { Signer } from "./signing/signer.ts";
import type { SigningTerms } from "./terms.ts";

export interface PromiseParts {
  readonly chain: SigningChain;
  readonly sender: Sender;
  /** of Assay's events */
  readonly store: EventStore;
  readonly promises: PromiseStore;
  readonly journal: SignedJournal;
  readonly signer: Signer;
  /** address of the key that signs */
  readonly key: Address;
  readonly models: ServedModels;
  readonly terms: SigningTerms;
  readonly log: Logger;
  readonly signal: AbortSignal;
}
