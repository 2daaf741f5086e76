/** What a signed claim is worth, by the chain's own word and the terms of whoever asks. */
import { type Hex, isAddressEqual } from "viem";
import { z } from "zod";
import { formatAmount } from "../../base/amounts.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import { accept } from "../../protocol/chain/promises/accept.ts";
import { promiseHistory } from "../../protocol/chain/promises/events.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { batchIdOf, isInBatch } from "../../protocol/rules/promises/batch.ts";
import { compactLeaf } from "../../protocol/rules/promises/leaf.ts";
import { type Presented, parsePresented } from "../../protocol/rules/promises/presented.ts";
import { type Digest, digestOf } from "../../protocol/rules/promises/signed-claim.ts";
import { address, bytes, count, hash } from "../../protocol/rules/receipt/form.ts";
import { shortfallOf } from "../../protocol/rules/shortfall.ts";
import { LANE } from "../../protocol/rules/types.ts";
import type { SignedPolicy } from "../gateway/tools/signed-answers.ts";
import { readAtMost } from "../sdk/ask-prover.ts";
import { type OutputReading, readOutput, type VerifyTerms, verifyClaim } from "./verify-claim.ts";

interface SignedFacts {
  readonly digest: Digest;
  readonly prover: Hex;
  readonly modelId: Hex;
  readonly inputHash: Hex;
  readonly outputHash: Hex;
  /** the claim that it became */
  readonly claimId?: Hex;
}

/** `signed`: it binds, and counts by the terms. `batched`: it does as a leaf of a batch that runs. `opened`: somebody
 *  doubts it. `failed`: it does not bind, or does not count. */
export type SignedReport =
  | ({ readonly status: "signed" | "batched"; readonly end?: number; readonly bondWei?: string } & Shown)
  | ({ readonly status: "final" } & Shown)
  | ({ readonly status: "opened" | "fallen" } & SignedFacts)
  | ({ readonly status: "failed"; readonly code: string; readonly error: string } & SignedFacts);

interface Shown extends SignedFacts, OutputReading {
  /** return data */
  readonly output: Hex;
}

export interface SignedVerifyTerms extends VerifyTerms {
  readonly signed: SignedPolicy;
}

const MAX_ANSWER_BYTES = 400_000;
const ASK_MS = 10_000;

/** @param value of JSON, as a prover gave it
 *  @throws BaseError as parsePresented; RPC_UNREACHABLE, RPC_FAULT (retryable): that it could not be asked says nothing
 *  of the claim */
export async function verifySigned(
  chain: Chain,
  value: unknown,
  terms: SignedVerifyTerms,
): Promise<SignedReport> {
  const at = promisesOf(chain.deployment);
  const presented = parsePresented(at, value);
  const { claim, output } = presented;
  const { prover, modelId, inputHash, outputHash } = claim;
  const digest = digestOf(at, claim);
  const facts: SignedFacts = { digest, prover, modelId, inputHash, outputHash };
  const shown: Shown = {
    ...facts,
    output,
    ...readOutput(terms.readModelOf(modelId), output),
  };
  const opened = await ofOpened(chain, facts, shown, terms);
  if (opened !== undefined) return opened;
  const refused = refusalBy(terms, presented);
  if (refused !== undefined) return { status: "failed", code: "BELOW_TERMS", error: refused, ...facts };
  const leaf = await ofLeaf(chain, presented, digest, terms);
  if (leaf === "opened") return { status: leaf, ...facts };
  if (leaf !== undefined) return { status: leaf, ...shown };
  const acceptance = await accept(chain, presented, terms.signed.leastSeconds);
  if (acceptance.accepted)
    return { status: "signed", end: acceptance.end, bondWei: `${acceptance.bond}`, ...shown };
  const { code, reason } = acceptance;
  return { status: "failed", code, error: `Signed claim ${digest} does not count: ${reason}.`, ...facts };
}

/** What the terms say of it whatever the chain says. */
function refusalBy({ signed, policy: { minBond } }: SignedVerifyTerms, { claim }: Presented) {
  if (signed.prover !== undefined && !isAddressEqual(signed.prover, claim.prover))
    return `It is ${claim.prover}'s, and what counts is ${signed.prover}'s.`;
  if (claim.minBond < minBond)
    return `It names a bond of ${formatAmount(claim.minBond)}, and the least that counts is ${formatAmount(minBond)}.`;
  return undefined;
}

