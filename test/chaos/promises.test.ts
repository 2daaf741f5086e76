/** Promises under attack: a prover that is killed in the middle of everything, a cheat that defends its lie, cheats with
 *  little stake who open their own, stuff queues, leave and withhold, and re-orgs around post, opening and fall. */
import { keccak256, toHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { topsOf } from "../../inference/commit/reveal.ts";
import type { PromiseEvent } from "../../protocol/chain/promises/events.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { bondsOf, gasPriceRange } from "../../protocol/rules/money.ts";
import { type Batch, batchIdOf } from "../../protocol/rules/promises/batch.ts";
import { type Presented, renderPresented } from "../../protocol/rules/promises/presented.ts";
import { type Digest, digestOf, type PromisesAddress } from "../../protocol/rules/promises/signed-claim.ts";
import { type ClaimId, FALL_REASONS, type ModelId } from "../../protocol/rules/types.ts";
import { expectInOrder } from "../support/audit.ts";
import { of } from "../support/cases.ts";
import { honestRun, present } from "../support/lies.ts";
import { MaliciousChallenger } from "../support/malicious-challenger.ts";
import { ManualBlocks } from "../support/promises/manual-blocks.ts";
import { sentimentPromises } from "../support/promises/sentiment-promises.ts";
import { ask, calldataOf, presentedOf, promisesBy } from "../support/promises/signed-answers.ts";
import { createRng } from "../support/rng.ts";
import { scaled } from "../support/scale.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";
import { Victim } from "../support/victim.ts";

/** No deadline is at stake: the test lets the time pass. */
const ANSWER_SECONDS = 1_200;
const W0 = 4 * ANSWER_SECONDS;
const DAY = 86_400;
const ETHER = 10n ** 18n;
const [LIAR, OPENER, MALICIOUS, FIRST_SCRIPTED] = [4, 5, 6, 7];
/** Each takes four scripted accounts, and each turn below one. */
const ROUNDS = scaled(1, 2);
/** Where a re-org strikes; each is of another depth, and in more rounds each is of all. */
const STAGES = ["post", "leaf", "opening", "fall"] as const;
type Stage = (typeof STAGES)[number];
const DEEPEST = 8;
const TURNS = scaled(1, DEEPEST);
const depthOf = (turn: number, stage: Stage): number => 1 + ((turn + 5 * STAGES.indexOf(stage)) % DEEPEST);

let system: System;
let blocks: ManualBlocks;
let at: PromisesAddress;
let made: ReturnType<typeof sentimentPromises>;
let prover: Victim;
let liarUrl: string;
let intakeUrl: string;
let opener: Awaited<ReturnType<typeof open>>;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS, blocks: "manual" });
  blocks = new ManualBlocks(system);
  at = promisesOf(system.chain.deployment);
  made = sentimentPromises(system.model("sentiment"), at);
  opener = await open("opener", OPENER);
  for (const index of [ROLES.prover, LIAR])
    await blocks.during(
      opener.must(opener.actions.deposit(systemAccount(index).address, 10n * ETHER, `${index}`)),
    );
  const signs = ["--sign", "on", "--batch-seconds", "1"];
  prover = new Victim(ROLES.prover, "prover is up", () =>
    system.daemon("prover", ROLES.prover, ["prover", "--port", "0", ...signs]),
  );
  const liar = system.cheat("liar", LIAR, "element:1", ["--sign", "on"]);
  const args = ["challenger", "defend", "--intake-port", "0", "--attention-seconds", "0"];
  const challenger = system.daemon("challenger", ROLES.challenger, args);
  const up = Promise.all([
    liar.logged("prover is up"),
    challenger.logged("challenger is up"),
    prover.settled(),
  ]);
  const [liarUp, challengerUp] = await blocks.during(up);
  liarUrl = String(liarUp.url);
  intakeUrl = String(challengerUp.intakeUrl);
});

afterEach(async () => {
  await expectInOrder(system.chain);
});

