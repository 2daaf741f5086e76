/** Every state that one claim can reach, on the compiled contracts: from each, every move of everybody is tried and a
 *  second passes. Machine and contract must agree on each; `check` looks at each new state. */
import type { Address, Hex } from "viem";
import { keccak256 } from "viem";
import { toHex } from "../../base/bytes.ts";
import { encodePosition } from "../../inference/commit/positions.ts";
import { revealAt, topsOf } from "../../inference/commit/reveal.ts";
import { type Action, Actions } from "../../protocol/chain/actions.ts";
import { requestIdOf } from "../../protocol/rules/ids.ts";
import {
  type ClaimState,
  type GameState,
  isFinal,
  ledgerOf,
  type Move,
  modelFacts,
  newGame,
  play,
} from "../../protocol/rules/machine.ts";
import { bondsOf } from "../../protocol/rules/money.ts";
import { claimSlot, REQUEST_WORD_BITS, requestSlot } from "../../protocol/rules/storage-slots.ts";
import {
  type ClaimId,
  LANE,
  type ModelId,
  type Request,
  type RequestId,
  ZERO_ADDRESS,
} from "../../protocol/rules/types.ts";
import { encodeClaimWord, encodeRequestWord } from "../../protocol/rules/words.ts";
import { ALL_LANES, type echoModel, type Side } from "./echo-model.ts";
import type { EvmWorld } from "./evm-world.ts";
import { addressOf } from "./game-table.ts";

export const PLAYERS = { prover: addressOf(0x601), ann: addressOf(0x602), ben: addressOf(0x603) } as const;
const FILED_AT = 1_000;
const GAS_PRICE = 20n;

export interface Space {
  readonly model: ReturnType<typeof echoModel>;
  readonly modelId: ModelId;
  /** of the claim and of the trace that the prover commits to */
  readonly output: Side;
  readonly trace: Side;
  readonly challengers: readonly Address[];
  readonly positions: readonly bigint[];
  /** lanes by which the right output can be settled */
  readonly truths: readonly (1 | 2)[];
}

/** A state, and who plays. */
export interface Scene {
  readonly now: number;
  readonly state: GameState;
  readonly claim: ClaimState;
  readonly claimId: ClaimId;
  readonly requestId: RequestId;
}

export interface Rule {
  /** False where a second may not pass yet: somebody who is honest moves first. */
  mayPass(scene: Scene): boolean;
  /** Looks at a state and the moves that it allows.
   *  @throws Error if an invariant is broken */
  check(scene: Scene, allowed: readonly Move[]): void;
}

export interface Explored {
  readonly states: number;
  readonly moves: number;
  readonly refusals: number;
  readonly ends: Readonly<Record<string, number>>;
}

type Try = { readonly move: Move; readonly action: Action };

/** Explores all states from a filed claim to its end. */
export async function explore(world: EvmWorld, space: Space, rule: Rule): Promise<Explored> {
  return world.undone(() => new Explorer(world, space, rule).run());
}

class Explorer {
  readonly #world: EvmWorld;
  readonly #space: Space;
  readonly #rule: Rule;
  readonly #actions: Actions;
  readonly #request: Request;
  readonly #requestId: RequestId;
  #claimId: ClaimId = "0x" as ClaimId;
  readonly #seen = new Set<string>();
  #moves = 0;
  #refusals = 0;
  readonly #ends: Record<string, number> = {};

