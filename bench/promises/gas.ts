/** Gas of promises as whole transactions on a local chain: batches of right outputs, beside single claims. */

import { join } from "node:path";
import type { Hex } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { falsify } from "../../cli/demo/dishonest/faults.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { commitWeights } from "../../inference/commit/commitments.ts";
import { topsOf } from "../../inference/commit/reveal.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import { type LoadedModel, loadModelFolder } from "../../inference/model-folder.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import { type Batch, batchTree, joinLeaves } from "../../protocol/rules/promises/batch.ts";
import { compactLeaf } from "../../protocol/rules/promises/leaf.ts";
import { PROMISE_LIMITS } from "../../protocol/rules/promises/limits.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { createRng } from "../../test/support/rng.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { CHALLENGER, fileBondedClaim, PROVER } from "../bonded-claim.ts";
import { type BenchChain, eventOf } from "../chain.ts";
import { disputeToItsFall } from "../dispute.ts";
import { headline } from "../inference.ts";
import { grouped } from "../report.ts";
import { hexes } from "../worst-trace.ts";

/** A posted batch. */
export interface PostedBatch {
  readonly model: string;
  readonly count: number;
  /** bytes of the data, without the call's other arguments */
  readonly bytes: number;
  /** of the call: one for a zero byte, four for another (EIP-7623) */
  readonly tokens: number;
  /** of the whole transaction */
  readonly gas: number;
}

/** A request, its claim and its end. */
export interface SingleClaim {
  readonly model: string;
  readonly gas: number;
  /** of the three calls */
  readonly tokens: number;
}

/** Gas of a wrong leaf's way from its opening to the close of its claim. */
export type LeafDispute = readonly { readonly name: string; readonly gas: number }[];

/** wei, enough for every batch that is posted here */
const STAKE = 1_000n * 10n ** 18n;

interface Subject {
  readonly name: string;
  readonly loaded: LoadedModel;
  readonly prepared: PreparedModel;
  readonly modelId: ModelId;
  /** leaves of a transaction of 128 KB */
  readonly most: number;
  /** calldata of the i-th question, all distinct */
  readonly input: (i: number) => Uint8Array;
}

/** models/sentiment for headlines, models/forecast-eth for daily closes, highs and lows. */
export class PromiseBench {
  readonly #bench: BenchChain;
  readonly #actions: PromiseActions;
  readonly #subjects: readonly Subject[];
  #next = 1;

  private constructor(bench: BenchChain, actions: PromiseActions, subjects: readonly Subject[]) {
    this.#bench = bench;
    this.#actions = actions;
    this.#subjects = subjects;
  }

  static async open(bench: BenchChain): Promise<PromiseBench> {
    const actions = new PromiseActions(promisesOf(bench.chain.deployment), bench.chain.game);
    const subjects = [
      await open(bench, "sentiment", PROMISE_LIMITS.maxLeaves, headlines),
      await open(bench, "forecast-eth", 40, dailyPrices),
    ];
    await bench.send(PROVER, actions.deposit(PROVER.address, STAKE, "bench"));
    return new PromiseBench(bench, actions, subjects);
  }