/** Of one that somebody opened. */
async function ofOpened(
  chain: Chain,
  facts: SignedFacts,
  shown: Shown,
  terms: SignedVerifyTerms,
): Promise<SignedReport | undefined> {
  const events = await promiseHistory(chain, facts.digest);
  const last = events.findLast(({ name }) => name === "Queued" || name === "Opened" || name === "TakenBack");
  if (last?.name === "Queued") return { status: "opened", ...facts };
  if (last?.name !== "Opened") return undefined;
  const { claimId } = last.args;
  const report = await verifyClaim(chain, claimId, terms);
  if (report.status === "final") return { status: "final", ...shown, claimId };
  if (report.status === "fallen") return { status: "fallen", ...facts, claimId };
  if (report.status !== "failed") return { status: "opened", ...facts, claimId };
  const { code, error } = report;
  return { status: "failed", code, error, ...facts, claimId };
}

const leafForm = z.object({
  leaf: z
    .object({
      batch: z.object({
        prover: address,
        modelId: hash,
        window: count(32),
        count: z.int().min(1).max(65_535),
        root: hash,
      }),
      index: count(16),
      payload: bytes(2 * MAX_ANSWER_BYTES),
      path: z.array(hash).max(16),
    })
    .optional(),
});
type Leaf = NonNullable<z.infer<typeof leafForm>["leaf"]>;

/** Its place in a batch, as its prover says it and the chain confirms it. */
async function ofLeaf(
  chain: Chain,
  { claim: { modelId, inputHash, prover }, input, output }: Presented,
  digest: Digest,
  { signed, policy, confirmations }: SignedVerifyTerms,
): Promise<"batched" | "final" | "opened" | undefined> {
  const leaf = await leafFrom(signed.url, digest);
  const { lanes, minBond, minWindow } = policy;
  if (leaf === undefined || leaf.batch.modelId !== modelId || !isAddressEqual(leaf.batch.prover, prover))
    return undefined;
  const newest = await withContext("read the newest block", () => chain.client.getBlockNumber());
  const number = newest > confirmations ? newest - BigInt(confirmations) : 0n;
  const { hash: deep } = await withContext(`read block ${number}`, () =>
    chain.client.getBlock({ blockNumber: number }),
  );
  const reader = new PromiseStateReader(chain, deep);
  const { batch, index, payload, path } = leaf;
  const id = batchIdOf(reader.at, batch);
  const [word, state] = await Promise.all([new StateReader(chain, deep).model(modelId), reader.batch(id)]);
  if (word === undefined || state === undefined || state.fallen || index >= batch.count) return undefined;
  const own = toHex(compactLeaf(word, { input: fromHex(input), output: fromHex(output) }));
  if (own !== payload || !isInBatch(batch, index, fromHex(payload), path.map(fromHex))) return undefined;
  // One slot stands for all leaves. Below the terms it is worth nothing here, however long its window runs.
  const offered = { lanes: LANE.BOND, bond: state.bond / BigInt(batch.count), window: batch.window };
  if (shortfallOf(offered, policy) !== undefined) return undefined;
  try {
    const gate = { modelId, inputHash, lanes: lanes & LANE.BOND, minBond, minWindow };
    await reader.requireFinalLeaf(batch, index, payload, path, gate);
    return "final";
  } catch (error) {
    if (!isBaseError(error, "CALL_REVERTED")) throw error;
    const { status } = await reader.leaf(id, index);
    return status === "QUEUED" || status === "OPEN" ? "opened" : "batched";
  }
}

/** A prover that is away, or says something else, has not put it anywhere. */
async function leafFrom(url: string, digest: Digest): Promise<Leaf | undefined> {
  try {
    const response = await fetch(`${url.replace(/\/$/, "")}/v1/signed-claims/${digest}`, {
      ...{ redirect: "error", signal: AbortSignal.timeout(ASK_MS) },
    });
    const body = await readAtMost(response, MAX_ANSWER_BYTES);
    if (!response.ok) return undefined;
    return leafForm.parse(JSON.parse(new TextDecoder().decode(body))).leaf;
  } catch {
    return undefined;
  }
}
