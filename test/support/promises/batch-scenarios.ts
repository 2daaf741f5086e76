/** Directed games of batches. */
import { closeEnded, DAY, openAs, openLeafAs, postAs } from "./promise-actors.ts";
import type { Side } from "./promise-models.ts";
import type { PromiseTable } from "./promise-table.ts";
import {
  batchOf,
  begin,
  challenger,
  cheat,
  friend,
  honest,
  leastOf,
  pass,
  type Scenario,
  type Setting,
  sign,
  starve,
  T,
} from "./scenario-parts.ts";

export const BATCH_SCENARIOS: Readonly<Record<string, Scenario>> = {
  "batch after batch while a promise waits": (rules) => {
    starve(
      rules,
      (table) => {
        if (table.account(cheat).slots > 0n) return;
        postAs(table, cheat, cheat, batchOf(["right"], 7 * DAY - table.posted.length));
      },
      {
        stake: 30n,
        minBond: 100_000_000n,
        setUp: (table) => postAs(table, cheat, cheat, batchOf(["right"], 7 * DAY)),
        days: 30,
      },
    );
  },
  "a batch of sixty days": (rules) => {
    const days = 60;
    const setUp = (table: PromiseTable) => postAs(table, cheat, cheat, batchOf(["right"], days * DAY));
    starve(rules, () => {}, { stake: 30n, minBond: 100_000_000n, setUp, days: days + 2 });
  },
  "a batch without a window": (rules) => {
    const table = begin(rules, 400_000_000n);
    postAs(table, cheat, cheat, batchOf(["wrong"], 0));
    if (table.finalSince.size > 0) table.fail(3, "a batch is final at once");
  },
  "a leaf that nobody can open": (rules) => {
    const table = begin(rules, 400_000_000n);
    const batchId = postAs(table, cheat, cheat, batchOf(["right", "long"]));
    if (batchId !== undefined && !openLeafAs(table, challenger, batchId, 1).ok)
      table.fail(3, "a leaf cannot be opened");
  },
  "another leaf is filed for the first that waits": (rules) => {
    const table = begin(rules, 48_000_000n, honest);
    const batchId = postAs(table, honest, honest, batchOf(["right", "right", "right"]));
    if (batchId === undefined) return;
    for (const index of [0, 1, 2]) openLeafAs(table, friend, batchId, index);
    pass(table, 4 * T - 1);
    table.advance(table.now + 1);
    closeEnded(table, honest);
    const { input, output } = { ...sign(table, "wrong", {}, honest) };
    table.do({ kind: "nextLeaf", from: friend, batchId, input, output, matches: false });
    pass(table, DAY);
  },
  "a queued leaf is dropped": (rules) => {
    const table = crowded(rules);
    for (const { batchId } of table.posted) table.do({ kind: "dropLeaf", from: friend, batchId });
    pass(table, 2 * DAY);
    if (table.finalSince.size > 0) table.fail(3, "a batch with a wrong leaf is final");
  },
  "slots are released early, and the stake is used": (rules) => {
    const table = begin(rules, 48_000_000n);
    const batchId = postAs(table, cheat, cheat, batchOf(["wrong"], DAY));
    if (batchId === undefined) return;
    table.do({ kind: "release", from: cheat, batchId });
    backless(table);
    openLeafAs(table, challenger, batchId, 0);
    pass(table, 3 * DAY);
  },
  "a batch sets nothing aside": (rules) => {
    const table = begin(rules, 48_000_000n);
    const batchId = postAs(table, cheat, cheat, batchOf(["wrong"], DAY));
    if (batchId === undefined) return;
    backless(table);
    openLeafAs(table, challenger, batchId, 0);
    pass(table, 3 * DAY);
  },
  "right leaves overtake the wrong one": (rules) => {
    const table = begin(rules, 48_000_000n);
    const leaves = Array.from({ length: 60 }, (_, index): Side => (index === 0 ? "wrong" : "right"));
    const batchId = postAs(table, cheat, cheat, batchOf(leaves));
    if (batchId === undefined) return;
    openLeafAs(table, friend, batchId, 1);
    openLeafAs(table, friend, batchId, 2);
    openLeafAs(table, challenger, batchId, 0);
    let next = 3;
    pass(table, 600, () => {
      const { idleSlots, leaves: opened } = table.state.batches.get(batchId) ?? {};
      if (opened?.get(0)?.status !== "QUEUED") return;
      // What the deposits bring is used up at once.
      if (table.account(cheat).free >= leastOf(table, 1)) openAs(table, friend, sign(table, "right"));
      for (let idle = idleSlots ?? 0; idle > 0 && next < 60; idle -= 1)
        openLeafAs(table, friend, batchId, next++);
    });
  },
  "a leaf waits in a batch that falls": (rules) => {
    const table = begin(rules, 48_000_000n);
    const batchId = postAs(table, cheat, cheat, batchOf(["wrong", "right", "right"]));
    if (batchId === undefined) return;
    for (const [index, from] of [challenger, friend, challenger].entries()) {
      openLeafAs(table, from, batchId, index);
    }
    const deposits = [0, 2].map(
      (index) => table.state.batches.get(batchId)?.leaves.get(index)?.deposit ?? 0n,
    );
    pass(table, DAY);
    const back = deposits.reduce((sum, deposit) => sum + deposit, 0n);
    if (table.state.credits.get(challenger) !== back) table.fail(5, "a deposit is not given back");
  },
};

/** A batch whose two slots are taken by right leaves, so that the wrong one waits. */
function crowded(rules: Setting): PromiseTable {
  const table = begin(rules, 48_000_000n);
  const batchId = postAs(table, cheat, cheat, batchOf(["right", "right", "wrong"]));
  if (batchId === undefined) throw new Error("the batch is not posted");
  table.advance(table.now + 3_599);
  for (const [index, from] of [friend, friend, challenger].entries()) openLeafAs(table, from, batchId, index);
  return table;
}

/** All free stake stands for another promise. */
function backless(table: PromiseTable): void {
  const { free } = table.account(cheat);
  if (free > 0n) openAs(table, friend, sign(table, "right", { minBond: 10n * free }));
}
