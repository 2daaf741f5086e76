/** A prover with a stake, whose signed claims and leaves of the tiny model are right or wrong as the test says, and a
 *  challenger that is moved by the test. */
import type { Hex } from "viem";
import { leafModelOf } from "../../../challenger/promises/leaves.ts";
import { promiseHistory } from "../../../protocol/chain/promises/events.ts";
import { type BatchId, batchIdOf } from "../../../protocol/rules/promises/batch.ts";
import type { LeafModel } from "../../../protocol/rules/promises/leaf.ts";
import type { Presented } from "../../../protocol/rules/promises/presented.ts";
import { digestOf } from "../../../protocol/rules/promises/signed-claim.ts";
import { accountAt, type LocalChain } from "../anvil.ts";
import { tinyInput } from "../deploy.ts";
import { signTiny, tinyBatch, tinyOutput } from "./local-promises.ts";
import { openPromiseChallenger } from "./promise-challenger.ts";

const DAY = 86_400;
const PROVER = accountAt(1);
export const WRONG = tinyOutput(tinyInput([9, 9, 9, 9]));

/** A system whose prover has this stake, and a key of its own that is bound. */
export async function beginWrongPromises(local: LocalChain, stake: bigint, limits = {}) {
  const challenger = await openPromiseChallenger(local, limits);
  const { system, actions, at } = challenger;
  await system.sender.send(actions.deposit(PROVER.address, stake, "stake"));
  await system.sender.send(actions.setSigner(PROVER.address, (await local.now()) + 30 * DAY));
  const word: LeafModel = leafModelOf(challenger.covered);
  const sign = async (byte: number, changes: Parameters<typeof signTiny>[5] = {}) =>
    signTiny(challenger.chain, PROVER, system.modelId, [byte, 0, 0, 1], await local.now(), {
      ...{ expiry: (await local.now()) + DAY, ...changes },
    });
  const digest = ({ claim }: Presented) => digestOf(at, claim);
  /** Hands it over, and lets all be done that can be done. */
  const submit = async (presented: Presented) => {
    const verdict = await challenger.running.watch.check(digest(presented), presented);
    await challenger.settle();
    await challenger.running.watch.idle();
    await challenger.settle();
    return verdict?.kind;
  };
  /** @param wrong indices of wrong leaves */
  const post = async (count: number, wrong: readonly number[], window = 3 * DAY) => {
    const answers = Array.from({ length: count }, (_, i) => {
      const input = tinyInput([i & 255, i >> 8, 2, 3]);
      return { input, output: wrong.includes(i) ? WRONG : tinyOutput(input) };
    });
    const made = tinyBatch(word, PROVER, system.modelId, answers, window);
    const { batch, data } = made;
    const posting = { prover: PROVER.address, modelId: system.modelId, window, leafBond: 0n, data };
    const { status } = await system.sender.send(actions.post(batch, posting));
    if (status !== "sent") throw new Error(`the batch was not posted: ${status}`);
    return { ...made, id: batchIdOf(at, batch) };
  };
  const status = async (presented: Presented) => (await challenger.reader.signed(digest(presented))).status;
  const claimOf = async (id: Hex, index?: number) => {
    for (const event of await promiseHistory(challenger.chain, id)) {
      if (event.name === "Opened") return event.args.claimId;
      if (event.name === "LeafOpened" && Number(event.args.index) === index) return event.args.claimId;
    }
    throw new Error(`${id} is no claim`);
  };
  const leaf = async (id: BatchId, index: number) => (await challenger.reader.leaf(id, index)).status;
  return { ...challenger, challenger, sign, submit, post, status, claimOf, leaf, digest };
}
