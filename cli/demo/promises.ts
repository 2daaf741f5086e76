/** The demo's agent that buys answers by the hundred: signed at once, run again here, final together in one batch. */
import { type Address, type Hex, keccak256 } from "viem";
import { equalBytes, fromHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { meaningOf } from "../../inference/meaning/read.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import { pause } from "../../protocol/chain/follower.ts";
import { requireAccepted } from "../../protocol/chain/promises/accept.ts";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import { promiseHistory } from "../../protocol/chain/promises/events.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import type { Sender, SigningChain } from "../../protocol/chain/sender.ts";
import type { Batch, BatchId } from "../../protocol/rules/promises/batch.ts";
import { type Presented, parsePresented, renderPresented } from "../../protocol/rules/promises/presented.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import { LANE, type ModelId, type RequestId } from "../../protocol/rules/types.ts";
import type { Progress } from "./progress.ts";

const STAKE = 2n * 10n ** 18n;
const ANSWERS = 200;
/** The one that the agent buys from the cheat. */
const CHEATED = 138;
/** Time that must be left to show a signed claim, seconds. */
const LEAST_SECONDS = 3_600;
const POLL_MS = 200;

/** Where the agent buys, and where it reports. */
export interface Market {
  readonly chain: Chain;
  /** models/sentiment */
  readonly loaded: LoadedModel;
  /** URLs of provers */
  readonly honest: string;
  readonly cheat: string;
  /** URL at which a challenger takes signed claims */
  readonly challenger: string;
  /** of Assay, so far; it grows */
  readonly events: readonly ChainEvent[];
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

interface Answer {
  readonly digest: Digest;
  readonly presented: Presented;
}

/** What stands behind all that these provers sign. */
export async function depositStakes(
  chain: SigningChain,
  sender: Sender,
  provers: readonly Address[],
): Promise<void> {
  const actions = new PromiseActions(promisesOf(chain.deployment), chain.game);
  for (const prover of provers) await sender.send(actions.deposit(prover, STAKE, "demo"));
}

/** @param single a request that a claim on the chain answered, to compare gas with */
export async function buyHeadlines(market: Market, single: RequestId): Promise<void> {
  const { chain, loaded, progress, honest, cheat } = market;
  await Promise.all([honest, cheat].map((url) => untilItSigns(market, url)));
  const texts = Array.from({ length: ANSWERS }, (_, i) => headline(i));
  const start = performance.now();
  const answers = await Promise.all(
    texts.map((text, i) =>
      i === CHEATED ? buy(market, cheat, text, false) : buy(market, honest, text, true),
    ),
  );
  progress.log(`${ANSWERS} signed answers over HTTP in ${Math.round(performance.now() - start)} ms`);
  await Promise.all(answers.map(({ presented }) => requireAccepted(chain, presented, LEAST_SECONDS)));
  progress.log(`the chain says of all ${ANSWERS} that their signers' stake stands behind them`);
  const prepared = prepare(loaded.model, loaded.selector);
  const wrong = answers.filter(({ presented: { input, output } }) => {
    return !equalBytes(execute(prepared, fromHex(input)), fromHex(output));
  });
  for (const { presented } of wrong) {
    const { input, output } = presented;
    const meant = (bytes: Uint8Array) => meaningOf(loaded.manifest.assay, bytes).meaning?.text;
    const [signed, computed] = [fromHex(output), execute(prepared, fromHex(input))].map(meant);
    progress.log(`run again here, one differs: signed was "${signed}", computed is "${computed}"`);
  }
  await Promise.all(wrong.map((answer) => report(market, answer)));
  const right = answers.filter((answer) => !wrong.includes(answer));
  const [fallen, gas] = await Promise.all([
    Promise.all(wrong.map((answer) => untilFallen(market, answer))),
    untilAllAreFinal(market, right),
  ]);
  progress.log(`${fallen.length} signed claim was opened and convicted; its prover lost the bond`);
  const singleGas = await gasOf(market, single);
  progress.log(
    `${right.length} answers are final in ${gas.batches} batch${gas.batches === 1 ? "" : "es"}: ${Math.round(gas.total / right.length).toLocaleString("en-US")} gas each, ${singleGas.toLocaleString("en-US")} for a claim of its own`,
  );
}

const headline = (i: number): string =>
  `Company ${i + 1} ${i % 3 === 0 ? "beats estimates and lifts its outlook" : i % 3 === 1 ? "cuts its dividend after a loss" : "will hold its annual meeting in May"}`;

/** Asks until the prover has bound its key and looked at its stake. */
async function untilItSigns(market: Market, url: string): Promise<void> {
  for (;;) {
    const { response, body } = await post(market, `${url}/v1/tools/sentiment?finality=signed`, {
      text: "Hello",
    });
    if (response.ok) return;
    if (body.error?.code !== "SIGNING_PAUSED") throw refused(url, body);
    await pause(POLL_MS, market.signal);
  }
}

async function buy(market: Market, url: string, text: string, isBatched: boolean): Promise<Answer> {
  const query = `finality=signed&batch=${isBatched}`;
  const { response, body } = await post(market, `${url}/v1/tools/sentiment?${query}`, { text });
  if (!response.ok) throw refused(url, body);
  const presented = parsePresented(promisesOf(market.chain.deployment), body.signedClaim);
  return { digest: body.digest as Digest, presented };
}

async function report(market: Market, { presented }: Answer): Promise<void> {
  const form = renderPresented(promisesOf(market.chain.deployment), presented);
  const { response, body } = await post(market, `${market.challenger}/v1/signed-claims`, form);
  if (!response.ok) throw refused(market.challenger, body);
  market.progress.log("handed to a challenger, who runs it again and opens it as a claim on the chain");
}

async function untilFallen(market: Market, { digest }: Answer): Promise<void> {
  const history = () => promiseHistory(market.chain, digest);
  while (!(await history()).some(({ name, args }) => name === "Closed" && args.fallen)) {
    market.signal.throwIfAborted();
    await pause(POLL_MS, market.signal);
  }
}

/** @returns gas of the batches' transactions */
async function untilAllAreFinal(
  { chain, loaded, honest, signal }: Market,
  answers: readonly Answer[],
): Promise<{ readonly batches: number; readonly total: number }> {
  const reader = new PromiseStateReader(chain);
  const batches = new Set<BatchId>();
  for (const { digest, presented } of answers) {
    for (;;) {
      const response = await fetch(`${honest}/v1/signed-claims/${digest}`, { signal });
      const { status, leaf } = (await response.json()) as { status: string; leaf?: Leaf };
      if (status === "final" && leaf !== undefined) {
        await requireFinal(reader, chain, loaded, leaf, presented);
        batches.add(leaf.batchId);
        break;
      }
      await pause(POLL_MS, signal);
    }
  }
  let total = 0;
  for (const id of batches) {
    const [posted] = await promiseHistory(chain, id);
    if (posted === undefined) throw new RangeError(`batch ${id} is gone`);
    const { gasUsed } = await chain.client.getTransactionReceipt({ hash: posted.transactionHash });
    total += Number(gasUsed);
  }
  return { batches: batches.size, total };
}

interface Leaf {
  readonly batchId: BatchId;
  readonly batch: Batch;
  readonly index: number;
  readonly payload: Hex;
  readonly path: readonly Hex[];
}

/** As a contract would read it. */
async function requireFinal(
  reader: PromiseStateReader,
  { constants }: Chain,
  { modelId }: LoadedModel,
  { batch, index, payload, path }: Leaf,
  { input, output }: Presented,
): Promise<void> {
  const policy = {
    ...{ modelId: modelId as ModelId, inputHash: keccak256(input), lanes: LANE.BOND },
    ...{ minBond: 0n, minWindow: 4 * constants.answerSeconds },
  };
  const read = await reader.requireFinalLeaf(batch, index, payload, path, policy);
  if (read !== output) throw new RangeError(`leaf ${index} holds another output than was signed`);
}

/** Of a request, its claim and its end. */
async function gasOf({ chain, events }: Market, id: RequestId): Promise<number> {
  const about = events.filter(
    ({ name, args }) =>
      (name === "Requested" || name === "Claimed" || name === "Finalized") && args.requestId === id,
  );
  const used = about.map(async ({ transactionHash: hash }) =>
    Number((await chain.client.getTransactionReceipt({ hash })).gasUsed),
  );
  return (await Promise.all(used)).reduce((sum, gas) => sum + gas, 0);
}

interface Body {
  readonly error?: { readonly code: string; readonly message?: string };
  readonly digest?: string;
  readonly signedClaim?: unknown;
}

async function post({ signal }: Market, url: string, body: unknown) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal });
  return { response, body: (await response.json()) as Body };
}

const refused = (url: string, { error }: Body): BaseError =>
  new BaseError({
    code: error?.code ?? "ANSWER_UNREADABLE",
    shortMessage: `${url} refused: ${error?.message ?? "it gave no reason"}.`,
    nextStep: "Run the demonstration again, and read the daemons' logs with --keep.",
  });
