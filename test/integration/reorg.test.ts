import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { type DishonestRun, falsify } from "../../cli/demo/dishonest/faults.ts";
import { decodePosition } from "../../inference/commit/positions.ts";
import { revealAt, topsOf } from "../../inference/commit/reveal.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { bondsOf, finalPayout, gasPriceRange } from "../../protocol/rules/money.ts";
import { FALL_REASONS, type Request, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { fileCase, of } from "../support/cases.ts";
import { MaliciousChallenger } from "../support/malicious-challenger.ts";
import { eventWithBlock, signed, takeBack } from "../support/reorg.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** No deadline is at stake: the tests let the time pass. */
const ANSWER_SECONDS = 120;
const [MALICIOUS, RIVAL, CHEAT] = [ROLES.cheat, ROLES.cheat + 1, ROLES.cheat + 2];

let system: System;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  const never = "1000000000000000000000";
  const prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0", "--withdraw-above", never]);
  const challenger = system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]);
  await Promise.all([prover.logged("prover is up"), challenger.logged("challenger is up")]);
});

afterAll(() => system.stop());

const actions = () => new Actions(system.chain.game);
const addressOf = (index: number) => systemAccount(index).address;
type OfClaim = { readonly claimId: string };

/** A request. @param prover who alone may claim; absent: anybody */
async function ask(prover?: number) {
  const asked = await fileCase(system, prover);
  const claimed = () => eventWithBlock(system, "Claimed", ({ requestId }) => requestId === asked.requestId);
  return { ...asked, claimed };
}

/** The claim of this output on the request, by an account. */
async function claimAction({ request, output }: { request: Request; output: Uint8Array }) {
  const { constants, client } = system.chain;
  const { baseFeePerGas } = await client.getBlock();
  const gasPrice = gasPriceRange(constants, baseFeePerGas ?? 0n).greatest;
  const word = await new StateReader(system.chain).model(request.modelId);
  if (word === undefined) throw new Error("The model is not registered.");
  const { bond } = bondsOf(constants, { ...request, gasPrice, depth: word.depth, attempt: 0 });
  return actions().claim(request, 0, ZERO_ADDRESS, gasPrice, toHex(output), bond);
}

const lie = ({ model, calldata }: Awaited<ReturnType<typeof ask>>, step: number): DishonestRun =>
  falsify(prepare(model.model, model.selector), calldata, { kind: "element", step });

/** Lets window and dispute end. */
const outlive = ({ window }: Request) => system.passTime(window + ANSWER_SECONDS + 1);

describe("re-orgs under a prover", () => {
  it("behavior: a claim that is taken back is made again, and paid once", async () => {
    const asked = await ask(ROLES.prover);
    const first = await asked.claimed();
    await takeBack(system, first);
    await system.events.when(
      () =>
        system.events.events.find(({ name, block }) => name === "Claimed" && block.hash !== first.block.hash),
      () => "The claim is not made again",
    );
    const { args } = await asked.claimed();
    await outlive(asked.request);
    await system.events.until("Finalized", ({ requestId }) => requestId === asked.requestId);
    const credited = system.events.all("Credited", ({ account }) => account === addressOf(ROLES.prover));
    expect(credited.map(({ amount }) => amount)).toEqual([
      finalPayout(args.claim, 0, asked.request.fee).prover,
    ]);
    expect(args.claimId, "the same transaction, so the same claim").toBe(first.args.claimId);
  });

  it("behavior: trace and reveal that are taken back come again, and the claim stands", async () => {
    const asked = await ask(ROLES.prover);
    const { args: claimed } = await asked.claimed();
    const malicious = new MaliciousChallenger(
      await system.open("malicious-challenger", MALICIOUS),
      claimed,
      asked,
    );
    await malicious.challenge();
    await takeBack(system, await eventWithBlock(system, "TraceCommitted", of(claimed)));
    const { args } = await eventWithBlock(system, "TraceCommitted", of(claimed));
    const demanded = await malicious.demandAll(args.traceRoot);
    await takeBack(system, await eventWithBlock(system, "Revealed", of(claimed)));
    await system.events.when(
      () => system.events.all("Revealed", of(claimed)).length === demanded.length || undefined,
      () => "Not every demand is answered",
    );
    for (const { position, content } of demanded) {
      expect(
        system.events.all("Revealed", of(claimed)).find((event) => event.position === position)?.content,
      ).toEqual(content);
    }
    await outlive(asked.request);
    await system.events.until("Finalized", of(claimed));
    expect(system.events.all("Fell", of(claimed))).toEqual([]);
  });

  it("behavior: a claim that another takes the place of costs nothing; the other falls, and the request is served", async () => {
    const asked = await ask();
    const own = await asked.claimed();
    const rival = systemAccount(RIVAL);
    const { output } = lie(asked, 1);
    const other = await signed(system, rival, await claimAction({ ...asked, output }));
    await takeBack(system, own, [other]);
    const isRival = ({ requestId, claim }: { requestId: string; claim: { prover: string } }) =>
      requestId === asked.requestId && claim.prover === rival.address;
    const { args: swapped } = await eventWithBlock(system, "Claimed", isRival);
    await system.events.until("Challenged", of(swapped));
    await system.passTime(ANSWER_SECONDS + 1);
    const fell = await system.events.until("Fell", of(swapped));
    expect(FALL_REASONS[fell.reason]).toBe("TRACE_TIMEOUT");
    const { args: again } = await eventWithBlock(
      system,
      "Claimed",
      ({ requestId, claim }) => requestId === asked.requestId && claim.attempt === 1,
    );
    expect([again.claim.prover, again.output]).toEqual([addressOf(ROLES.prover), own.args.output]);
    await outlive(asked.request);
    await system.events.until("Finalized", of(again));
    const challenger = await system.events.until("Collected", of(swapped));
    expect(challenger.owner).toBe(addressOf(ROLES.challenger));
    expect(system.events.all("Challenged", of(again))).toEqual([]);
  });
});

