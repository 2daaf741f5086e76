import { describe, expect, test } from "vitest";
import {
  decideLeaf,
  decideSigned,
  type LeafFacts,
  type SignedFacts,
} from "../../../challenger/promises/decide.ts";
import type { Digest } from "../../../protocol/rules/promises/signed-claim.ts";
import { accountAt } from "../../support/anvil.ts";
import { hashOf } from "../../support/batches.ts";

const OWN = accountAt(1).address;
const OTHER = accountAt(2).address;
const ACCOUNT = { free: 100n, leaving: 0n, exitAt: 0, away: 0n, slots: 0n, hotSince: 0 };
const BATCH = { windowEnd: 100, open: 0, idle: 2, fallen: false, bond: 50n, queued: 0 };

describe("decideLeaf", () => {
  const leaf = (changes: Partial<LeafFacts>) =>
    decideLeaf({
      ...{ status: "NONE", own: OWN, claim: undefined, now: 50, batch: BATCH, account: ACCOUNT, bond: 50n },
      ...{ isDoubted: false, ...changes },
    });
  const poor = { ...ACCOUNT, free: 10n };
  const used = { ...BATCH, idle: 0 };

  test.each<[string, Partial<LeafFacts>, string]>([
    ["a slot is there", { account: poor }, "open"],
    ["no slot, but stake", { batch: used }, "open"],
    ["in the last second", { now: 99 }, "open"],
    ["neither: it waits in the batch, which is then not final", { batch: used, account: poor }, "open"],
    ["neither, and another wrong leaf stands", { batch: used, account: poor, isDoubted: true }, "wait"],
    ["a slot, and another wrong leaf stands", { isDoubted: true }, "open"],
    [
      "six right leaves are open, which a cheat pays for: it is dear, and fells the batch",
      { batch: { ...BATCH, open: 6 } },
      "open",
    ],
    ["the same with sixty, without stake", { batch: { ...used, open: 60 }, account: poor }, "open"],
    [
      "another wrong leaf stands, and three are open",
      { isDoubted: true, batch: { ...BATCH, open: 3 } },
      "open",
    ],
    ["the same with four", { isDoubted: true, batch: { ...BATCH, open: 4 } }, "wait"],
    ["the batch has fallen, and four are open", { batch: { ...BATCH, open: 4, fallen: true } }, "wait"],
    ["others wait before it", { batch: { ...BATCH, queued: 3 }, isDoubted: true }, "wait"],
    ["the batch has fallen, and there is stake", { batch: { ...BATCH, fallen: true } }, "open"],
    ["the batch has fallen, without stake", { batch: { ...used, fallen: true }, account: poor }, "wait"],
    ["queued, and a slot came free", { status: "QUEUED", opener: OTHER }, "nextLeaf"],
    ["queued without stake", { status: "QUEUED", opener: OWN, batch: used, account: poor }, "wait"],
    [
      "queued in a batch that fell",
      { status: "QUEUED", opener: OWN, batch: { ...BATCH, fallen: true } },
      "dropLeaf",
    ],
    ["open", { status: "OPEN", opener: OWN, claim: "active" }, "wait"],
    ["open, and not seen as a claim yet", { status: "OPEN", opener: OWN }, "wait"],
    ["its claim fell", { status: "OPEN", opener: OWN, claim: "fallen" }, "close"],
  ])("default: %s", (_name, changes, kind) => {
    expect(leaf(changes).kind).toBe(kind);
  });

  test.each<[string, Partial<LeafFacts>, string]>([
    ["the window is over", { now: 100 }, "unopened"],
    ["the window is over, and the batch fell", { now: 100, batch: { ...BATCH, fallen: true } }, "fallen"],
    ["another's, and its claim fell", { status: "OPEN", opener: OTHER, claim: "fallen" }, "fallen"],
    [
      "another's waits in a batch that fell",
      { status: "QUEUED", opener: OTHER, batch: { ...BATCH, fallen: true } },
      "fallen",
    ],
    ["its claim is final", { status: "OPEN", opener: OWN, claim: "final" }, "final"],
    ["closed as final", { status: "CLOSED", opener: OWN, claim: "final" }, "final"],
    ["closed", { status: "CLOSED", opener: OWN, claim: "fallen" }, "fallen"],
  ])("behavior: it is over where %s", (_name, changes, ending) => {
    expect(leaf(changes)).toEqual({ kind: "over", ending });
  });
});