  /** Posts batches of each model. @param counts leaves of each; more than a transaction holds count as the most */
  async batches(counts: readonly number[]): Promise<PostedBatch[]> {
    const posted: PostedBatch[] = [];
    for (const subject of this.#subjects) {
      const most = Math.min(Math.max(...counts), subject.most);
      const fitting = [...counts.filter((count) => count < most), most];
      for (const count of fitting) posted.push((await this.#post(subject, count)).posted);
    }
    return posted;
  }

  /** A claim on the chain of each model, whose prover has ended one before: its credit has a slot. */
  async singles(): Promise<SingleClaim[]> {
    const singles: SingleClaim[] = [];
    for (const subject of this.#subjects) {
      await this.#single(subject);
      singles.push(await this.#single(subject));
    }
    return singles;
  }

  /** A leaf of a batch of headlines has one wrong element in its last DOT step. */
  async dispute(count: number): Promise<LeafDispute> {
    const [subject] = this.#subjects as [Subject];
    const { prepared, loaded } = subject;
    const step = prepared.program.steps.findLastIndex(({ opcode }) => opcode === "dot");
    const wrong = Math.floor(count / 2);
    const cheat = (calldata: Uint8Array) => falsify(prepared, calldata, { kind: "element", step });
    const { batch, inputs, payloads, tree } = await this.#post(subject, count, (i, calldata, output) =>
      i === wrong ? cheat(calldata).output : output,
    );
    const calldata = inputs[wrong] as Uint8Array;
    const { deposit } = await new PromiseStateReader(this.#bench.chain).leafBonds(batch);
    const path = tree.pathOf(wrong).map((node) => toHex(node));
    const payload = toHex(payloads[wrong] as Uint8Array);
    const opening = this.#actions.openLeaf(batch, wrong, payload, path, deposit);
    const opened = await this.#bench.send(CHALLENGER, opening);
    const { claim } = eventOf(opened, "Claimed");
    const cheated = cheat(calldata);
    const { moves } = await disputeToItsFall(this.#bench, {
      ...{ prepared, weights: commitWeights(loaded.model), calldata, cheated, claim },
      commit: this.#actions.commitTrace(claim, hexes(topsOf(cheated.trace))),
    });
    const { request } = eventOf(opened, "Requested");
    const closed = await this.#bench.send(CHALLENGER, this.#actions.close(request, claim));
    return [
      { name: `openLeaf, of ${grouped(count)}`, gas: Number(opened.receipt.gasUsed) },
      ...moves.map(({ name, gas }) => ({ name, gas: Number(gas) })),
      { name: "close", gas: Number(closed.receipt.gasUsed) },
    ];
  }

  /** Posts right outputs, but for those that are changed. */
  async #post(
    { name, prepared, modelId, input }: Subject,
    count: number,
    change: (index: number, calldata: Uint8Array, output: Uint8Array) => Uint8Array = (_i, _c, output) =>
      output,
  ) {
    const { chain } = this.#bench;
    const word = await new StateReader(chain).model(modelId);
    if (word === undefined) throw new Error(`${name} is not registered.`);
    const inputs = Array.from({ length: count }, () => input(this.#next++));
    const payloads = inputs.map((calldata, i) =>
      compactLeaf(word, { input: calldata, output: change(i, calldata, execute(prepared, calldata)) }),
    );
    const tree = batchTree(payloads);
    const window = 4 * chain.constants.answerSeconds;
    const batch: Batch = { prover: PROVER.address, modelId, window, count, root: toHex(tree.root) };
    const data = joinLeaves(payloads);
    const action = this.#actions.post(batch, { ...batch, leafBond: 0n, data: toHex(data) });
    const { receipt } = await this.#bench.send(PROVER, action);
    const tokens = tokensOf(action.data);
    const posted = { model: name, count, bytes: data.length, tokens, gas: Number(receipt.gasUsed) };
    return { posted, batch, inputs, payloads, tree };
  }

  async #single({ name, prepared, modelId, input }: Subject): Promise<SingleClaim> {
    const bench = this.#bench;
    const calldata = input(this.#next++);
    const output = toHex(execute(prepared, calldata));
    const filed = await fileBondedClaim(bench, { modelId, input: toHex(calldata), output });
    const { windowEnd } = eventOf(filed.claimed, "Claimed");
    await bench.control.setNextBlockTimestamp({ timestamp: BigInt(windowEnd) });
    const end = await bench.send(PROVER, bench.actions.finalize(filed.request, filed.claim));
    let [gas, tokens] = [0, 0];
    for (const { receipt } of [filed.requested, filed.claimed, end]) {
      gas += Number(receipt.gasUsed);
      tokens += tokensOf((await bench.client.getTransaction({ hash: receipt.transactionHash })).input);
    }
    return { model: name, gas, tokens };
  }
}

/** EIP-7623: one for a zero byte, four for another. */
const tokensOf = (call: Hex): number => fromHex(call).reduce((sum, byte) => sum + (byte === 0 ? 1 : 4), 0);

async function open(
  bench: BenchChain,
  name: string,
  most: number,
  inputs: (loaded: LoadedModel) => (i: number) => Uint8Array,
): Promise<Subject> {
  const loaded = loadModelFolder(join(projectRoot, "models", name));
  const { model, commitment, selector, laneBits: lanes, manifest } = loaded;
  const identity = { ...commitment, selector, lanes, vkHash: fromHex(manifest.assay.vkHash) };
  const { modelId } = await bench.withSender((sender) =>
    registerModel(bench.chain, sender, encodeProgram(model.program), identity),
  );
  return { name, loaded, prepared: prepare(model, selector), modelId, most, input: inputs(loaded) };
}

/** Texts of some hundred bytes. */
function headlines({ model, selector }: LoadedModel) {
  const rng = createRng(22);
  return (i: number) => {
    const text = new TextEncoder().encode(`${i} ${headline(rng)}`).subarray(0, 100);
    return encodeInput(model.program, selector, { codec: "text", text });
  };
}

/** A random walk of prices with 8 decimals, a day later each time. */
function dailyPrices({ model, selector }: LoadedModel) {
  const rng = createRng(23);
  const days = model.program.inputSize;
  let price = 2_000n * 10n ** 8n;
  const next = () => {
    const close = price + (price * BigInt(rng.int(-500, 500))) / 10_000n;
    const top = close > price ? close : price;
    const bottom = close > price ? price : close;
    price = close;
    return { close, high: top + top / 300n, low: bottom - bottom / 300n };
  };
  const walk = Array.from({ length: days }, next);
  return () => {
    walk.shift();
    walk.push(next());
    const of = (kind: "close" | "high" | "low") => walk.map((day) => day[kind]);
    return encodeInput(model.program, selector, {
      ...{ codec: "prices", closes: of("close"), highs: of("high"), lows: of("low") },
    });
  };
}