  constructor(world: EvmWorld, space: Space, rule: Rule) {
    this.#world = world;
    this.#space = space;
    this.#rule = rule;
    this.#actions = new Actions(world.game);
    this.#request = {
      requester: addressOf(0x600),
      modelId: space.modelId,
      inputHash: keccak256(space.model.input),
      lanes: ALL_LANES,
      fee: 1_000n,
      deliveryFee: 0n,
      minBond: 0n,
      window: 4 * world.constants.answerSeconds,
      expiry: FILED_AT + 1_000,
      exclusiveProver: ZERO_ADDRESS,
      exclusiveUntil: 0,
      callback: ZERO_ADDRESS,
      callbackGas: 0,
      salt: 1n,
    };
    this.#requestId = requestIdOf(world.game, this.#request);
  }

  async run(): Promise<Explored> {
    const { model, modelId, output } = this.#space;
    const { game, constants } = this.#world;
    const facts = modelFacts(model.program, ALL_LANES);
    let state = newGame(game, constants, new Map([[modelId, facts]]));
    const asked = { hash: this.#request.inputHash, canonical: true };
    const { requester, fee } = this.#request;
    const request = {
      kind: "request",
      from: requester,
      now: FILED_AT - 1,
      value: fee,
      request: this.#request,
    } as const;
    state = await this.#must(state, {
      move: { ...request, input: asked },
      action: this.#actions.request(this.#request, model.input),
    });
    const claimed = model.outputs[output];
    const { bond } = bondsOf(constants, {
      ...this.#request,
      gasPrice: GAS_PRICE,
      depth: model.depth,
      attempt: 0,
    });
    const terms = { requestId: this.#requestId, operator: ZERO_ADDRESS, gasPrice: GAS_PRICE, baseFee: 1n };
    state = await this.#must(state, {
      move: {
        ...{ kind: "claim", from: PLAYERS.prover, now: FILED_AT, value: bond, ...terms },
        output: { hash: keccak256(claimed), length: (claimed.length - 2) / 2 },
      },
      action: this.#actions.claim(this.#request, 0, ZERO_ADDRESS, GAS_PRICE, claimed, bond),
    });
    this.#claimId = [...state.claims.keys()][0] as ClaimId;
    await this.#visit(state, FILED_AT);
    return { states: this.#seen.size, moves: this.#moves, refusals: this.#refusals, ends: this.#ends };
  }

  async #visit(state: GameState, now: number): Promise<void> {
    const scene = this.#sceneOf(state, now);
    const key = keyOf(scene);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    await this.#compare(scene);
    const { word, tickets } = scene.claim;
    if (word.state !== "ACTIVE") {
      const end = `${word.state} ${word.fall} ${tickets.size}`;
      this.#ends[end] = (this.#ends[end] ?? 0) + 1;
    }
    const allowed: Move[] = [];
    for (const one of this.#tries(scene)) {
      const result = play(state, one.move);
      if (!result.ok) {
        await this.#send(one, now, result.refusal);
        this.#refusals += 1;
        continue;
      }
      allowed.push(one.move);
      await this.#world.undone(async () => {
        await this.#send(one, now, undefined);
        this.#moves += 1;
        await this.#visit(result.state, now);
      });
    }
    this.#rule.check(scene, allowed);
    // Nothing that is left behind a claim's end waits for a time.
    if (word.state !== "ACTIVE" || !this.#rule.mayPass(scene) || now > this.#limit(scene)) return;
    await this.#visit(state, now + 1);
  }

  /** @param expected refusal of the machine */
  async #send({ move, action }: Try, now: number, expected: string | undefined): Promise<void> {
    const { refusal } = await this.#world.send(move.from, action, now);
    if (refusal === expected) return;
    throw new Error(
      `${move.kind} at ${now}: the contract says ${refusal ?? "yes"}, the machine ${expected ?? "yes"}`,
    );
  }

  /** A second in which every claim can be ended, and one more. */
  #limit({ claim }: Scene): number {
    const { answerSeconds: t } = this.#world.constants;
    return claim.word.windowEnd + (2 * claim.word.depth + 2) * t + 1;
  }

  #tries({ now, claimId, requestId, claim, state }: Scene): Try[] {
    const { model, trace: side, challengers, positions, truths } = this.#space;
    const { claim: terms } = claim;
    const trace = model.traces[side];
    const traceRoot = toHex(trace.root);
    const on = { now, claimId } as const;
    const { prover } = PLAYERS;
    const tries: Try[] = [];
    const add = (move: Move, action: Action) => tries.push({ move, action });
    for (const from of challengers) {
      add({ kind: "challenge", from, ...on, value: terms.ticketBond }, this.#actions.challenge(terms));
      for (const position of positions)
        add(
          { kind: "demand", from, ...on, traceRoot, position },
          this.#actions.demand(terms, traceRoot, position),
        );
      add({ kind: "collect", from, ...on, owner: from }, this.#actions.collect(terms, from));
    }
    add(
      { kind: "commitTrace", from: prover, ...on, traceRoot },
      this.#actions.commitTrace(terms, topsOf(trace).map(toHex)),
    );
    for (const position of positions) {
      const { content, path } = revealAt(trace, { step: 0, level: 0, index: 0 });
      const reveal = this.#actions.reveal(terms, position, content.map(toHex), path.map(toHex));
      add({ kind: "reveal", from: prover, ...on, position, valid: true }, reveal);
      add(
        { kind: "timeoutDemand", from: prover, ...on, position },
        this.#actions.timeoutDemand(terms, position),
      );
    }
    add({ kind: "timeoutTrace", from: prover, ...on }, this.#actions.timeoutTrace(terms));
    const root = toHex(trace.tensors[0]?.root as Uint8Array);
    const codec = this.#actions.convictCodec(this.#request, terms, 0, model.input, root, []);
    add({ kind: "convict", from: prover, ...on, reason: "CODEC", holds: side === "wrong" }, codec);
    const output = Object.values(model.outputs).find((bytes) => keccak256(bytes) === terms.outputHash) as Hex;
    const isLie = output !== model.outputs[side];
    add(
      { kind: "convict", from: prover, ...on, reason: "OUTPUT", holds: isLie },
      this.#actions.convictOutput(terms, output, model.wrongAt, [model.openings[side]]),
    );
    add({ kind: "finalize", from: prover, ...on }, this.#actions.finalize(this.#request, terms));
    const live = state.requests.get(requestId)?.word.state === "BUSY";
    for (const lane of truths) {
      const evidence: Hex = lane === LANE.PROOF ? "0x01" : "0x";
      const output = model.outputs.right;
      const settled = { requestId, lane, outputHash: keccak256(output), accepted: true };
      const from = addressOf(0x604);
      add(
        { kind: "settle", from, now, ...settled, ...(live ? { claimId } : {}) },
        this.#actions.settle(this.#request, live ? terms : undefined, lane, model.input, output, evidence),
      );
    }
    return tries;
  }

  async #must(state: GameState, { move, action }: Try): Promise<GameState> {
    const result = play(state, move);
    const { refusal } = await this.#world.send(move.from, action, move.now);
    if (!result.ok || refusal !== undefined) throw new Error(`${move.kind} is refused: ${refusal}`);
    return result.state;
  }

  #sceneOf(state: GameState, now: number): Scene {
    const claim = state.claims.get(this.#claimId) as ClaimState;
    return { now, state, claim, claimId: this.#claimId, requestId: this.#requestId };
  }

  /** What the contract stores, shows and holds is what the machine says. */
  async #compare({ now, state, claim, claimId, requestId }: Scene): Promise<void> {
    const world = this.#world;
    const same = (what: string, actual: bigint, required: bigint | undefined) => {
      if (actual !== required)
        throw new Error(`${what} at ${now} is ${actual} on the chain, ${required} in the machine`);
    };
    same("the claim", await world.stored(claimSlot(claimId)), encodeClaimWord(claim.word));
    const requestWord = state.requests.get(requestId)?.word;
    const actual = BigInt.asUintN(REQUEST_WORD_BITS, await world.stored(requestSlot(requestId)));
    same("the request", actual, requestWord && encodeRequestWord(requestWord));
    const final = isFinal(claim.word, world.constants.answerSeconds, now);
    same("finality", BigInt(await world.read("isFinal", [claimId], now)), final ? 1n : 0n);
    const { credits, bonds, fees, burned } = ledgerOf(state);
    same("the balance", await world.balance(world.game.assay), credits + bonds + fees + burned);
    for (const [account, amount] of state.credits) {
      same("a credit", BigInt(await world.read("credits", [account], now)), amount);
    }
  }
}

/** Words with times since now, as far as they count, and everything besides that a move reads. */
function keyOf({ now, state, claim, requestId }: Scene): string {
  const { windowEnd, lastEvent, hardEnd, traceDeadline, ...rest } = claim.word;
  const { answerSeconds } = state.constants;
  const isLive = claim.word.state === "ACTIVE";
  // A second that is past is past; lastEvent counts for T more.
  const since = (time: number) => (time === 0 || !isLive ? "" : Math.max(time - now, -answerSeconds - 2));
  const times = [windowEnd, lastEvent, hardEnd, traceDeadline].map(since);
  const tickets = [...claim.tickets].map(([owner, { demands, collected }]) => [owner, demands, collected]);
  const demands = [...claim.demands].map(([at, { deadline, answered }]) => [
    ...[`${at}`, answered ? "" : since(deadline), answered],
  ]);
  const request = state.requests.get(requestId)?.word;
  const credits = [...state.credits].map(([account, amount]) => [account, `${amount}`]);
  return JSON.stringify([
    ...[times, rest, claim.traceRoot, tickets.sort(), demands.sort(), request?.state, request?.lane],
    credits.sort(),
  ]);
}

/** The only position of a trace of one word. */
export const ONLY_POSITION = encodePosition({ step: 0, level: 0, index: 0 });
