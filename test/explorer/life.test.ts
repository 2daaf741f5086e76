import { describe, expect, it } from "vitest";
import { lifeOf } from "../../explorer/index/life.ts";
import type { TimedEvent } from "../../explorer/index/moves.ts";
import type { EventName } from "../../protocol/chain/events.ts";
import { type ClaimState, type GameState, type Move, newGame, play } from "../../protocol/rules/machine.ts";
import { bondsOf } from "../../protocol/rules/money.ts";
import {
  type ClaimId,
  LANE,
  type ModelId,
  type Request,
  ZERO_ADDRESS,
  ZERO_HASH,
} from "../../protocol/rules/types.ts";
import { eventIn } from "../support/batches.ts";
import { LOCAL_CONSTANTS } from "../support/deploy.ts";
import { addressOf } from "../support/game-table.ts";

const GAME = { chainId: 1, assay: addressOf(1) };
const MODEL = { lanes: LANE.BOND, depth: 3, outputLength: 32 };
const [REQUESTER, PROVER, ANN, BEN] = [addressOf(2), addressOf(3), addressOf(4), addressOf(5)];
const ROOT = `0x${"0a".repeat(32)}` as const;
const MODEL_ID = `0x${"0b".repeat(32)}` as ModelId;

/** Moves of the rules' machine, with the events by which the contract tells of them. */
class Game {
  readonly events: TimedEvent[] = [];
  #state: GameState = newGame(GAME, LOCAL_CONSTANTS, new Map([[MODEL_ID, MODEL]]));

  get claim(): ClaimState {
    return [...this.#state.claims.values()][0] as ClaimState;
  }

  move(move: Move, name: EventName, args: (state: GameState) => object): void {
    const result = play(this.#state, move);
    if (!result.ok) throw new Error(`${move.kind} is refused: ${result.refusal}`);
    this.#state = result.state;
    const event = eventIn(this.events.length + 1, 0, name, args(this.#state));
    this.events.push({ event, time: move.now });
  }
}

describe("lifeOf", () => {
  it("behavior: clocks are those of the rules' machine after each move; a late ticket on a trace gets its own time", () => {
    const game = new Game();
    const request: Request = {
      ...{ requester: REQUESTER, modelId: MODEL_ID, inputHash: ZERO_HASH, lanes: LANE.BOND, fee: 10n },
      ...{ deliveryFee: 0n, minBond: 0n, window: 100, expiry: 10_000, exclusiveProver: ZERO_ADDRESS },
      ...{ exclusiveUntil: 0, callback: ZERO_ADDRESS, callbackGas: 0, salt: 1n },
    };
    const gasPrice = LOCAL_CONSTANTS.gasPriceFloor;
    const { bond, ticketBond } = bondsOf(LOCAL_CONSTANTS, {
      gasPrice,
      depth: MODEL.depth,
      minBond: 0n,
      attempt: 0,
    });
    game.move(
      {
        ...{ kind: "request", from: REQUESTER, now: 1_000, value: 10n, request },
        input: { hash: ZERO_HASH, canonical: true },
      },
      "Requested",
      ({ requests }) => ({ requestId: [...requests.keys()][0], request, input: "0x" }),
    );
    const requestId = game.events.map(({ event }) =>
      event.name === "Requested" ? event.args.requestId : undefined,
    )[0];
    if (requestId === undefined) throw new Error("there is no request");
    game.move(
      {
        ...{
          kind: "claim",
          from: PROVER,
          now: 1_010,
          value: bond,
          requestId,
          operator: ZERO_ADDRESS,
          gasPrice,
        },
        ...{ output: { hash: ZERO_HASH, length: 32 }, baseFee: 1n },
      },
      "Claimed",
      ({ claims }) => {
        const [[claimId, made]] = [...claims] as [[ClaimId, ClaimState]];
        return { claimId, requestId, claim: made.claim, windowEnd: made.word.windowEnd, output: "0x" };
      },
    );
    const claimed = game.events[1]?.event;
    if (claimed?.name !== "Claimed") throw new Error("there is no claim");
    const { claimId } = claimed.args;
    const challenge = (from: `0x${string}`, now: number) =>
      game.move({ kind: "challenge", from, now, value: ticketBond, claimId }, "Challenged", () => {
        const { traceDeadline, hardEnd } = game.claim.word;
        return { claimId, challenger: from, traceDeadline, hardEnd };
      });
    const position = 7n;
    const steps: (() => void)[] = [
      () => challenge(ANN, 1_020),
      () =>
        game.move(
          { kind: "commitTrace", from: PROVER, now: 1_022, claimId, traceRoot: ROOT },
          "TraceCommitted",
          () => ({
            claimId,
            traceRoot: ROOT,
            tops: [],
          }),
        ),
      () =>
        game.move(
          { kind: "demand", from: ANN, now: 1_023, claimId, traceRoot: ROOT, position },
          "Demanded",
          () => ({
            claimId,
            challenger: ANN,
            position,
            deadline: game.claim.demands.get(position)?.deadline,
          }),
        ),
      () =>
        game.move(
          { kind: "reveal", from: PROVER, now: 1_025, claimId, position, valid: true },
          "Revealed",
          () => ({
            claimId,
            position,
            content: [],
          }),
        ),
      () => challenge(BEN, 1_060),
    ];
    for (const step of [() => undefined, ...steps]) {
      step();
      const { windowEnd, lastEvent, hardEnd, traceDeadline, pending } = game.claim.word;
      const [row] = lifeOf(game.events).claims;
      expect(row?.clocks).toEqual({ windowEnd, lastEvent, hardEnd, traceDeadline, pending });
    }
    expect(game.claim.word.lastEvent).toBe(1_060);
  });
});
