/** `assay challenger investigate`: what a person needs to know about a claim that looks wrong, before money is risked. */
import type { Command } from "commander";
import type { Hex } from "viem";
import { fromHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import { type Question, questionAbout } from "../../challenger/interrogate.ts";
import { ownTrace } from "../../challenger/own-runs.ts";
import type { Verdict } from "../../challenger/reexecute.ts";
import { type Chain, connect } from "../../protocol/chain/connect.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import { readClaim } from "../../protocol/chain/past.ts";
import { rpcUrlsOf } from "../../protocol/chain/quorum/urls.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { withChain, withSettings } from "../chain.ts";
import { type ShownClaim, showClaim } from "../claim.ts";
import { claimIdOf } from "../claim-id.ts";
import { printResult, withJson } from "../output.ts";
import { withClaim } from "./act.ts";
import { CHALLENGER_SETTINGS, openSetup, type Setup } from "./machine.ts";
import { PROGRESS } from "./progress.ts";

export function addInvestigateCommand(challenger: Command): void {
  const command = challenger
    .command("investigate")
    .description("all about a claim: what each node says, its own run, where the traces part, its timeline")
    .argument("<claim>", "its id");
  withJson(withSettings(withChain(command), CHALLENGER_SETTINGS)).action(
    async (id: string, _options: object, self: Command) => {
      const setup = await openSetup(self, PROGRESS);
      const report = await investigate(setup, claimIdOf(id));
      printResult(self, report, describe(report));
    },
  );
}

export type Investigation = Awaited<ReturnType<typeof investigate>>;

async function investigate(setup: Setup, claimId: ClaimId) {
  const { chain, config } = setup;
  const urls = rpcUrlsOf(config.rpcUrl);
  const [claim, ownRun, nodes] = await Promise.all([
    orFault(() => showClaim(chain, claimId)),
    orFault(() => runAgain(setup, claimId)),
    Promise.all(urls.map((url, index) => askNode(chain, url, index, claimId))),
  ]);
  return { claimId, claim, ownRun, nodes };
}

/** Each part may fail alone: what the others found is what a person needs then. */
const orFault = async <T>(work: () => Promise<T>): Promise<T | { readonly fault: string }> => {
  try {
    return await work();
  } catch (error) {
    if (!isBaseError(error)) throw error;
    return { fault: error.message };
  }
};

/** What one node alone says. */
async function askNode(chain: Chain, url: string, index: number, claimId: ClaimId) {
  const node = `${new URL(url).origin} (${index + 1})`;
  const answer = await orFault(async () => {
    const alone = await connect({ rpcUrl: url, deployment: chain.deployment });
    const head = await withContext("read the newest block", () => alone.client.getBlock());
    const { claim, events } = await readClaim(alone, claimId);
    const word = await new StateReader(alone, head.hash).claimWord(claimId);
    return {
      head: { number: head.number, hash: head.hash, timestamp: Number(head.timestamp) },
      claimed: { block: claim.block, output: claim.output },
      state: word.state,
      events: events.length,
    };
  });
  return { node, ...answer };
}

interface OwnRun {
  readonly model: string;
  readonly verdict: Verdict;
  /** first place where the committed trace is another one, as far as it was opened */
  readonly partsAt?: Readonly<Record<string, string | number>>;
}

/** The claimed input by the canonical executor, and the first place where the committed trace is another one. */
const runAgain = (setup: Setup, claimId: ClaimId): Promise<OwnRun> =>
  withClaim(setup, claimId, async ({ claim, request, covered, verdict, canonical }) => {
    const run = { model: covered.name, verdict };
    if (verdict.kind !== "wrong" || claim.trace === undefined) return run;
    const options = { urgency: "owed", claimed: fromHex(claim.output) } as const;
    const made = await canonical.trace(covered.id, fromHex(request.input), options);
    const question = questionAbout(ownTrace(covered, made), claim);
    return question === undefined ? run : { ...run, partsAt: placeOf(question) };
  });

function placeOf(question: Question): NonNullable<OwnRun["partsAt"]> {
  if (question.kind === "demand") return { kind: "not opened yet", ...question.position };
  if (question.kind === "output") return { kind: "output", element: question.element };
  return question.kind === "codec"
    ? { kind: "codec", step: question.step }
    : { kind: "element", step: question.step, element: question.element };
}

function describe({ claimId, claim, ownRun, nodes }: Investigation): string[] {
  return [
    `Claim ${claimId}`,
    ...("fault" in claim ? [`  not shown: ${claim.fault}`] : stateLines(claim)),
    "Own run",
    ...("verdict" in ownRun ? runLines(ownRun) : [`  not made: ${ownRun.fault}`]),
    "Nodes, each alone",
    ...nodes.map((answer) =>
      "fault" in answer
        ? `  ${answer.node}: ${answer.fault}`
        : `  ${answer.node}: block ${answer.head.number} ${answer.head.hash}, claim ${answer.state} since block ${answer.claimed.block.number}, ${answer.events} events, output ${short(answer.claimed.output)}`,
    ),
  ];
}

const stateLines = ({ word, finalAt, timeline }: ShownClaim): string[] => [
  `  ${word.state}, ${word.tickets} tickets, final at ${finalAt} by the chain's time`,
  ...timeline.map(({ timestamp, text }) => `  ${timestamp}  ${text}`),
];

function runLines({ model, verdict, partsAt }: OwnRun): string[] {
  const honest = verdict.kind === "wrong" && verdict.honest ? `; honest is ${short(verdict.honest)}` : "";
  const reason = verdict.kind === "could-not-check" ? `: ${verdict.reason}` : "";
  const parts = partsAt === undefined ? [] : [`  the traces part at ${JSON.stringify(partsAt)}`];
  return [`  ${model}: ${verdict.kind}${reason}${honest}`, ...parts];
}

const SHOWN_CHARACTERS = 66;
const short = (hex: Hex): string =>
  hex.length <= SHOWN_CHARACTERS ? hex : `${hex.slice(0, SHOWN_CHARACTERS)}…`;