describe("re-orgs under a challenger", () => {
  it("behavior: ticket and demand that are taken back come again; a trace that is swapped is followed", async () => {
    const asked = await ask(CHEAT);
    const { sender } = await system.open("cheat", CHEAT);
    const cheat = systemAccount(CHEAT);
    const [first, second] = [lie(asked, 1), lie(asked, 3)];
    await sender.send(await claimAction({ ...asked, output: first.output }));
    const { args: claimed } = await asked.claimed();
    await takeBack(system, await eventWithBlock(system, "Challenged", of(claimed)));
    await eventWithBlock(system, "Challenged", of(claimed));
    const { client } = system.chain;
    const nonce = await client.getTransactionCount({ address: cheat.address });
    const commit = ({ trace }: DishonestRun) =>
      actions().commitTrace(claimed.claim, topsOf(trace).map(toHex));
    // Sent without a journal: nobody brings the first trace back.
    const raw = await signed(system, cheat, commit(first), nonce);
    await client.sendRawTransaction({ serializedTransaction: raw });
    const onFirst = await eventWithBlock(system, "Demanded", of(claimed));
    await takeBack(system, onFirst);
    await eventWithBlock(system, "Demanded", of(claimed));
    const committed = await eventWithBlock(system, "TraceCommitted", of(claimed));
    expect(committed.args.traceRoot).toBe(toHex(first.trace.root));
    await takeBack(system, committed, [await signed(system, cheat, commit(second), nonce)]);
    const swapped = await eventWithBlock(
      system,
      "TraceCommitted",
      (event) => of(claimed)(event) && event.traceRoot === toHex(second.trace.root),
    );
    expect(swapped.args.traceRoot).not.toBe(committed.args.traceRoot);
    const fell = await answerUntilFall(sender, claimed, second);
    expect([FALL_REASONS[fell.reason], Number(fell.step)]).toEqual(["ELEMENT", 3]);
    const isCollected = async (): Promise<void> => {
      const { args } = await eventWithBlock(system, "Collected", of(claimed));
      expect(args.owner).toBe(addressOf(ROLES.challenger));
    };
    await isCollected();
    expect(system.events.all("Challenged", of(claimed))).toHaveLength(1);
    // Over for the challenger, and then not.
    const mined = await client.getBlockNumber();
    await expect.poll(() => client.getBlockNumber(), { timeout: 600_000 }).toBeGreaterThan(mined + 2n);
    await takeBack(system, await eventWithBlock(system, "Fell", of(claimed)));
    const again = await eventWithBlock(system, "Fell", of(claimed));
    expect(again.args).toEqual(fell);
    await isCollected();
  });

  /** Reveals whatever is demanded of the trace. */
  async function answerUntilFall(
    sender: Awaited<ReturnType<System["open"]>>["sender"],
    claimed: OfClaim & { readonly claim: Parameters<Actions["reveal"]>[0] },
    { trace }: DishonestRun,
  ) {
    const answered = new Set<bigint>();
    for (;;) {
      const next = await system.events.when(
        () =>
          system.events.all("Fell", of(claimed))[0] ??
          system.events.all("Demanded", of(claimed)).find(({ position }) => !answered.has(position)),
        () => "Neither a demand nor a fall",
      );
      if ("reason" in next) return next;
      const { content, path } = revealAt(trace, decodePosition(next.position));
      const action = actions().reveal(claimed.claim, next.position, content.map(toHex), path.map(toHex));
      expect(await sender.send(action)).toMatchObject({ status: "sent" });
      answered.add(next.position);
    }
  }
});