afterAll(async () => {
  process.stdout.write(`promises under attack: ${await system.client.getBlockNumber()} blocks\n`);
  await blocks?.stop();
  await system?.stop();
});

async function open(name: string, index: number) {
  const opened = await system.open(name, index);
  return { ...opened, ...promisesBy(opened) };
}

const digest = ({ claim }: Presented): Digest => digestOf(at, claim);
const now = async () => Number((await system.client.getBlock()).timestamp);

/** Asks a daemon for a signed answer until it signs. @param query after finality */
async function askSigned(url: () => Promise<string>, text: string, query = ""): Promise<Presented> {
  for (;;) {
    const { status, body } = await ask(await url(), system.model("sentiment"), text, "signed", query);
    if (status === 200) return presentedOf(system.chain as never, body);
    await blocks.block();
  }
}

/** Hands a promise to the challenger until it has looked at the chain. @returns its verdict */
async function submit(presented: Presented): Promise<unknown> {
  for (;;) {
    const response = await fetch(`${intakeUrl}/v1/signed-claims`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(renderPresented(at, presented)),
    });
    const { verdict, error } = (await response.json()) as { verdict?: string; error?: { code: string } };
    if (error?.code !== "CHAIN_NOT_READ_YET" && error?.code !== "COULD_NOT_CHECK") return verdict ?? error;
    await blocks.block();
  }
}

const openedAs = (presented: Presented) =>
  blocks.all("Opened", (args) => args.digest === digest(presented)).at(-1);
const closedAs = (presented: Presented) => {
  const opened = openedAs(presented);
  return blocks.all("Closed", ({ claimId }) => claimId === opened?.claimId).at(-1);
};
const fallOf = (presented: Presented) => {
  const opened = openedAs(presented);
  const fall = system.events.all("Fell", ({ claimId }) => claimId === opened?.claimId).at(-1);
  return fall && FALL_REASONS[fall.reason];
};

describe("kill -9 of a prover that signs", () => {
  it("behavior: a batch is posted once, and an opened claim is defended and won", async () => {
    const url = async () => String((await prover.settled()).url);
    const text = "Profit rises above all estimates";
    // Killed while the batch waits to be mined, and while moves of the defence do; one that came and was mined between
    // two looks at what waits, just after that.
    const stages = ["post", "commitTrace", "reveal"];
    const isMined = (stage: string) => prover.strike(stage, stage);
    blocks.beforeBlock = async (waiting) => {
      for (const { from, move } of waiting)
        if (from === prover.address && stages.includes(move)) prover.strike(move, move);
      await prover.settled();
    };
    const opened = await askSigned(url, text, "&batch=true");
    const posted = () => blocks.all("Posted", (args) => args.prover === prover.address);
    await blocks.until("the batch", () => posted().length > 0);
    isMined("post");
    const { deposit } = await opener.reader.check(opened);
    await blocks.during(opener.must(opener.actions.open(opened, deposit)));
    await blocks.until("the claim", () => openedAs(opened) !== undefined);
    const { claimId } = openedAs(opened) as NonNullable<ReturnType<typeof openedAs>>;
    const claimed = await system.events.until("Claimed", of({ claimId }));
    const model = system.model("sentiment");
    const malicious = new MaliciousChallenger(await system.open("malicious", MALICIOUS), claimed, {
      ...{ model, calldata: calldataOf(model, text) },
    });
    await blocks.during(malicious.challenge());
    await blocks.until("the trace", () => system.events.all("TraceCommitted", of({ claimId })).length > 0);
    isMined("commitTrace");
    const { traceRoot } = await system.events.until("TraceCommitted", of({ claimId }));
    const demanded = await blocks.during(malicious.demandAll(traceRoot));
    await blocks.until(
      "every answer",
      () => system.events.all("Revealed", of({ claimId })).length === demanded.length,
    );
    isMined("reveal");
    await prover.settled();
    blocks.beforeBlock = () => undefined;
    await blocks.passTime(DAY + W0 + ANSWER_SECONDS + 1);
    await blocks.until("the end of the claim", () => closedAs(opened) !== undefined);
    expect(closedAs(opened)).toMatchObject({ fallen: false });
    expect(system.events.all("Fell")).toEqual([]);
    expect(posted()).toHaveLength(1);
    expect(prover.kills.sort()).toEqual(stages.sort());
  });
});