describe("decideSigned", () => {
  const signed = (changes: Partial<SignedFacts>) =>
    decideSigned({
      ...{
        status: "NONE",
        own: OWN,
        claim: undefined,
        now: 50,
        issuedAt: 1,
        end: 100,
        shown: false,
        account: ACCOUNT,
      },
      ...{ isHead: false, bond: 40n, leastBond: 20n, answerSeconds: 5, patience: 20, rivalBonds: 0n },
      ...changes,
    });
  const away = { ...ACCOUNT, free: 10n, away: 90n };
  const home = { ...ACCOUNT, head: hashOf(1) as Digest };

  test.each<[string, Partial<SignedFacts>, string]>([
    ["stake is at home", {}, "open"],
    ["in its last second", { now: 100 }, "open"],
    ["stake is away: it waits in the queue", { account: away }, "open"],
    ["shown before, after its end", { now: 101, shown: true }, "open"],
    ["its bond is above all stake", { bond: 101n }, "wait"],
    ["the same, T before its end", { bond: 101n, now: 95 }, "wait"],
    ["the same, in the last T: it waits in the queue", { bond: 101n, now: 96 }, "open"],
    ["the same after its end, shown and taken back", { bond: 101n, now: 101, shown: true }, "open"],
    ["in the last T, and the stake is used up", { now: 96, account: { ...ACCOUNT, free: 19n } }, "wait"],
    ["the same, and its bond is twice the stake", { bond: 200n, now: 96 }, "open"],
    ["the same, and its bond is above that", { bond: 201n, now: 96 }, "wait"],
    ["others stand, and the least bond is left", { rivalBonds: 80n }, "open"],
    ["others stand and leave less than that, also in the last T", { rivalBonds: 81n, now: 96 }, "wait"],
    ["issued a second after the newest block", { issuedAt: 51 }, "wait"],
    ["head of the queue, stake at home", { status: "QUEUED", opener: OTHER, isHead: true }, "openNext"],
    ["head of the queue, stake away", { status: "QUEUED", opener: OWN, isHead: true, account: away }, "wait"],
    [
      "behind a head that the stake reaches for",
      { status: "QUEUED", opener: OWN, headBond: 100n },
      "openNext",
    ],
    ["behind a head that is too dear", { status: "QUEUED", opener: OWN, headBond: 101n }, "passNext"],
    [
      "the same, noted a second ago",
      { status: "QUEUED", opener: OWN, headBond: 101n, account: { ...home, hotSince: 49 } },
      "wait",
    ],
    [
      "the same, noted W0 ago",
      { status: "QUEUED", opener: OWN, headBond: 101n, account: { ...home, hotSince: 30 } },
      "passNext",
    ],
    [
      "the same, while stake is away",
      { status: "QUEUED", opener: OWN, headBond: 101n, account: { ...home, away: 1n } },
      "wait",
    ],
    [
      "the same, and it is too dear itself",
      { status: "QUEUED", opener: OWN, headBond: 101n, bond: 101n },
      "wait",
    ],
    [
      "queued, and the stake is used up",
      { status: "QUEUED", opener: OWN, isHead: true, account: { ...home, free: 19n } },
      "takeBack",
    ],
    ["open", { status: "OPEN", opener: OWN, claim: "active" }, "wait"],
    ["its claim fell", { status: "OPEN", opener: OWN, claim: "fallen" }, "close"],
  ])("default: %s", (_name, changes, kind) => {
    expect(signed(changes).kind).toBe(kind);
  });

  test.each<[string, Partial<SignedFacts>, string]>([
    ["its end has passed, and nobody showed it", { now: 101 }, "unopened"],
    [
      "taken back, and the stake is used up",
      { now: 101, shown: true, account: { ...ACCOUNT, free: 19n } },
      "unopened",
    ],
    [
      "another's waits, and the stake is used up",
      { status: "QUEUED", opener: OTHER, account: { ...ACCOUNT, free: 1n } },
      "unopened",
    ],
    ["another's, and its claim fell", { status: "OPEN", opener: OTHER, claim: "fallen" }, "fallen"],
    ["its claim is final", { status: "OPEN", opener: OWN, claim: "final" }, "final"],
  ])("behavior: it is over where %s", (_name, changes, ending) => {
    expect(signed(changes)).toEqual({ kind: "over", ending });
  });
});
