/** `assay challenger verify`, `challenge` and `resume`: one claim, or what this key began, manually. */
import type { Command } from "commander";
import { BaseError } from "../../base/errors.ts";
import { type CoveredModel, reexecute, type Verdict } from "../../challenger/reexecute.ts";
import type { Canonical } from "../../inference/runtime/canonical-pool.ts";
import type { ClaimEntry, RequestEntry } from "../../protocol/chain/claim-index.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { readClaim, readIndex } from "../../protocol/chain/past.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { withChain, withSettings } from "../chain.ts";
import { claimIdOf } from "../claim-id.ts";
import { stopSignal } from "../daemon.ts";
import { EXIT, printResult, withJson } from "../output.ts";
import { couldNotCheck, withCovered } from "./covered.ts";
import { CHALLENGER_SETTINGS, openSetup, runMachine, type Setup } from "./machine.ts";
import { PROGRESS } from "./progress.ts";

const withAll = (command: Command): Command =>
  withJson(withSettings(withChain(command), CHALLENGER_SETTINGS));

export function addActCommands(challenger: Command): void {
  const verify = challenger
    .command("verify")
    .description(`re-execute one claim; exit code ${EXIT.finding} if its output is wrong`)
    .argument("<claim>", "its id");
  withAll(verify).action(async (id: string, _options: object, self: Command) => {
    const { verdict, facts } = await verifyClaim(await openSetup(self, PROGRESS), claimIdOf(id));
    printResult(self, { ...facts, verdict }, describe(facts, verdict));
    if (verdict.kind === "wrong") process.exitCode = EXIT.finding;
  });
  const challenge = challenger
    .command("challenge")
    .description("re-execute one claim and, if its output is wrong, dispute it to its end")
    .argument("<claim>", "its id");
  withAll(challenge).action(async (id: string, _options: object, self: Command) => {
    const setup = await openSetup(self, PROGRESS);
    requireAccount(setup.chain);
    const claimId = claimIdOf(id);
    const { verdict, facts } = await verifyClaim(setup, claimId);
    if (verdict.kind !== "wrong") throw notWrong(claimId);
    await pursue(setup, ({ id: other }) => other === claimId);
    const { claim } = await readClaim(setup.chain, claimId);
    printResult(self, { ...facts, status: claim.status, fall: claim.fall }, [describeEnd(claim)]);
    if (claim.status !== "fallen") process.exitCode = EXIT.failed;
  });
  const resume = challenger
    .command("resume")
    .description("carry every dispute in which this key holds a ticket to its end, file no new ticket");
  withAll(resume).action(async (_options: object, self: Command) => {
    const setup = await openSetup(self, PROGRESS);
    const own = requireAccount(setup.chain).account.address;
    await pursue(setup, ({ challengers }) => challengers.has(own));
    const index = await readIndex(setup.chain);
    const ended = [...index.claims.values()].filter(({ challengers }) => challengers.has(own));
    const claims = ended.map(({ id, status, fall, collected }) => {
      return { claimId: id, status, fall: fall?.reason, collected: collected.has(own) };
    });
    printResult(
      self,
      { claims },
      ended.length === 0 ? ["This key holds no ticket."] : ended.map(describeEnd),
    );
  });
}

/** Compares one claim as the daemon does.
 *  @throws BaseError CLAIM_UNKNOWN, MODEL_NOT_HERE, COULD_NOT_CHECK (retryable) */
const verifyClaim = (setup: Setup, id: ClaimId) =>
  withClaim(setup, id, async ({ claim, request, covered, verdict }) => {
    if (verdict.kind === "could-not-check") throw couldNotCheck(`Claim ${id}`, verdict.reason);
    return { verdict, facts: factsOf(setup.chain, claim, request, covered.name) };
  });

export interface ComparedClaim {
  readonly claim: ClaimEntry;
  readonly request: RequestEntry;
  readonly covered: CoveredModel;
  readonly verdict: Verdict;
  readonly canonical: Canonical;
}

/** Compares one claim as the daemon does, and does something while an engine still has its model.
 *  @throws BaseError CLAIM_UNKNOWN, MODEL_NOT_HERE; what `work` throws */
export async function withClaim<T>(
  { chain, models, settings }: Setup,
  id: ClaimId,
  work: (compared: ComparedClaim) => Promise<T>,
): Promise<T> {
  const { claim, request } = await readClaim(chain, id);
  const { modelId } = claim.claim;
  return withCovered({ chain, models, settings }, modelId, async ({ covered, engines }) => {
    const verdict = await reexecute(covered, request, claim, engines);
    return work({ claim, request, covered, verdict, canonical: engines.canonical });
  });
}

const factsOf = (
  { game }: Chain,
  { id, claim, output, status }: ClaimEntry,
  request: RequestEntry,
  model: string,
) => ({
  ...game,
  claimId: id,
  requestId: request.id,
  model,
  modelId: claim.modelId,
  prover: claim.prover,
  status,
  claimed: output,
});

/** Runs the daemon's own machine on some claims, until nothing is left to do about them. */
const pursue = (setup: Setup, scope: (claim: ClaimEntry) => boolean): Promise<void> =>
  runMachine(setup, { mode: "defend", scope }, stopSignal(PROGRESS));

const describe = (facts: ReturnType<typeof factsOf>, verdict: Verdict): string[] => [
  `claim ${facts.claimId} of ${facts.model} by ${facts.prover} is ${verdict.kind}`,
  `  claimed  ${facts.claimed}`,
  ...(verdict.kind === "wrong" && verdict.honest ? [`  honest   ${verdict.honest}`] : []),
];

const describeEnd = ({ id, status, fall }: ClaimEntry): string =>
  `claim ${id} is ${status}${fall === undefined ? "" : ` by ${fall.reason}`}`;

const notWrong = (id: ClaimId) =>
  new BaseError({
    code: "CLAIM_NOT_WRONG",
    shortMessage: `The output of claim ${id} is right: a ticket on it would be lost.`,
    nextStep: "Nothing is to be done.",
  });
