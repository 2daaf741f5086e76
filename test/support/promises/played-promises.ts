/** Promises in every state on a local chain, played move by move: batches that are final, fallen and running, signed
 *  claims that stood and wait. */
import { join } from "node:path";
import { type Hex, keccak256, zeroAddress } from "viem";
import { toHex } from "../../../base/bytes.ts";
import { modelFolder } from "../../../cli/model-source.ts";
import { loadModelFolder } from "../../../inference/model-folder.ts";
import { readClaim } from "../../../protocol/chain/past.ts";
import { PromiseActions } from "../../../protocol/chain/promises/actions.ts";
import { promiseHistory } from "../../../protocol/chain/promises/events.ts";
import { promisesOf } from "../../../protocol/chain/promises/place.ts";
import { PromiseStateReader } from "../../../protocol/chain/promises/reads.ts";
import { StateReader } from "../../../protocol/chain/reads.ts";
import { type BatchId, batchIdOf } from "../../../protocol/rules/promises/batch.ts";
import type { LeafModel } from "../../../protocol/rules/promises/leaf.ts";
import {
  type Digest,
  digestOf,
  type SignedClaim,
  typedSignedClaim,
} from "../../../protocol/rules/promises/signed-claim.ts";
import type { Claim, ClaimId, ModelId } from "../../../protocol/rules/types.ts";
import { accountAt, startLocalChain } from "../anvil.ts";
import { deployLocal, LOCAL_CONSTANTS, temporaryFolder } from "../deploy.ts";
import { openPlayedClaims, type Player, playerAddress } from "../played-claims.ts";
import { encodeText } from "../sentiment-call.ts";
import { tinyBatch } from "./local-promises.ts";

const SENTIMENT = loadModelFolder(modelFolder("sentiment"));
const ETHER = 10n ** 18n;
const ANSWER_SECONDS = 300;
/** W0 */
const TURN_SECONDS = 4 * ANSWER_SECONDS;
/** Of the prover; it signs what the prover promises. */
const KEY = accountAt(5);
const HEADLINES = [
  "Profit doubles at Acme",
  "Shares fall after a warning",
  "Outlook unchanged",
  "Dividend cut",
];

export type PlayedPromises = Awaited<ReturnType<typeof playPromises>>;

/** @param strange a text of a stranger, which is a leaf of the first batch */
export async function playPromises(strange: string) {
  const folder = temporaryFolder();
  const local = await startLocalChain();
  await local.passNight();
  const deployment = await deployLocal(local, { ...LOCAL_CONSTANTS, answerSeconds: ANSWER_SECONDS });
  const played = await openPlayedClaims(local, deployment, folder.path, SENTIMENT);
  const { chain } = played;
  const modelId = played.modelId as ModelId;
  const at = promisesOf(deployment);
  const actions = new PromiseActions(at, chain.game);
  const reader = new PromiseStateReader(chain);
  const word = (await new StateReader(chain).model(modelId)) as LeafModel;
  const prover = accountAt(2);
  if (prover.address !== playerAddress("prover")) throw new Error("The prover has another account.");

  const answer = (text: string) => {
    const calldata = encodeText(SENTIMENT, text);
    return { calldata, input: toHex(calldata), output: toHex(played.honest(calldata).output) };
  };
  const post = async (answers: readonly { readonly input: Hex; readonly output: Hex }[]) => {
    const made = tinyBatch(word, prover, modelId, answers, TURN_SECONDS);
    const { window } = made.batch;
    const posting = { prover: prover.address, modelId, window, leafBond: 0n, data: made.data };
    await played.move("prover", actions.post(made.batch, posting));
    return { ...made, id: batchIdOf(at, made.batch) };
  };
  type Made = Awaited<ReturnType<typeof post>>;
  const openLeaf = async (by: Player, { batch, payload, path }: Made, index: number) => {
    const { deposit } = await reader.leafBonds(batch);
    await played.move(by, actions.openLeaf(batch, index, payload(index), path(index), deposit));
  };
  const sign = async (text: string, changes: Partial<SignedClaim>) => {
    const { input, output } = answer(text);
    const issuedAt = await local.now();
    const claim: SignedClaim = {
      ...{ prover: prover.address, modelId, inputHash: keccak256(input), outputHash: keccak256(output) },
      ...{ requester: zeroAddress, issuedAt, expiry: issuedAt + 600, minBond: 0n, salt: 1n },
      ...changes,
    };
    const signature = await KEY.signTypedData(typedSignedClaim(at, claim));
    return { claim, signature, input, output };
  };
  const openSigned = async (by: Player, presented: Awaited<ReturnType<typeof sign>>): Promise<Digest> => {
    const { deposit } = await reader.check(presented);
    await played.move(by, actions.open(presented, deposit));
    return digestOf(at, presented.claim);
  };
  /** The claim in Assay that a promise became last. */
  const claimOf = async (id: Digest | BatchId) => {
    const opened = (await promiseHistory(chain, id)).findLast((event) => "claimId" in event.args);
    if (opened === undefined || !("claimId" in opened.args)) throw new Error(`${id} became no claim.`);
    const { claim, request } = await readClaim(chain, opened.args.claimId as ClaimId);
    return { request: request.request, claim: claim.claim };
  };
  const close = async (by: Player, id: Digest | BatchId): Promise<Claim> => {
    const { request, claim } = await claimOf(id);
    await played.move(by, actions.close(request, claim));
    return claim;
  };

  await played.move("prover", actions.deposit(prover.address, ETHER, "first"));
  await played.move("prover", actions.setSigner(KEY.address, (await local.now()) + 30 * 86_400));
  await played.move("prover", actions.announceExit(ETHER / 100n, "first"));
  const right = await post([...HEADLINES, strange].map(answer));
  const stood = await openSigned(
    "requester",
    await sign(HEADLINES[0] as string, { requester: playerAddress("requester") }),
  );
  await local.passTime(2 * TURN_SECONDS);
  await close("requester", stood);
  await played.move("prover", actions.release(right.batch));

  const cheated = answer(HEADLINES[1] as string);
  const lie = played.cheat(cheated.calldata, "output");
  const fallen = await post([
    answer(HEADLINES[0] as string),
    { input: cheated.input, output: toHex(lie.output) },
    answer(HEADLINES[2] as string),
  ]);
  await openLeaf("challenger", fallen, 1);
  const wrong = await claimOf(fallen.id);
  await played.dispute(wrong.request, wrong.claim, cheated.calldata, lie);
  await played.move("challenger", played.actions.collect(wrong.claim, playerAddress("challenger")));
  await close("challenger", fallen.id);
  await played.move("prover", actions.release(fallen.batch));
  await played.move("challenger", actions.withdraw(playerAddress("challenger"), "first"));
  await played.move("challenger", actions.pullBurn("first"));

  const running = await post(HEADLINES.map(answer));
  await openLeaf("requester", running, 0);
  const queued = await openSigned("requester", await sign(strange, { minBond: ETHER, salt: 2n }));
  return {
    ...{ folder, local, played, deployment, reader, modelId, prover: prover.address },
    ...{ right, fallen, running, stood, queued, sign, openSigned, claimOf, wrong: wrong.claim },
    models: join(modelFolder("sentiment"), ".."),
    stop: async () => {
      await played.close();
      await local.stop();
      folder.remove();
    },
  };
}
