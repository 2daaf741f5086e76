/** What a drill showed. */
import type { Address } from "viem";
import { formatAmount } from "../../../base/amounts.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { describeFall } from "../../../protocol/chain/describe.ts";
import type { ChainEvent } from "../../../protocol/chain/events.ts";
import type { Inclusion } from "../../../protocol/chain/journal.ts";
import type { SigningChain } from "../../../protocol/chain/sender.ts";
import { fellByOthers } from "./moves.ts";
import type { Played } from "./play.ts";

export type DrillReport = Awaited<ReturnType<typeof reportOf>>;

/** @param before own transactions that came before */
export async function reportOf(
  chain: SigningChain,
  { claim: entry, events, inclusions }: Played,
  before: readonly (Inclusion | undefined)[],
) {
  const own = chain.account.address;
  const { claim, fall } = entry;
  const paid = events.flatMap((event) =>
    event.name === "Collected" && event.args.owner === own ? [event.args.amount - claim.ticketBond] : [],
  );
  const share = paid.reduce((sum, amount) => sum + amount, 0n);
  const bond = entry.status === "fallen" ? claim.bond - share : 0n;
  const sent = [...before, ...inclusions].filter((one) => one !== undefined);
  const gas = sent.reduce((sum, { gasUsed }) => sum + gasUsed, 0n);
  const gasWei = sent.reduce((sum, { gasUsed, gasPrice }) => sum + gasUsed * gasPrice, 0n);
  return {
    status: entry.status,
    convicted: fellByOthers(entry, own),
    detection: await detectionOf(chain, own, events),
    challengers: [...entry.challengers].filter((one) => one !== own),
    fall,
    cost: { feeWei: 0n, bondWei: bond, gas, gasWei, totalWei: bond + gasWei },
  };
}

/** From the claim to the first ticket of somebody else; undefined if there was none. */
async function detectionOf({ client }: Chain, own: Address, events: readonly ChainEvent[]) {
  const claimed = events.find((event) => event.name === "Claimed");
  const first = events.find((event) => event.name === "Challenged" && event.args.challenger !== own);
  if (claimed === undefined || first === undefined) return undefined;
  const [from, to] = await Promise.all(
    [claimed, first].map(({ block }) => client.getBlock({ blockHash: block.hash })),
  );
  const seconds = Number((to?.timestamp ?? 0n) - (from?.timestamp ?? 0n));
  return { seconds, blocks: Number(first.block.number - claimed.block.number) };
}

export function describeReport({
  convicted,
  detection,
  challengers,
  fall,
  status,
  cost,
}: DrillReport): string[] {
  const seen =
    detection === undefined
      ? "Missed: nobody challenged the wrong claim in time; the drill ended it itself"
      : `Detected after ${detection.seconds} s (${detection.blocks} blocks) by ${challengers.join(", ")}`;
  const end = fall === undefined ? `the claim is ${status}` : `the claim ${describeFall(fall)}`;
  const abandoned =
    detection !== undefined && !convicted ? ["Nobody convicted it: the drill ended it itself"] : [];
  const { bondWei, gas, gasWei, totalWei, feeWei } = cost;
  return [
    seen,
    ...abandoned,
    `  end    ${end}`,
    `  fee    ${formatAmount(feeWei)}`,
    `  bond   ${formatAmount(bondWei)} lost`,
    `  gas    ${gas}, ${formatAmount(gasWei)}`,
    `  total  ${formatAmount(totalWei)}`,
  ];
}
