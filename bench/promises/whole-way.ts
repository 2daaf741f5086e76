/** Signed answers from HTTP to the chain and back: a prover signs and posts them in batches, a cheat posts and signs wrong
 *  ones beside them, and a challenger runs all of it again from the chain's data and convicts what is wrong. */
import type { Daemon } from "../../cli/demo/processes.ts";
import { pause } from "../../protocol/chain/follower.ts";
import { batchIdOf } from "../../protocol/rules/promises/batch.ts";
import { renderPresented } from "../../protocol/rules/promises/presented.ts";
import { digestOf } from "../../protocol/rules/promises/signed-claim.ts";
import { sentimentPromises } from "../../test/support/promises/sentiment-promises.ts";
import { promisesBy } from "../../test/support/promises/signed-answers.ts";
import { ROLES, type System, startSystem, systemAccount } from "../../test/support/system.ts";
import { bundleProgram } from "../../tools/bundle.ts";
import type { Load } from "./http-load.ts";
import { PromiseLog } from "./promise-log.ts";
import { loadTogether } from "./together-load.ts";
import { type Watched, watchLeaves } from "./watch-leaves.ts";

export interface WholeWayOptions {
  /** signed by the prover's process, over HTTP */
  readonly answers: number;
  /** posted by the cheat, `WRONG_LEAVES` of each wrong */
  readonly cheatBatches: number;
  readonly cheatLeaves: number;
  /** signed by the cheat and handed to the challenger; every second is wrong */
  readonly cheatClaims: number;
  /** of the challenger's heap, MiB */
  readonly heapMib: number;
}

export interface WholeWay {
  readonly signed: Load;
  /** leaves of the prover on the chain, and the batches that hold them */
  readonly posted: { readonly leaves: number; readonly batches: number; readonly seconds: number };
  /** all leaves, the cheat's too */
  readonly leaves: number;
  readonly watched: Watched;
  readonly leavesPlanted: number;
  readonly claimsPlanted: number;
  /** of what was planted */
  readonly leavesFallen: number;
  readonly claimsFallen: number;
  /** promises that are right, and were opened or called wrong */
  readonly rightAccused: number;
}

export const WRONG_LEAVES = 3;
/** T: no window ends before the time is let pass. */
const ANSWER_SECONDS = 3_600;
const WEEK = 7 * 86_400;
const STAKE = 2_000n * 10n ** 18n;
const BATCH_SECONDS = "2";
/** The cheat's headlines are others than the prover's. */
const CHEAT_FROM = 10_000_000;
const LOOK_MS = 50;

export async function wholeWay(options: WholeWayOptions): Promise<WholeWay> {
  // Else the daemons make it, within the challenger's heap.
  await bundleProgram();
  const system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  const stopping = new AbortController();
  const log = new PromiseLog(system, stopping.signal);
  try {
    return await play(system, log, options);
  } finally {
    stopping.abort();
    await log.ended;
    await system.stop();
  }
}

async function play(system: System, log: PromiseLog, options: WholeWayOptions): Promise<WholeWay> {
  const { answers } = options;
  const honest = systemAccount(ROLES.prover).address;
  const staker = await system.open("staker", ROLES.requester + 10);
  const { actions, must } = promisesBy(staker);
  await must(actions.deposit(honest, STAKE, "honest"));
  const prover = system.daemon("prover", ROLES.prover, [
    ...["prover", "--port", "0", "--sign", "on", "--batch-seconds", BATCH_SECONDS, "--rate-per-minute", "0"],
  ]);
  const signed = await askAll(system, prover, answers);
  const since = performance.now();
  const ofHonest = () => log.all("Posted").filter((event) => event.prover === honest);
  const postedLeaves = () => ofHonest().reduce((sum, { batch }) => sum + batch.count, 0);
  await log.until(postedLeaves, answers);
  const posted = {
    ...{ leaves: postedLeaves(), batches: ofHonest().length },
    seconds: (performance.now() - since) / 1_000,
  };
  const cheat = await postWrong(system, options);
  const leaves = posted.leaves + options.cheatBatches * options.cheatLeaves;

  const challenger = system.daemon(
    "challenger",
    ROLES.challenger,
    [
      ...["challenger", "defend", "--port", "0", "--intake-port", "0", "--attention-seconds", "0"],
      ...["--max-exposure", "1000 ether", "--rate-per-minute", "0"],
    ],
    { env: { NODE_OPTIONS: `--max-old-space-size=${options.heapMib}` } },
  );
  const watched = await watchLeaves(challenger, leaves);
  const accused = await handOver(challenger, cheat);

  const wrongClaims = cheat.claims.filter(({ isWrong }) => isWrong);
  const planted = options.cheatBatches * WRONG_LEAVES + wrongClaims.length;
  const opened = () => log.all("LeafOpened").length + log.all("Opened").length;
  await log.until(opened, planted);
  const claims = [...log.all("LeafOpened"), ...log.all("Opened")].map(({ claimId }) => claimId);
  for (const id of claims) await system.events.until("Challenged", ({ claimId }) => claimId === id);
  // The cheat does not answer.
  await system.passTime(ANSWER_SECONDS + 1);
  await log.until(() => log.all("Closed").length, planted);
  const fallen = new Set(
    log
      .all("Closed")
      .filter((closed) => closed.fallen)
      .map(({ claimId }) => claimId),
  );
  const isPlanted = (batchId: string, index: number) =>
    cheat.batches.some(({ id, wrong }) => id === batchId && wrong.includes(index));
  const wrongDigests = new Set<string>(wrongClaims.map(({ digest }) => digest));
  const leafEvents = log.all("LeafOpened");
  const claimEvents = log.all("Opened");
  const plantedLeaves = leafEvents.filter(({ batchId, index }) => isPlanted(batchId, Number(index)));
  const plantedClaims = claimEvents.filter(({ digest }) => wrongDigests.has(digest));
  return {
    ...{ signed, posted, leaves, watched },
    leavesPlanted: options.cheatBatches * WRONG_LEAVES,
    claimsPlanted: wrongClaims.length,
    leavesFallen: plantedLeaves.filter(({ claimId }) => fallen.has(claimId)).length,
    claimsFallen: plantedClaims.filter(({ claimId }) => fallen.has(claimId)).length,
    rightAccused:
      leafEvents.length - plantedLeaves.length + (claimEvents.length - plantedClaims.length) + accused,
  };
}