describe("a cheat that defends what it signed", () => {
  it("behavior: the dispute goes down to an element, and its stake is paid out", async () => {
    const wrong = await askSigned(async () => liarUrl, "Losses everywhere");
    const liar = systemAccount(LIAR).address;
    const before = await opener.reader.account(liar);
    expect(await submit(wrong)).toBe("wrong");
    await blocks.until("the fall", () => closedAs(wrong) !== undefined);
    expect([fallOf(wrong), closedAs(wrong)?.fallen]).toEqual(["ELEMENT", true]);
    const { claimId, deposit } = openedAs(wrong) as NonNullable<ReturnType<typeof openedAs>>;
    const { claim } = await system.events.until("Claimed", of({ claimId }));
    const after = await opener.reader.account(liar);
    expect(before.free - after.free).toBe(claim.bond);
    await blocks.until("the share", () => system.events.all("Collected", of({ claimId })).length > 0);
    const [collected] = system.events.all("Collected", of({ claimId }));
    const challenger = systemAccount(ROLES.challenger).address;
    expect(collected).toMatchObject({ owner: challenger, amount: claim.ticketBond + claim.bond / 2n });
    expect(blocks.all("Credited", ({ account }) => account === challenger).at(-1)?.amount).toBe(deposit);
  });
});

/** A cheat that a script plays: its stake is so many bonds, in tenths. */
async function scripted(index: number, tenths: number) {
  const account = await open(`scripted-${index}`, index);
  const { address } = account.chain.account;
  const key = systemAccount(index);
  const stake = ((await bondOfNow()) * BigInt(tenths)) / 10n;
  await account.must(account.actions.deposit(address, stake, keccak256(toHex(`${index}`))));
  await account.must(account.actions.setSigner(address, (await now()) + 60 * DAY));
  return { ...account, key, address };
}

type Scripted = Awaited<ReturnType<typeof scripted>>;

/** Of a claim on the model now, wei. */
async function bondOfNow(): Promise<bigint> {
  const { modelId } = system.model("sentiment");
  const [block, word] = await Promise.all([
    system.client.getBlock(),
    new StateReader(system.chain).model(modelId as ModelId),
  ]);
  const { constants } = system.chain;
  const gasPrice = gasPriceRange(constants, block.baseFeePerGas ?? 0n).least;
  return bondsOf(constants, { gasPrice, depth: word?.depth ?? 0, minBond: 0n, attempt: 0 }).bond;
}

/** Numbers of headlines, each used once. */
let headline = 10_000;
let nextScripted = 0;
const scriptedIndex = () => FIRST_SCRIPTED + nextScripted++;

/** A run of a headline with an element changed, and its output, so that nobody shows the fault without an answer. */
function lieAbout(i: number) {
  const { model, selector } = system.model("sentiment");
  const run = honestRun({ model, selector, calldata: made.answer(i).input });
  const last = model.program.steps.length - 1;
  const bytes = [1, last].map((step) => ({ step, at: 0, flip: 1 }));
  return present(run, { bytes, follows: false, output: "own" });
}

const leafOf = (batch: Batch) => () =>
  blocks.all("LeafOpened", ({ batchId }) => batchId === batchIdOf(at, batch)).at(-1);

type Claimed = () => { readonly claimId: ClaimId } | undefined;
const isDisputed = (claimed: Claimed): boolean => {
  const opened = claimed();
  return opened !== undefined && system.events.all("Challenged", of(opened)).length > 0;
};
const isClosed = (claimed: Claimed): boolean =>
  blocks.all("Closed", ({ claimId, fallen }) => fallen && claimId === claimed()?.claimId).length > 0;

