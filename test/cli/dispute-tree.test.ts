import { keccak256 } from "viem";
import { describe, expect, test } from "vitest";
import { disputeTree } from "../../cli/challenger/dispute-tree.ts";
import { treeLines } from "../../cli/tree.ts";
import { encodePosition, TRACE_STEP } from "../../inference/commit/positions.ts";
import type { ClaimEntry, DemandEntry } from "../../protocol/chain/claim-index.ts";
import type { Claim, ClaimId } from "../../protocol/rules/types.ts";
import type { ClaimWord } from "../../protocol/rules/words.ts";
import { accountAt } from "../support/anvil.ts";

const [PROVER, OWN, OTHER] = [1, 2, 3].map((index) => accountAt(index).address) as [never, never, never];

describe("treeLines", () => {
  test("default: lines lead from each node to those below", () => {
    const leaf = (text: string) => ({ text, children: [] });
    const tree = { text: "a", children: [{ text: "b", children: [leaf("c"), leaf("d")] }, leaf("e")] };
    expect(treeLines(tree)).toEqual(["a", "├─ b", "│  ├─ c", "│  └─ d", "└─ e"]);
  });
});

describe("disputeTree", () => {
  const entry: ClaimEntry = {
    id: `0x${"cd".repeat(32)}` as ClaimId,
    claim: { prover: PROVER, bond: 10n ** 18n, ticketBond: 10n ** 17n } as unknown as Claim,
    output: "0x0102",
    windowEnd: 1_000,
    block: { number: 1n, hash: keccak256("0x") },
    status: "active",
    challengers: new Set([OWN]),
    collected: new Set(),
    demands: new Map(),
  };
  const word = {
    state: "ACTIVE",
    windowEnd: 1_000,
    lastEvent: 900,
    hardEnd: 2_000,
    traceDeadline: 0,
    pending: 0,
  };

  test("default: a claim that nobody disputes", () => {
    const quiet = { ...entry, challengers: new Set<never>() };
    const lines = treeLines(disputeTree(quiet, { ...word, lastEvent: 0 } as ClaimWord, 100));
    expect(lines.map((line) => line.replace(/0x\w+/g, "0x…"))).toMatchInlineSnapshot(`
      [
        "claim 0x… ACTIVE",
        "├─ claimed by 0x…, bond 1 ether",
        "├─ output 0x…",
        "├─ window until 1970-01-01T00:16:40Z, final at 1970-01-01T00:16:40Z if nothing is owed, 0 answers owed",
        "├─ tickets of 0.1 ether: 0",
        "└─ no trace: nobody asked",
      ]
    `);
  });

  test("behavior: demands stand below the demand that opened their node", () => {
    const demand = (by: never, deadline: number, content?: []): DemandEntry =>
      content === undefined ? { by, deadline } : { by, deadline, content };
    const at = (step: number, level: number, index: number) => encodePosition({ step, level, index });
    const disputed: ClaimEntry = {
      ...entry,
      challengers: new Set([OWN, OTHER]),
      trace: { root: keccak256("0x01"), tops: [] },
      demands: new Map([
        [at(TRACE_STEP, 6, 1), demand(OWN, 1_100, [])],
        // Below the first node of the row above, not below the second.
        [at(70, 6, 4), demand(OWN, 1_300)],
        [at(70, 12, 0), demand(OTHER, 1_200, [])],
        [at(71, 6, 0), demand(OTHER, 1_300)],
      ]),
    };
    const lines = treeLines(disputeTree(disputed, { ...word, pending: 2 } as ClaimWord, 100, OWN));
    expect(lines.map((line) => line.replace(/0x\w+/g, "0x…"))).toMatchInlineSnapshot(`
      [
        "claim 0x… ACTIVE",
        "├─ claimed by 0x…, bond 1 ether",
        "├─ output 0x…",
        "├─ window until 1970-01-01T00:16:40Z, final at 1970-01-01T00:16:41Z if nothing is owed, 2 answers owed",
        "├─ tickets of 0.1 ether: 2",
        "│  ├─ 0x… (own), 2 demands",
        "│  └─ 0x…, 2 demands",
        "└─ trace 0x…, 0 hashes shown",
        "   ├─ node 1 at level 6 of the trace tree: shown, 0 words or hashes, asked by 0x…",
        "   ├─ node 0 at level 12 of step 70: shown, 0 words or hashes, asked by 0x…",
        "   │  └─ node 4 at level 6 of step 70: owed until 1970-01-01T00:21:40Z, asked by 0x…",
        "   └─ node 0 at level 6 of step 71: owed until 1970-01-01T00:21:40Z, asked by 0x…",
      ]
    `);
  });

  test("behavior: how it fell", () => {
    const fall = { reason: "ELEMENT", step: 3n, element: 7n, expected: 1n, claimed: 2n } as const;
    const lines = treeLines(
      disputeTree({ ...entry, status: "fallen", fall }, { ...word, state: "FALLEN" } as ClaimWord, 1),
    );
    expect(lines.at(-1)).toBe("└─ fell by ELEMENT at step 3, element 7: expected 0x1, claimed 0x2");
  });
});
