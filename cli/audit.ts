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
    printResult(self, { ...report, isInOrder: isInOrder(report) }, describe(report, chain.game));
    if (!isInOrder(report)) process.exitCode = EXIT.finding;
  });
}

function blockOf(name: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) refuseArgument(name, text, "a block number");
  return BigInt(text);
}

/** True if nothing is broken and the contract holds what its books say; ether that somebody forced upon it is more. */
export const isInOrder = ({ breach, balance }: AuditReport): boolean =>
  breach === undefined && (balance === undefined || balance.held >= balance.booked);

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
    ...describeBalance(report),
    ...(isWhole
      ? []
      : ["  partial    requests before the first block, and what is withdrawn, are not audited"]),
    ...(breach === undefined
      ? [`${isInOrder(report) ? "In order" : "NOT in order"}: ${report.events} events.`]
      : [
          `BROKEN (${breach.rule}): ${AUDIT_RULES[breach.rule]}`,
          `  by ${breach.event.name}, block ${breach.event.block.number}, log ${breach.event.logIndex}, transaction ${transactionOf(chainId, breach.event)}`,
          `  ${breach.why}`,
        ]),
  ];
}

const transactionOf = (
  chainId: number,
  { transactionHash: hash }: Pick<ChainEvent, "transactionHash">,
): string => linked(hash, transactionLink(chainId, hash));

function describeBalance({ balance }: AuditReport): string[] {
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