/** The challenger opens and disputes them; nobody answers, and time passes. */
async function letFall(...all: readonly Claimed[]): Promise<void> {
  await blocks.until("the dispute of all that is wrong", () => all.every(isDisputed));
  await blocks.passTime(ANSWER_SECONDS + 1);
  await blocks.until("the fall of all that is wrong", () => all.every(isClosed));
}

describe("cheats without a daemon", () => {
  it.each(Array.from({ length: ROUNDS }, (_, i) => i))(
    "behavior: self-openers, stuffed queues, little stake, exits and withheld answers, round %i",
    async (round) => {
      const rng = createRng(round);
      const tenths = [100 + rng.int(0, 50), 11 + rng.int(0, 8), 11 + rng.int(0, 8), 30 + rng.int(0, 20)];
      const [silent, poor, stuffer, leaver] = (await blocks.during(
        Promise.all(tenths.map((stake) => scripted(scriptedIndex(), stake))),
      )) as [Scripted, Scripted, Scripted, Scripted];
      const sign = async ({ key }: Scripted, isWrong: boolean) =>
        made.sign(key, headline++, await now(), { isWrong });
      // Right ones that its friend opens first take all stake, and fill the queue.
      const right = [await sign(stuffer, false), await sign(stuffer, false)];
      for (const presented of right) {
        const { deposit } = await opener.reader.check(presented);
        await blocks.during(opener.must(opener.actions.open(presented, deposit)));
      }
      const left = await sign(leaver, true);
      const { free } = await leaver.reader.account(leaver.address);
      await blocks.during(leaver.must(leaver.actions.announceExit(free, `${round}`)));
      const count = rng.int(5, 12);
      const wrongLeaf = rng.int(0, count - 1);
      const { batch, posting } = made.batch(silent.key, headline, count, [wrongLeaf], W0 + rng.int(0, DAY));
      headline += count;
      await blocks.during(silent.must(silent.actions.post(batch, posting)));
      // Opened by whoever signed it: it is a claim as any other, and the deposit that comes back is all that is gained.
      const lie = lieAbout(headline);
      const own = await made.sign(silent.key, headline++, await now(), { stated: lie.output });
      const { deposit } = await silent.reader.check(own);
      await blocks.during(silent.must(silent.actions.open(own, deposit)));
      const wrong = [await sign(silent, true), await sign(stuffer, true), left, await sign(poor, true)];
      const unbacked = await sign(poor, true);
      for (const presented of [...wrong, unbacked]) expect(await submit(presented)).toBe("wrong");
      for (const presented of right) expect(await submit(presented)).not.toBe("wrong");

      const [ofSilent, ofStuffer, ofLeaver, ofPoor] = wrong as [Presented, Presented, Presented, Presented];
      const leaf = leafOf(batch);
      // Of this one a trace is shown, and nothing more.
      const ofOwn = openedAs(own) as NonNullable<ReturnType<typeof openedAs>>;
      await blocks.until("the dispute of what is opened by its own", () => isDisputed(() => ofOwn));
      const { claim } = await system.events.until("Claimed", of({ claimId: ofOwn.claimId }));
      const tops = topsOf(lie.trace).map((top) => toHex(top));
      await blocks.during(silent.must(silent.actions.commitTrace(claim, tops)));
      await blocks.until("a demand", () => system.events.all("Demanded", of(ofOwn)).length > 0);
      await letFall(leaf, ...[ofSilent, ofLeaver, ofPoor].map((presented) => () => openedAs(presented)));
      expect((await opener.reader.batch(batchIdOf(at, batch)))?.fallen).toBe(true);
      await blocks.until("the share", () => system.events.all("Collected", of(ofOwn)).length > 0);
      expect(fallOf(own)).toBe("DEMAND_TIMEOUT");
      // What holds the stake and is over is booked by the challenger: the cheat does not.
      const [first, second] = right as [Presented, Presented];
      await blocks.passTime(DAY + W0 + 1);
      await blocks.until("the next of the queue", () => openedAs(second) !== undefined);
      expect(closedAs(first)?.fallen).toBe(false);
      await blocks.passTime(W0 + 1);
      await letFall(() => openedAs(ofStuffer));
      expect(closedAs(second)?.fallen).toBe(false);

      expect(wrong.map(fallOf)).toEqual(wrong.map(() => "TRACE_TIMEOUT"));
      expect(right.map(fallOf)).toEqual([undefined, undefined]);
      const finals = system.events.all("Finalized").map(({ claimId }) => claimId);
      for (const presented of [...wrong, unbacked])
        expect(finals).not.toContain(openedAs(presented)?.claimId);
      expect((await leaver.reader.account(leaver.address)).leaving).toBeLessThan(free);
    },
  );
});

