import { publishWeights } from "../../../protocol/chain/execution/publication.ts";
import { assertKeyAllowed, storeKey } from "../../../protocol/chain/proof/store-key.ts";
import { registerModel } from "../../../protocol/chain/register.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import type { Deployable } from "../import/forms.ts";
import { type WaitsFor, type WalletParts, WalletSender } from "./sender.ts";

export interface DeployProgress {
  readonly message: string;
  /** transactions that are behind, of all of them as estimated */
  readonly behind: number;
  readonly all: number;
  readonly waitsFor: WaitsFor | undefined;
}

export interface DeployResult {
  readonly modelId: ModelId;
  readonly isPublished: boolean;
  /** of this run; what was there before costs nothing again */
  readonly transactions: number;
  readonly gasUsed: bigint;
}

/** Registers a model and publishes its weights; repeated, it goes on where it stopped.
 *  @throws BaseError MODEL_REFUSED, DEVELOPMENT_KEY, PUBLICATION_REFUSED; WALLET_REJECTED, NOT_MINED_YET and faults of the
 *  wallet's node (retryable) */
export async function deploy(
  parts: WalletParts,
  deployable: Deployable,
  onProgress: (progress: DeployProgress) => void,
): Promise<DeployResult> {
  const { program, identity, publication, verificationKey, registering, transactions: all } = deployable;
  const { chain } = parts;
  if (verificationKey !== undefined) assertKeyAllowed(chain, verificationKey, false);

  let [message, behind] = ["look what is there", 0];
  const emit = (waitsFor?: WaitsFor) => onProgress({ message, behind, all, waitsFor });
  const sender = new WalletSender(parts, emit);
  const from = (start: number) => (text: string, done: number) => {
    [message, behind] = [text, start + done];
    emit();
  };
  emit();
  const { modelId } = await registerModel(chain, sender, program, identity, from(0));
  if (verificationKey !== undefined) {
    from(registering - 1)("store the verification key", 0);
    await storeKey(chain, sender, modelId, verificationKey);
  }
  if (publication !== undefined) {
    await publishWeights(chain, sender, modelId, publication, from(registering));
  }
  const { transactions, gasUsed } = sender;
  return { modelId, isPublished: publication !== undefined, transactions, gasUsed };
}
