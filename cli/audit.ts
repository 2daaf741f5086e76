/** `assay audit`: proves from a deployment's events that its money and its final outputs are in order. */
import type { Command } from "commander";
import { formatAmount } from "../base/amounts.ts";
import { type AuditReport, auditChain } from "../protocol/chain/audit/read.ts";
import { AUDIT_RULES } from "../protocol/chain/audit/rules.ts";
import type { ChainEvent } from "../protocol/chain/events.ts";
import { addressLink, transactionLink } from "../protocol/chain/presets.ts";
import type { GameAddress } from "../protocol/rules/ids.ts";
import { chainConfig, openChain, withChain } from "./chain.ts";
import { linked } from "./chain-links.ts";
import { EXIT, printProgress, printResult, refuseArgument, withJson } from "./output.ts";

export function addAuditCommand(program: Command): void {
  const command = program
    .command("audit")
    .description("prove from the chain's events that every wei and every final output is in order")
    .option("--from <block>", "first block; default: the deployment's, without which books stay partial")
    .option("--to <block>", "last block; default: the newest");
  withJson(withChain(command)).action(async (options: { from?: string; to?: string }, self: Command) => {
    const from = blockOf("--from", options.from);
    const to = blockOf("--to", options.to);
    const chain = await openChain(chainConfig(self));
    const report = await auditChain(chain, {
      from,
      to,
      onPage: (last) => printProgress(`audited up to block ${last}`),
    });
    const verdict = verdictOf(report);
    const isInOrder = verdict === "in-order";
    printResult(self, { ...report, isInOrder, verdict }, describe(report, chain.game));
    process.exitCode = EXIT_OF[verdict];
  });
}

function blockOf(name: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) refuseArgument(name, text, "a block number");
  return BigInt(text);
}

export type AuditVerdict = "in-order" | "not-compared" | "not-in-order";

/** Another node, or this one later, may have what could not be compared. */
const EXIT_OF: Readonly<Record<AuditVerdict, number>> = {
  "in-order": EXIT.ok,
  "not-compared": EXIT.retryable,
  "not-in-order": EXIT.finding,
};

/** In order: nothing is broken and the contracts hold what their books say; ether that somebody forced upon them is more.
 *  What could not be read is not compared, and then nothing is in order. Of a part there is nothing to compare. */
export function verdictOf(report: Verdicted): AuditVerdict {
  const { breach, balance, promisesBalance } = report;
  const isShort = [balance, promisesBalance].some((one) => one !== undefined && one.held < one.booked);
  if (breach !== undefined || isShort) return "not-in-order";
  return uncomparedIn(report).length === 0 ? "in-order" : "not-compared";
}

type Verdicted = Pick<AuditReport, "isWhole" | "breach" | "balance" | "promises" | "promisesBalance">;

/** Contracts whose state at the last block could not be read. */
function uncomparedIn({ isWhole, breach, balance, promises, promisesBalance }: Verdicted): string[] {
  if (!isWhole || breach !== undefined) return [];
  return [
    ...(balance === undefined ? ["Assay"] : []),
    ...(promises !== undefined && promisesBalance === undefined ? ["Promises"] : []),
  ];
}

function concluded(report: AuditReport): string {
  const events = eventsOf(report);
  const verdict = verdictOf(report);
  if (verdict !== "not-compared")
    return `${verdict === "in-order" ? "In order" : "NOT in order"}: ${events} events.`;
  const names = uncomparedIn(report).join(" and ");
  return `NOT COMPARED: ${events} events are in order, and what ${names} then held could not be read: ask a node that keeps the state of block ${report.to.number}.`;
}

function describe(report: AuditReport, { chainId, assay }: GameAddress): string[] {
  const { from, to, isWhole, money, breach } = report;
  const { received, credits, held, burned, pulled, withdrawn } = money;
  return [
    `Audit of ${linked(assay, addressLink(chainId, assay))}, blocks ${from} to ${to.number} (${to.hash})`,
    `  events     ${report.events}`,
    `  requests   ${counts(report.requests)}`,
    `  claims     ${counts(report.claims)}`,
    `  final by   ${counts(report.lanes)}`,
    `  received   ${formatAmount(received)}`,
    `  credited   ${formatAmount(credits + withdrawn)}, of which ${formatAmount(withdrawn)} are withdrawn`,
    `  held       ${formatAmount(held)} in live bonds, uncollected shares and fees`,
    `  burned     ${formatAmount(burned + pulled)}, of which ${formatAmount(pulled)} are sent away`,
    ...describeBalance(report.balance),
    ...describePromises(report),
    ...(isWhole
      ? []
      : ["  partial    requests before the first block, what is withdrawn, and promises are not audited"]),
    ...(breach === undefined
      ? [concluded(report)]
      : [
          `BROKEN (${breach.rule}): ${AUDIT_RULES[breach.rule]}`,
          `  by ${breach.event.name} of ${breach.event.contract}, block ${breach.event.block.number}, log ${breach.event.logIndex}, transaction ${transactionOf(chainId, breach.event)}`,
          `  ${breach.why}`,
        ]),
  ];
}

const transactionOf = (
  chainId: number,
  { transactionHash: hash }: Pick<ChainEvent, "transactionHash">,
): string => linked(hash, transactionLink(chainId, hash));

const eventsOf = ({ events, promises }: AuditReport): number => events + (promises?.events ?? 0);

function describePromises({ promises, promisesBalance }: AuditReport): string[] {
  if (promises === undefined) return [];
  const { events, signedClaims, batches, leaves, money } = promises;
  const { received, stakes, away, deposits, credits, burned, paid, lost } = money;
  return [
    "Promises",
    `  events     ${events}`,
    `  signed     ${counts(signedClaims)} of those that were opened`,
    `  batches    ${batches.posted} posted, ${batches.fallen} fallen`,
    `  leaves     ${counts(leaves)} of those that were opened`,
    `  received   ${formatAmount(received)}`,
    `  stakes     ${formatAmount(stakes)}, of which ${formatAmount(away)} are bonds in Assay`,
    `  deposits   ${formatAmount(deposits)}`,
    `  credited   ${formatAmount(credits)} not yet withdrawn`,
    `  burned     ${formatAmount(burned)} not yet sent away`,
    `  paid       ${formatAmount(paid)} by exits, withdrawals and burning`,
    `  lost       ${formatAmount(lost)} by claims that fell`,
    ...(promisesBalance === undefined
      ? ["  held       not compared: the audit broke off, or the node keeps no state of this block"]
      : describeBalance(promisesBalance)),
  ];
}

function describeBalance(balance: AuditReport["balance"]): string[] {
  if (balance === undefined) return [];
  const { held, booked } = balance;
  const more = held - booked;
  const note = more === 0n ? "as booked" : `${formatAmount(more)} ${more > 0n ? "above" : "BELOW"} the books`;
  return [`  balance    ${formatAmount(held)}, ${note}`];
}

const counts = (of: Readonly<Record<string, number>>): string =>
  Object.entries(of)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ") || "none";
