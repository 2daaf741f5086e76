/** A history in which every event of the contract occurs, played in an EVM of this process. */
import { type Address, encodeFunctionData, keccak256 } from "viem";
import { toHex } from "../../base/bytes.ts";
import { loadArtifacts } from "../../cli/artifacts.ts";
import { decodePosition, encodePosition } from "../../inference/commit/positions.ts";
import { revealAt, topsOf } from "../../inference/commit/reveal.ts";
import { type Action, Actions } from "../../protocol/chain/actions.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import { iAssayAbi } from "../../protocol/rules/generated/abis.ts";
import { claimIdOf } from "../../protocol/rules/ids.ts";
import { bondsOf } from "../../protocol/rules/money.ts";
import { type Claim, LANE, type ModelId, type Request, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { LOCAL_CONSTANTS } from "./deploy.ts";
import { ALL_LANES, echoModel, type Side } from "./echo-model.ts";
import { EvmWorld } from "./evm-world.ts";
import { addressOf } from "./game-table.ts";
import { compileTruthParts } from "./truth-parts.ts";

export interface TimedEvent {
  readonly event: ChainEvent;
  /** second of its block */
  readonly timestamp: number;
}

const [REQUESTER, PROVER, ANN, BEN, SUBMITTER] = [1, 2, 3, 4, 5].map((n) => addressOf(0x400 + n)) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
/** Four bytes: an audit of so many forgeries hashes them often. */
const MODEL = echoModel(1, 4);
const { traces, outputs, input: INPUT } = MODEL;
/** The one position of its trace. */
const POSITION = encodePosition({ step: 0, level: 0, index: 0 });
const GAS_PRICE = 2n * LOCAL_CONSTANTS.gasPriceFloor;
const T = LOCAL_CONSTANTS.answerSeconds;
const WINDOW = 4 * T;
/** A week, after which nobody has to deliver any more. */
const WEEK = 7 * 86_400;

export class History {
  readonly events: TimedEvent[] = [];
  readonly world: EvmWorld;
  readonly #actions: Actions;
  readonly #modelId: ModelId;
  readonly #listener: Address;
  readonly #refuser: Address;
  #now = 1_000;
  #salt = 0n;

  private constructor(world: EvmWorld, modelId: ModelId, listener: Address, refuser: Address) {
    this.world = world;
    this.#actions = new Actions(world.game);
    this.#modelId = modelId;
    this.#listener = listener;
    this.#refuser = refuser;
  }

  /** @returns after every move is played */
  static async play(): Promise<History> {
    const parts = compileTruthParts();
    const world = await EvmWorld.open({ ...loadArtifacts(), ProofLane: parts.Liar }, LOCAL_CONSTANTS);
    const { modelId, events } = await world.register(MODEL.program, MODEL.identity);
    const history = new History(
      world,
      modelId,
      await world.create(parts.Listener),
      await world.create(parts.Refuser),
    );
    history.#keep(events);
    await history.#play();
    return history;
  }

  async #play(): Promise<void> {
    await this.#finalWithDelivery();
    await this.#disputedAndFinal();
    await this.#falls();
    await this.#truths();
    await this.#expired();
    const to = this.world.game.assay;
    for (const from of [PROVER, ANN, SUBMITTER]) await this.#move(from, this.#actions.withdraw(from, ""));
    const abi = iAssayAbi;
    await this.#move(ANN, { to, data: encodeFunctionData({ abi, functionName: "pullBurn" }), value: 0n });
    const truth = { lane: LANE.PROOF, evidence: "0x01", submitter: ANN } as const;
    const truths = [
      { ...truth, output: outputs.right },
      { ...truth, output: outputs.wrong },
    ] as const;
    const args = [this.#modelId, INPUT, ...truths] as const;
    await this.#move(ANN, {
      ...{ to, data: encodeFunctionData({ abi, functionName: "haltProof", args }), value: 0n },
    });
  }

  /** Final by time; a callback that refuses, then one that takes it; a fee that nobody earned. */
  async #finalWithDelivery(): Promise<void> {
    for (const callback of [this.#listener, this.#refuser]) {
      const request = await this.#request({ callback, callbackGas: 50_000, deliveryFee: 77n });
      const claim = await this.#claim(request, "right");
      this.#now += WINDOW;
      await this.#move(ANN, this.#actions.finalize(request, claim));
      await this.#move(BEN, this.#actions.deliver(request, claim, outputs.right));
      if (callback === this.#listener) continue;
      this.#now += WEEK;
      await this.#move(BEN, this.#actions.reclaimDelivery(request));
    }
  }

  async #disputedAndFinal(): Promise<void> {
    const request = await this.#request();
    const claim = await this.#claim(request, "right");
    await this.#dispute(claim, "right");
    await this.#reveal(claim, "right");
    this.#now += 12 * T;
    await this.#move(BEN, this.#actions.finalize(request, claim));
  }

  /** One fall of each kind that a court finds, on one request: its bond doubles. */
  async #falls(): Promise<void> {
    const request = await this.#request();
    const late = await this.#claim(request, "wrong", 0);
    await this.#move(ANN, this.#actions.challenge(late));
    this.#now += T + 1;
    await this.#move(ANN, this.#actions.timeoutTrace(late));
    await this.#move(BEN, this.#actions.collect(late, ANN));
    const silent = await this.#claim(request, "wrong", 1);
    await this.#dispute(silent, "wrong");
    this.#now += T + 1;
    await this.#move(ANN, this.#actions.timeoutDemand(silent, POSITION));
    const wrong = await this.#claim(request, "wrong", 2);
    await this.#dispute(wrong, "wrong");
    const root = toHex((traces.wrong.tensors[0] as { root: Uint8Array }).root);
    await this.#move(BEN, this.#actions.convictCodec(request, wrong, 0, INPUT, root, []));
    await this.#move(BEN, this.#actions.collect(wrong, ANN));
    await this.#move(BEN, this.#actions.collect(wrong, BEN));
    const other = await this.#claim(request, "wrong", 3);
    await this.#dispute(other, "right");
    await this.#move(
      BEN,
      this.#actions.convictOutput(other, outputs.wrong, MODEL.wrongAt, [MODEL.openings.right]),
    );
  }

  async #truths(): Promise<void> {
    const lanes = { lanes: ALL_LANES };
    const alone = await this.#request(lanes);
    await this.#settle(alone, undefined, LANE.EXECUTION);
    const agreed = await this.#request(lanes);
    await this.#settle(agreed, await this.#claim(agreed, "right"), LANE.PROOF);
    const refuted = await this.#request(lanes);
    const claim = await this.#claim(refuted, "wrong");
    await this.#dispute(claim, "wrong");
    await this.#settle(refuted, claim, LANE.PROOF);
    await this.#move(BEN, this.#actions.collect(claim, ANN));
    const [free, busy, lying] = [
      await this.#request(lanes),
      await this.#request(lanes),
      await this.#request(lanes),
    ];
    const settlements = [
      { request: free, claim: undefined },
      { request: busy, claim: await this.#claim(busy, "right") },
      { request: lying, claim: await this.#claim(lying, "wrong") },
    ].map((one) => ({ ...one, input: INPUT, output: outputs.right, evidence: "0x01" as const }));
    await this.#move(SUBMITTER, this.#actions.settleBatch(this.#modelId, SUBMITTER, settlements));
  }

  async #expired(): Promise<void> {
    const request = await this.#request();
    this.#now = request.expiry + 1;
    await this.#move(BEN, this.#actions.refund(request));
  }

  async #request(changes: Partial<Request> = {}): Promise<Request> {
    this.#salt += 1n;
    const request: Request = {
      requester: REQUESTER,
      modelId: this.#modelId,
      inputHash: keccak256(INPUT),
      lanes: LANE.BOND,
      fee: 1_000n,
      deliveryFee: 0n,
      minBond: 0n,
      window: WINDOW,
      expiry: this.#now + 86_400,
      exclusiveProver: ZERO_ADDRESS,
      exclusiveUntil: 0,
      callback: ZERO_ADDRESS,
      callbackGas: 0,
      salt: this.#salt,
      ...changes,
    };
    await this.#move(REQUESTER, this.#actions.request(request, INPUT));
    return request;
  }

  async #claim(request: Request, side: Side, attempt = 0): Promise<Claim> {
    const { bond } = bondsOf(LOCAL_CONSTANTS, {
      ...request,
      gasPrice: GAS_PRICE,
      depth: MODEL.depth,
      attempt,
    });
    const action = this.#actions.claim(request, attempt, ZERO_ADDRESS, GAS_PRICE, outputs[side], bond);
    const [event] = await this.#move(PROVER, action);
    if (event?.name !== "Claimed") throw new Error("there is no claim");
    if (event.args.claimId !== claimIdOf(this.world.game, event.args.claim)) throw new Error("another id");
    return event.args.claim;
  }

  /** Two tickets, the trace, one demand. */
  async #dispute(claim: Claim, side: Side): Promise<void> {
    const trace = traces[side];
    for (const from of [ANN, BEN]) await this.#move(from, this.#actions.challenge(claim));
    await this.#move(PROVER, this.#actions.commitTrace(claim, topsOf(trace).map(toHex)));
    await this.#move(ANN, this.#actions.demand(claim, toHex(trace.root), POSITION));
  }

  async #reveal(claim: Claim, side: Side): Promise<void> {
    const { content, path } = revealAt(traces[side], decodePosition(POSITION));
    await this.#move(PROVER, this.#actions.reveal(claim, POSITION, content.map(toHex), path.map(toHex)));
  }

  async #settle(request: Request, claim: Claim | undefined, lane: 1 | 2): Promise<void> {
    const evidence = lane === LANE.PROOF ? "0x01" : "0x";
    await this.#move(SUBMITTER, this.#actions.settle(request, claim, lane, INPUT, outputs.right, evidence));
  }

  async #move(from: Address, action: Pick<Action, "to" | "data" | "value">): Promise<readonly ChainEvent[]> {
    this.#now += 1;
    const { refusal, events } = await this.world.send(from, action, this.#now);
    if (refusal !== undefined) throw new Error(`a move is refused: ${refusal}`);
    this.#keep(events);
    return events;
  }

  #keep(events: readonly ChainEvent[]): void {
    this.events.push(...events.map((event) => ({ event, timestamp: this.#now })));
  }
}