describe("re-orgs around promises", () => {
  const turns = Array.from({ length: TURNS }, (_, turn) => turn);
  it.each(turns)("behavior: of 1 to 8 blocks, at post, openings and fall, turn %i", async (turn) => {
    const cheat = await blocks.during(scripted(scriptedIndex(), 100));
    const wrong = await made.sign(cheat.key, headline++, await now(), { isWrong: true });
    const right = await made.sign(cheat.key, headline++, await now());
    const count = 4;
    const { batch, posting } = made.batch(cheat.key, headline, count, [2], 7 * DAY);
    headline += count;
    const id = batchIdOf(at, batch);
    const taken = new Set<Stage>();
    /** Takes back the first event of a stage, with as many blocks as the stage's depth says. */
    const strike = async () => {
      const stageOf = (event: PromiseEvent): Stage | undefined => {
        const { name, args } = event;
        if (name === "Posted" && args.batchId === id) return "post";
        if (name === "LeafOpened" && args.batchId === id) return "leaf";
        if (name === "Opened" && args.digest === digest(wrong)) return "opening";
        return name === "Closed" && [id, digest(wrong)].includes(args.origin as never) ? "fall" : undefined;
      };
      const found = blocks.events
        .map((event) => ({ event, stage: stageOf(event) }))
        .find(({ stage }) => stage !== undefined && !taken.has(stage));
      if (found?.stage === undefined) return;
      taken.add(found.stage);
      await takeBack(found.event, depthOf(turn, found.stage));
    };
    await blocks.during(cheat.must(cheat.actions.post(batch, posting)));
    await strike();
    expect(await submit(right)).toBe("right");
    expect(await submit(wrong)).toBe("wrong");
    const both = [leafOf(batch), () => openedAs(wrong)];
    const isThere = (test: (claimed: Claimed) => boolean) => async () => {
      await strike();
      return both.every(test);
    };
    // A re-org takes back openings and tickets, and the time that passed, too.
    for (let tries = 0; taken.size < STAGES.length || !both.every(isClosed); tries++) {
      if (tries === DEEPEST) throw new Error(`It does not end; these stages were seen: ${[...taken]}.`);
      await blocks.until("the dispute of both", isThere(isDisputed));
      await blocks.passTime(ANSWER_SECONDS + 1);
      let left = 24;
      await blocks.until("the fall of both", async () => (await isThere(isClosed)()) || --left === 0);
    }
    // What follows takes nothing of this back.
    await system.control.mine({ blocks: DEEPEST });
    expect([...taken].sort()).toEqual([...STAGES].sort());
    expect(openedAs(right)).toBeUndefined();
    expect(blocks.all("Opened", (args) => args.digest === digest(wrong))).toHaveLength(1);
    expect(blocks.all("LeafOpened", ({ batchId }) => batchId === id).map(({ index }) => index)).toEqual([2n]);
  });
});

/** Takes back the event's block and what is above it, so many blocks at least. */
async function takeBack({ block }: PromiseEvent, depth: number): Promise<void> {
  const head = await system.client.getBlockNumber();
  const own = Number(head - block.number) + 1;
  if (own < depth) await system.control.mine({ blocks: depth - own });
  const params = [Math.max(own, depth), []];
  await system.control.request({ method: "anvil_reorg", params } as never);
  await blocks.until(
    "the re-org",
    () => ![...blocks.events, ...system.events.events].some((event) => event.block.hash === block.hash),
  );
}
