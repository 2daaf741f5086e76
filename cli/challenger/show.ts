/** `assay challenger list-claims` and `show-claim`: read from the chain, change nothing, need no running process. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { type Address, getAddress, isAddress } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { type SettledVerdict, VerdictStore } from "../../challenger/verdicts.ts";
import { type ClaimEntry, isClaimStatus } from "../../protocol/chain/claim-index.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { iso } from "../../protocol/chain/describe.ts";
import { readClaim, readIndex } from "../../protocol/chain/past.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { integer } from "../../protocol/service/config.ts";
import { openReadOnly } from "../../protocol/service/journal/database.ts";
import { chainConfig, openChain, withChain } from "../chain.ts";
import { claimIdOf } from "../claim-id.ts";
import { printResult, refuseArgument, withJson } from "../output.ts";
import { treeLines } from "../tree.ts";
import { disputeTree } from "./dispute-tree.ts";

interface ListOptions {
  readonly state: string;
  readonly prover?: string;
  readonly limit: string;
}

export function addShowCommands(challenger: Command): void {
  const list = challenger
    .command("list-claims")
    .description("claims of the chain, the newest last, with the verdicts that are kept here")
    .option("--state <state>", "active, final, fallen or all", "active")
    .option("--prover <address>", "of this prover alone")
    .option("--limit <number>", "most claims that are shown, the newest", "100");
  withJson(withChain(list)).action(listClaims);
  const show = challenger
    .command("show-claim")
    .description("a claim's dispute as a tree")
    .argument("<claim>", "its id");
  withJson(withChain(show)).action(async (id: string, _options: object, self: Command) => {
    const shown = await examine(await openChain(chainConfig(self)), claimIdOf(id));
    printResult(self, shown, treeLines(shown.tree));
  });
}

async function examine(chain: Chain, id: ClaimId) {
  const [{ claim, request }, word] = await Promise.all([
    readClaim(chain, id),
    new StateReader(chain).claimWord(id),
  ]);
  const tree = disputeTree(claim, word, chain.constants.answerSeconds, chain.account?.address);
  return { claimId: id, requestId: request.id, claim: claim.claim, word, fall: claim.fall, tree };
}

async function listClaims({ state, prover, limit }: ListOptions, self: Command): Promise<void> {
  if (state !== "all" && !isClaimStatus(state))
    refuseArgument("--state", state, "active, final, fallen or all");
  if (prover !== undefined && !isAddress(prover)) refuseArgument("--prover", prover, "an address");
  const most = integer(1, 1_000_000).safeParse(limit);
  if (!most.success) refuseArgument("--limit", limit, "an integer from 1 to 1000000");
  const config = chainConfig(self);
  const chain = await openChain(config);
  const index = await readIndex(chain);
  const chosen = [...index.claims.values()]
    .filter(({ status }) => state === "all" || status === state)
    .filter(({ claim }) => prover === undefined || claim.prover === getAddress(prover))
    .slice(-most.data);
  const verdicts = keptVerdicts(
    config.data,
    chosen.map(({ id }) => id),
  );
  const own = chain.account?.address;
  const claims = chosen.map((entry) => summary(entry, verdicts.get(entry.id), own));
  const lines = claims.length === 0 ? [`There is no claim of state ${state}.`] : claims.map(describe);
  printResult(self, { claims }, lines);
}

const summary = (
  { id, claim, status, windowEnd, challengers, fall }: ClaimEntry,
  verdict: SettledVerdict | undefined,
  own: Address | undefined,
) => ({
  claimId: id,
  modelId: claim.modelId,
  prover: claim.prover,
  bond: claim.bond,
  status,
  windowEnd,
  tickets: challengers.size,
  hasOwnTicket: own !== undefined && challengers.has(own),
  verdict: verdict?.kind ?? "none",
  fall: fall?.reason,
});

function describe(claim: ReturnType<typeof summary>): string {
  const { claimId, prover, bond, status, windowEnd, tickets, hasOwnTicket, verdict, fall } = claim;
  const ended = fall === undefined ? "" : ` by ${fall}`;
  const owners = `${tickets} tickets${hasOwnTicket ? ", one own" : ""}`;
  return `${claimId}  ${status}${ended}  window ${iso(windowEnd)}  ${formatAmount(bond)} by ${prover}  ${owners}  verdict ${verdict}`;
}

/** What a challenger with this data folder found, running or not. */
function keptVerdicts(data: string, ids: readonly ClaimId[]): Map<ClaimId, SettledVerdict> {
  const path = join(data, "assay.sqlite");
  const found = new Map<ClaimId, SettledVerdict>();
  if (!existsSync(path)) return found;
  const db = openReadOnly(path);
  try {
    if (!VerdictStore.isIn(db)) return found;
    const store = new VerdictStore(db);
    for (const id of ids) {
      const verdict = store.get(id);
      if (verdict !== undefined) found.set(id, verdict);
    }
    return found;
  } finally {
    db.close();
  }
}
