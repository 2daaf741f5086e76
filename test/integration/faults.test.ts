import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { FALL_REASONS } from "../../protocol/terms.ts";
import { FAULTS, type FaultKind, parseFault } from "../../prover/faults.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** One of each kind; steps of models/sentiment: 0 is its codec step, 1 has padded rows, 12 is its last layer. */
const LIES = [
  "element:12",
  "codec:0",
  "input:0",
  "output",
  "padding:1",
  "stall",
  "stall-reveal",
  "garbage-reveal",
] as const;

let system: System;

beforeAll(async () => {
  // Room for ten processes on two cores to answer in time; only those who do not answer wait for it.
  system = await startSystem({ models: ["sentiment"], answerSeconds: 10 });
  const provers = LIES.map((lie, i) =>
    system.daemon(lie.replace(":", "-"), ROLES.cheat + i, ["prover", "--port", "0", "--fault", lie]),
  );
  const challenger = system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]);
  const ready = provers.map((daemon) => daemon.said("prover is up"));
  await Promise.all([...ready, challenger.said("challenger is up")]);
});

afterAll(() => system.stop());

async function fate(lie: (typeof LIES)[number], index: number) {
  const { events } = system;
  const model = system.model("sentiment");
  const calldata = selfTestCalldata(model.model.program, model.selector, 2 * index);
  const prover = systemAccount(ROLES.cheat + index).address;
  const { requestId } = await system.ask({ model, calldata, prover });
  const fell = await events.until("Fell", (fall) => fall.requestId === requestId, 90_000);
  const { claimId } = fell;
  const collected = await events.until("Collected", (event) => event.claimId === claimId);
  const claims = events.all("Claimed", (event) => event.requestId === requestId);
  return { lie, reason: FALL_REASONS[fell.reason], collectedBy: collected.owner, claims: claims.length };
}

describe("dishonest provers as processes", () => {
  it("behavior: every kind of fault ends as it states, and the challenger is paid", async () => {
    expect([...new Set(LIES.map((lie) => parseFault(lie).kind))].sort()).toEqual(Object.keys(FAULTS).sort());
    const fates = await Promise.all(LIES.map((lie, i) => fate(lie, i)));
    const collectedBy = systemAccount(ROLES.challenger).address;
    const reasonOf = (kind: FaultKind) => FAULTS[kind].fall;
    expect(fates).toEqual(
      LIES.map((lie) => ({ lie, reason: reasonOf(parseFault(lie).kind), collectedBy, claims: 1 })),
    );
    expect(system.events.all("Finalized")).toEqual([]);
  });
});
