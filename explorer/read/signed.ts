/** Signed claims that somebody opened: those that wait for stake, and those that became claims. */
import { getAddress, type Hex } from "viem";
import { endOf } from "../../protocol/rules/promises/limits.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import { ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import type { SignedClaim, SignedClaimPage, SignedClaimsQuery, SignedSummary } from "../api/types.ts";
import { blockOf } from "../index/moves.ts";
import type { SignedRow } from "../index/signed-life.ts";
import { inputView, outputView } from "./data.ts";
import { promiseTimelineOf } from "./events.ts";
import { claimView } from "./life.ts";
import { claimSummary, nameOf, rowsOf, timesOf } from "./lists.ts";
import { type PageQuery, pageOf } from "./paging.ts";
import type { ReadParts } from "./parts.ts";
import { signedUnknown } from "./unknown.ts";

export async function signedPage(
  parts: ReadParts,
  query: Omit<SignedClaimsQuery, "limit" | "before"> & PageQuery,
): Promise<SignedClaimPage> {
  const rows = await rowsOf<SignedRow>(parts, "signed_claims", query, [
    ["state = ?", query.state],
    ["model = ?", query.model],
    ["prover = ?", query.prover && getAddress(query.prover)],
    ...(await timesOf(parts, query)),
  ]);
  return pageOf(rows, query.limit, (row) => signedSummary(parts, row));
}

async function signedSummary(parts: ReadParts, row: SignedRow): Promise<SignedSummary> {
  const { digest, state, signed, opener, shownAt, claimId, joined } = row;
  const { tables } = parts.index;
  const [claim, ahead] = await Promise.all([
    claimId && tables.claim(claimId),
    joined === undefined ? undefined : tables.waitingOf(signed.prover, joined),
  ]);
  return {
    digest,
    modelId: signed.modelId,
    ...nameOf(parts, signed.modelId),
    state,
    prover: signed.prover,
    opener,
    shownAt,
    block: blockOf(row.seq),
    ...(ahead === undefined ? {} : { ahead }),
    ...(claim === undefined ? {} : { claim: claimSummary(parts, claim) }),
  };
}

/** @throws BaseError SIGNED_CLAIM_UNKNOWN */
export async function signedView(parts: ReadParts, id: Hex): Promise<SignedClaim> {
  const row = await parts.index.tables.signed(id);
  if (row === undefined) throw signedUnknown(id);
  const { signed, deposit, passes, tooDearSince, endedAt, claimId } = row;
  const { modelId, issuedAt, expiry, minBond, salt, inputHash, outputHash, requester } = signed;
  const claim = claimId === undefined ? undefined : await claimView(parts, claimId);
  return {
    ...(await signedSummary(parts, row)),
    ...(requester === ZERO_ADDRESS ? {} : { requester }),
    ...{ issuedAt, expiry, end: endOf(signed), minBond, salt, inputHash, outputHash, deposit, passes },
    ...(tooDearSince === undefined ? {} : { tooDearSince }),
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(claim === undefined
      ? await waitingData(parts, id as Digest, modelId)
      : { input: claim.input, output: claim.output }),
    deadlines: claim?.deadlines ?? [],
    timeline: await promiseTimelineOf(parts.index.tables, {
      digest: id,
      ...(claimId === undefined ? {} : { claim: claimId }),
    }),
  };
}

/** Of one that has no claim: it waits, or was taken back, and an event holds what was shown. */
async function waitingData(
  parts: ReadParts,
  digest: Digest,
  modelId: Hex,
): Promise<Pick<SignedClaim, "input" | "output">> {
  const queued = (await parts.index.events.promised(digest, "Queued")).at(-1);
  if (queued === undefined) throw new TypeError(`Signed claim ${digest} neither waits nor is a claim.`);
  const { input, output } = queued.args;
  return { input: await inputView(parts, modelId, input), output: await outputView(parts, modelId, output) };
}
