/** A dispute as a tree: who holds tickets, and how the demands descend to the fault. */
import type { Address } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { decodePosition, type Position } from "../../inference/commit/positions.ts";
import type { ClaimEntry, DemandEntry } from "../../protocol/chain/claim-index.ts";
import { describeFall, describePosition, iso } from "../../protocol/chain/describe.ts";
import { RULES } from "../../protocol/rules/machine.ts";
import type { ClaimWord } from "../../protocol/rules/words.ts";
import { leaf, type TreeNode } from "../tree.ts";

/** @param own account that is pointed out, if there is one @param answerSeconds T */
export function disputeTree(
  entry: ClaimEntry,
  word: ClaimWord,
  answerSeconds: number,
  own?: Address,
): TreeNode {
  const { id, claim, output, fall } = entry;
  const ended = fall === undefined ? [] : [leaf(describeFall(fall))];
  const children = [
    leaf(`claimed by ${claim.prover}${mark(claim.prover, own)}, bond ${formatAmount(claim.bond)}`),
    leaf(
      `output ${output.length <= 74 ? output : `${output.slice(0, 66)}… (${output.length / 2 - 1} bytes)`}`,
    ),
    leaf(clockText(word, answerSeconds)),
    ticketsNode(entry, own),
    traceNode(entry, word),
    ...ended,
  ];
  return { text: `claim ${id} ${word.state}`, children };
}

const mark = (address: Address, own: Address | undefined): string => (address === own ? " (own)" : "");

function clockText(word: ClaimWord, answerSeconds: number): string {
  if (word.state !== "ACTIVE") return `window ended ${iso(word.windowEnd)}`;
  const finalAt = `final at ${iso(RULES.finalAt(word, answerSeconds))} if nothing is owed`;
  return `window until ${iso(word.windowEnd)}, ${finalAt}, ${word.pending} answers owed`;
}

function ticketsNode(
  { claim, challengers, collected, demands }: ClaimEntry,
  own: Address | undefined,
): TreeNode {
  const children = [...challengers].map((owner) => {
    const count = [...demands.values()].filter(({ by }) => by === owner).length;
    return leaf(`${owner}${mark(owner, own)}, ${count} demands${collected.has(owner) ? ", collected" : ""}`);
  });
  return { text: `tickets of ${formatAmount(claim.ticketBond)}: ${children.length}`, children };
}

function traceNode({ trace, demands }: ClaimEntry, { traceDeadline }: ClaimWord): TreeNode {
  if (trace === undefined) {
    return leaf(traceDeadline === 0 ? "no trace: nobody asked" : `trace owed until ${iso(traceDeadline)}`);
  }
  const all = [...demands].map(([position, demand]) => ({ position: decodePosition(position), demand }));
  return { text: `trace ${trace.root}, ${trace.tops.length} hashes shown`, children: nested(all) };
}

interface Demanded {
  readonly position: Position;
  readonly demand: DemandEntry;
}

/** Each demand below the one that opened its node; the tops as they were asked. */
function nested(all: readonly Demanded[]): TreeNode[] {
  const parentOf = (one: Demanded): Demanded | undefined =>
    all
      .filter((other) => isAbove(other.position, one.position))
      .sort((a, b) => a.position.level - b.position.level)[0];
  const parents = new Map(all.map((one) => [one, parentOf(one)]));
  const below = (parent: Demanded | undefined): TreeNode[] =>
    all
      .filter((one) => parents.get(one) === parent)
      .map((one) => ({ text: describeDemand(one), children: below(one) }));
  return below(undefined);
}

function isAbove(above: Position, below: Position): boolean {
  if (above.step !== below.step || above.level <= below.level) return false;
  return Math.floor(below.index / 2 ** (above.level - below.level)) === above.index;
}

function describeDemand({ position, demand: { by, deadline, content } }: Demanded): string {
  const answer =
    content === undefined ? `owed until ${iso(deadline)}` : `shown, ${content.length} words or hashes`;
  return `${describePosition(position)}: ${answer}, asked by ${by}`;
}