/** Distinct headlines for signed answers that go into batches, as fast as they come. */
async function askAll(system: System, prover: Daemon, answers: number): Promise<Load> {
  const model = system.model("sentiment");
  const port = Number(new URL(String((await prover.logged("prover is up")).url)).port);
  const id = model.manifest.assay.modelId;
  const texts = (count: number) =>
    Array.from({ length: count }, (_, i) => `Company ${i} raises its outlook after a strong quarter`);
  // Until the prover has compared its journal with the chain it signs nothing.
  while ((await loadTogether(port, id, texts(1))).refused > 0) await pause(LOOK_MS, NEVER);
  return loadTogether(port, id, texts(answers), "?batch=true");
}

/** What the cheat has on the chain, and what it has signed. */
async function postWrong(system: System, options: WholeWayOptions) {
  const { cheatBatches, cheatLeaves, cheatClaims } = options;
  const opened = await system.open("cheat", ROLES.cheat);
  const { actions, must, reader } = promisesBy(opened);
  const { account } = opened.chain;
  const made = sentimentPromises(system.model("sentiment"), reader.at);
  const now = Number((await opened.chain.client.getBlock()).timestamp);
  await must(actions.deposit(account.address, STAKE, "cheat"));
  await must(actions.setSigner(account.address, now + WEEK));
  const batches = [];
  for (let i = 0; i < cheatBatches; i++) {
    const wrong = [0, (i * 37 + 1) % (cheatLeaves - 2), cheatLeaves - 1].map((at, n) =>
      n === 1 ? at + 1 : at,
    );
    const { batch, posting } = made.batch(account, CHEAT_FROM + i * cheatLeaves, cheatLeaves, wrong, WEEK);
    await must(actions.post(batch, posting));
    batches.push({ id: batchIdOf(reader.at, batch), wrong });
  }
  const claims = [];
  for (let i = 0; i < cheatClaims; i++) {
    const isWrong = i % 2 === 1;
    const presented = await made.sign(account, 2 * CHEAT_FROM + i, now, { isWrong });
    const form = JSON.stringify(renderPresented(reader.at, presented));
    claims.push({ digest: digestOf(reader.at, presented.claim), isWrong, form });
  }
  return { batches, claims };
}

/** Gives the challenger all signed claims of the cheat. @returns how many right ones it called wrong */
async function handOver(
  challenger: Daemon,
  { claims }: Awaited<ReturnType<typeof postWrong>>,
): Promise<number> {
  const { intakeUrl } = await challenger.logged("challenger is up");
  let accused = 0;
  for (const { isWrong, form } of claims) {
    const response = await fetch(`${intakeUrl}/v1/signed-claims`, {
      ...{ method: "POST", headers: { "Content-Type": "application/json" }, body: form },
    });
    const { verdict } = (await response.json()) as { verdict?: string };
    if (!isWrong && verdict !== "right") accused += 1;
  }
  return accused;
}

const NEVER = new AbortController().signal;
