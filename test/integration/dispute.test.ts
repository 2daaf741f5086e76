import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { finalPayout } from "../../protocol/money.ts";
import { FALL_REASONS } from "../../protocol/terms.ts";
import type { Args } from "../support/event-log.ts";
import { Plaintiff } from "../support/plaintiff.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** Room for a process to start anew on any machine and still answer. */
const ANSWER_SECONDS = 120;
const CHEAT = ROLES.cheat;
const [FIRST_PLAINTIFF, SECOND_PLAINTIFF] = [ROLES.cheat + 1, ROLES.cheat + 2];
const PROVER_ARGS = ["prover", "--port", "0", "--withdraw-above", "1000000000000000000000"];
const CHALLENGER_ARGS = ["challenger", "defend"];
const CHEAT_ARGS = ["prover", "--port", "0", "--fault", "element:1"];

let system: System;
let prover: Daemon;
let challenger: Daemon;
let seed = 0;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  prover = system.daemon("prover", ROLES.prover, PROVER_ARGS);
  challenger = system.daemon("challenger", ROLES.challenger, CHALLENGER_ARGS);
  const cheat = system.daemon("cheat", CHEAT, CHEAT_ARGS);
  await Promise.all([
    prover.said("prover is up"),
    challenger.said("challenger is up"),
    cheat.said("prover is up"),
  ]);
});

afterAll(() => system.stop());

/** A request that this account has claimed. @param index of the account */
async function claimBy(index: number) {
  const model = system.model("sentiment");
  seed += 2;
  const calldata = selfTestCalldata(model.model.program, model.selector, seed);
  const asked = await system.ask({ model, calldata, prover: systemAccount(index).address });
  const claimed = await system.events.until("Claimed", ({ requestId }) => requestId === asked.requestId);
  return { ...asked, claimed, claimId: claimed.claimId, model, calldata };
}

type Filed = Awaited<ReturnType<typeof claimBy>>;
const of =
  ({ claimId }: Pick<Filed, "claimId">) =>
  (event: { claimId: string }): boolean =>
    event.claimId === claimId;

const sue = (index: number, { claimed, model, calldata }: Filed): Promise<Plaintiff> =>
  Plaintiff.sue(system, index, claimed, model, calldata);

/** Ends a process as a power cut would, and starts it again on the same data. */
async function killAndRestart(daemon: Daemon, index: number, args: readonly string[]): Promise<Daemon> {
  if (daemon.pid === undefined) throw new Error(`${daemon.name} does not run.`);
  process.kill(daemon.pid, "SIGKILL");
  await daemon.ended;
  return system.daemon(daemon.name, index, args);
}

/** Lets the window and every deadline pass, and waits for the end. */
async function outlive(filed: Filed): Promise<Args<"Finalized">> {
  await system.passTime(filed.request.window + ANSWER_SECONDS + 1);
  return system.events.until("Finalized", of(filed));
}

describe("an honest claim under a malicious challenger", () => {
  it("behavior: every demand is answered, nothing convicts, and the ticket is lost", async () => {
    const filed = await claimBy(ROLES.prover);
    const plaintiff = await sue(FIRST_PLAINTIFF, filed);
    await plaintiff.challenge();
    const { traceRoot } = await system.events.until("TraceCommitted", of(filed));
    const demanded = await plaintiff.demandAll(traceRoot);
    expect(demanded).toHaveLength(2);
    for (const { position, content } of demanded) {
      const revealed = await system.events.until("Revealed", (event) => {
        return of(filed)(event) && event.position === position;
      });
      expect(revealed.content).toEqual(content);
    }
    expect(await plaintiff.demandTooMuch(traceRoot)).toMatchObject({
      status: "refused",
      revert: { name: "QuotaUsed" },
    });
    expect(await plaintiff.convict()).toMatchObject({ status: "refused", revert: { name: "NoFault" } });
    await outlive(filed);
    const state = new StateReader(system.chain);
    const { claim } = filed.claimed;
    const paid = finalPayout(claim, 1, filed.request.fee);
    const proverAddress = systemAccount(ROLES.prover).address;
    expect(system.events.all("Credited", ({ account }) => account === proverAddress)).toEqual([
      { account: proverAddress, amount: paid.prover },
    ]);
    expect(paid.prover).toBe(claim.bond + claim.ticketBond / 2n + filed.request.fee);
    expect(await state.credits(plaintiff.account.address)).toBe(0n);
    expect(await plaintiff.collect()).toMatchObject({
      status: "refused",
      revert: { name: "ClaimNotFallen" },
    });
    expect(system.events.all("Fell", of(filed))).toEqual([]);
  });
});

describe("kill -9 in the middle of a dispute", () => {
  it("behavior: a prover that is started again answers in time and keeps its bond", async () => {
    const filed = await claimBy(ROLES.prover);
    const plaintiff = await sue(SECOND_PLAINTIFF, filed);
    await plaintiff.challenge();
    await system.events.until("Challenged", of(filed));
    prover = await killAndRestart(prover, ROLES.prover, PROVER_ARGS);
    const { traceRoot } = await system.events.until("TraceCommitted", of(filed));
    const demanded = await plaintiff.demandAll(traceRoot);
    await system.events.until("Demanded", of(filed));
    prover = await killAndRestart(prover, ROLES.prover, PROVER_ARGS);
    await system.events.when(
      () => system.events.all("Revealed", of(filed)).length === demanded.length || undefined,
      () => "Not every demand is answered",
    );
    await outlive(filed);
    expect(system.events.all("Fell", of(filed))).toEqual([]);
    expect(
      system.events.all("Claimed", ({ requestId }) => requestId === filed.requestId),
      "one claim, although two processes looked at the request",
    ).toHaveLength(1);
  });

  it("behavior: a challenger that is started again convicts and is paid once", async () => {
    const filed = await claimBy(CHEAT);
    const restart = async () => {
      challenger = await killAndRestart(challenger, ROLES.challenger, CHALLENGER_ARGS);
    };
    await system.events.until("Challenged", of(filed));
    await restart();
    await system.events.until("Demanded", of(filed));
    await restart();
    const fell = await system.events.until("Fell", of(filed));
    await restart();
    await system.events.until("Collected", of(filed));
    await challenger.said("challenger is up");
    expect(FALL_REASONS[fell.reason]).toBe("ELEMENT");
    expect(Number(fell.step)).toBe(1);
    const { address } = systemAccount(ROLES.challenger);
    expect(system.events.all("Challenged", of(filed)).map((event) => event.challenger)).toEqual([address]);
    expect(system.events.all("Demanded", of(filed))).toHaveLength(2);
    expect(system.events.all("Collected", of(filed)).map((event) => event.owner)).toEqual([address]);
  });
});
