/** The machine and the contract play the same random moves and must agree after each: on refusals by name, on
 *  every word, on all credits. */
import { type Address, encodeFunctionData, type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toHex } from "../../../base/bytes.ts";
import { loadArtifacts } from "../../../cli/artifacts.ts";
import { decodePosition } from "../../../inference/commit/positions.ts";
import { revealAt, topsOf } from "../../../inference/commit/reveal.ts";
import { encodeProgram } from "../../../inference/program/encode.ts";
import { type Action, Actions } from "../../../protocol/chain/actions.ts";
import { StateReader } from "../../../protocol/chain/reads.ts";
import { registerModel } from "../../../protocol/chain/register.ts";
import { iAssayAbi } from "../../../protocol/rules/generated/abis.ts";
import { requestIdOf } from "../../../protocol/rules/ids.ts";
import { type GameState, isFinal, type Move, modelFacts, newGame } from "../../../protocol/rules/machine.ts";
import { bondsOf } from "../../../protocol/rules/money.ts";
import {
  type Claim,
  type ClaimId,
  LANE,
  type Request,
  type RequestId,
  ZERO_ADDRESS,
} from "../../../protocol/rules/types.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { expectInOrder } from "../../support/audit.ts";
import { LOCAL_CONSTANTS, openLocalSystem, QUICK } from "../../support/deploy.ts";
import {
  ALL_LANES,
  IDENTITY,
  INPUT,
  outputs,
  POSITIONS,
  program,
  type Side,
  traces,
} from "../../support/echo-model.ts";
import { type AllOrNone, playAll, sendAs } from "../../support/machine-play.ts";
import { createRng } from "../../support/rng.ts";
import { compileTruthParts, deployPart } from "../../support/truth-parts.ts";

const MOVES = 1_000;
/** One move a second: time for many within each answer. */
const CONSTANTS = { ...LOCAL_CONSTANTS, answerSeconds: 30 };
const PLAYERS = [1, 2, 3, 4].map((index) => accountAt(index).address);
/** The broken proof system takes one byte for a proof of anything; the EXECUTION lane is the real one. */
const FORGERY: Hex = "0x01";
type Common = { readonly from: Address; readonly now: number };
type Proposal = AllOrNone & { readonly action: Action; readonly side?: Side };

let local: LocalChain;
/** who takes deliveries, who refuses them */
const callbacks: Address[] = [];
let system: Awaited<ReturnType<typeof openLocalSystem>>;

beforeAll(async () => {
  local = await startLocalChain();
  const parts = compileTruthParts();
  const artifacts = { ...loadArtifacts(), ProofLane: parts.Liar };
  system = await openLocalSystem(local, accountAt(9), QUICK, CONSTANTS, artifacts);
  callbacks.push(await deployPart(local, parts.Listener), await deployPart(local, parts.Refuser));
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
});

test("behavior: machine and contract agree on random moves", async () => {
  const rng = createRng(7);
  const { game } = system.chain;
  const actions = new Actions(game);
  const { modelId } = await registerModel(system.chain, system.sender, encodeProgram(program), IDENTITY);
  let state: GameState = newGame(game, CONSTANTS, new Map([[modelId, modelFacts(program, ALL_LANES)]]));
  const requests: Request[] = [];
  const claims: { claimId: ClaimId; claim: Claim; side: Side }[] = [];
  const accepted = new Map<string, number>();
  const refused = new Map<string, number>();
  const requestOf = (id: RequestId) => state.requests.get(id)?.request as Request;

  /** A random move of both worlds. */
  function propose(now: number): Proposal {
    const holders = [...(state.claims.get(claims.at(-1)?.claimId as ClaimId)?.tickets.keys() ?? [])];
    const from = holders.length > 0 && rng.chance(0.5) ? rng.pick(holders) : rng.pick(PLAYERS);
    const common = { from, now };
    const live = claims.findLast(({ claimId }) => state.claims.get(claimId)?.word.state === "ACTIVE");
    // Truth ends games at once, and deliveries need an end: rarely, so that games are played out.
    const drawn = rng.int(0, 19);
    const kind =
      drawn >= 16 && live !== undefined && rng.chance(drawn === 16 ? 0.3 : 0.75) ? rng.int(2, 12) : drawn;
    const isOver = (request: Request) =>
      ["DONE", "REFUNDED"].includes(state.requests.get(requestIdOf(game, request))?.word.state ?? "NONE");
    const idle = requests.slice(-2).every(isOver) && rng.chance(0.3);
    if (requests.length === 0 || idle || (kind === 0 && rng.chance(0.3))) {
      const request = newRequest(from, now);
      const value = request.fee + request.deliveryFee + (rng.chance(0.1) ? 1n : 0n);
      const input = { hash: keccak256(INPUT), canonical: true };
      return {
        move: { ...common, kind: "request", value, request, input },
        action: { ...actions.request(request, INPUT), value },
      };
    }
    const request = rng.pick(requests.slice(-2));
    const requestId = requestIdOf(game, request);
    const attempt = state.requests.get(requestId)?.word.attempt ?? 0;
    const isOpen = state.requests.get(requestId)?.word.state === "OPEN";
    if (
      claims.length === 0 ||
      kind <= 1 ||
      (live === undefined && isOpen && rng.chance(0.3)) ||
      (kind === 16 && isOpen && rng.chance(0.8))
    ) {
      const side: Side = rng.chance(0.5) ? "right" : "wrong";
      const gasPrice = (CONSTANTS.gasPriceFloor * BigInt(rng.int(6, 18))) / 8n;
      const { bond } = bondsOf(CONSTANTS, { ...request, gasPrice, depth: 2, attempt });
      const output = { hash: keccak256(outputs[side]), length: outputs[side].length / 2 - 1 };
      const operator = rng.chance(0.5) ? rng.pick(PLAYERS) : ZERO_ADDRESS;
      return {
        side,
        move: { ...common, kind: "claim", value: bond, requestId, operator, gasPrice, output, baseFee: 1n },
        action: actions.claim(request, attempt, operator, gasPrice, outputs[side], bond),
      };
    }
    if (kind === 16) {
      if (rng.chance(0.4)) return batch(common);
      const busy = live !== undefined && rng.chance(0.9);
      return settlement(common, busy ? requestOf(live.claim.requestId) : request);
    }
    if (kind === 17 || kind === 18) return delivery(common, request);
    if (kind === 19) {
      return {
        move: { ...common, kind: "reclaimDelivery", requestId },
        action: actions.reclaimDelivery(request),
      };
    }
    const { claimId, claim, side } =
      live !== undefined && rng.chance(0.8) ? live : rng.pick(claims.slice(-2));
    const on = { ...common, claimId };
    const traceSide: Side = side === "wrong" && claim.bond % 2n === 0n ? "wrong" : "right";
    const trace = traces[traceSide];
    const traceRoot = toHex(trace.root);
    const demanded = [...(state.claims.get(claimId)?.demands ?? [])].filter(([, { answered }]) => !answered);
    const owed = demanded.map(([key]) => key);
    const position = kind >= 9 && owed.length > 0 && rng.chance(0.8) ? rng.pick(owed) : rng.pick(POSITIONS);
    switch (kind) {
      case 2:
      case 3: {
        const value = claim.ticketBond;
        return { move: { ...on, kind: "challenge", value }, action: actions.challenge(claim) };
      }
      case 4:
      case 5:
        return {
          move: { ...on, from: rng.chance(0.7) ? claim.prover : from, kind: "commitTrace", traceRoot },
          action: actions.commitTrace(claim, topsOf(trace).map(toHex)),
        };
      case 6:
      case 7:
      case 8:
        return {
          move: { ...on, kind: "demand", traceRoot, position },
          action: actions.demand(claim, traceRoot, position),
        };
      case 9:
      case 10: {
        const { content, path } = revealAt(
          trace,
          decodePosition(POSITIONS.slice(0, 3).includes(position) ? position : (POSITIONS[0] as bigint)),
        );
        const valid = POSITIONS.slice(0, 3).includes(position);
        return {
          move: { ...on, kind: "reveal", position, valid },
          action: actions.reveal(claim, position, content.map(toHex), path.map(toHex)),
        };
      }
      case 11: {
        if (rng.chance(0.5))
          return { move: { ...on, kind: "timeoutTrace" }, action: actions.timeoutTrace(claim) };
        const holds = traceSide === "wrong";
        const root = trace.tensors[0]?.root ?? new Uint8Array(32);
        return {
          move: { ...on, kind: "convict", reason: "CODEC", holds },
          action: actions.convictCodec(requestOf(claim.requestId), claim, 0, INPUT, toHex(root), []),
        };
      }
      case 12:
        return {
          move: { ...on, kind: "timeoutDemand", position },
          action: actions.timeoutDemand(claim, position),
        };
      case 13:
        return {
          move: { ...on, kind: "finalize" },
          action: actions.finalize(requestOf(claim.requestId), claim),
        };
      case 14: {
        const owners = [...(state.claims.get(claimId)?.tickets.keys() ?? [])];
        const owner = owners.length > 0 && rng.chance(0.7) ? rng.pick(owners) : from;
        return { move: { ...on, kind: "collect", owner }, action: actions.collect(claim, owner) };
      }
      default:
        return rng.chance(0.5)
          ? { move: { ...common, kind: "withdraw" }, action: actions.withdraw(from, "") }
          : { move: { ...common, kind: "refund", requestId }, action: actions.refund(request) };
    }
  }

  /** Truth by execution, which tells right from wrong, or by the broken proof system, which does not. */
  function settlement(common: Common, request: Request): Proposal {
    const requestId = requestIdOf(game, request);
    const live = claims.find(({ claimId }) => state.claims.get(claimId)?.word.state === "ACTIVE");
    const named =
      rng.chance(0.9) && live?.claim.requestId === requestId ? live : rng.pick([...claims, undefined]);
    const lane = rng.chance(0.4) ? LANE.EXECUTION : LANE.PROOF;
    const side: Side = rng.chance(0.6) ? "right" : "wrong";
    const evidence = lane === LANE.PROOF && rng.chance(0.8) ? FORGERY : "0x";
    return {
      move: {
        ...common,
        kind: "settle",
        requestId,
        ...(named === undefined ? {} : { claimId: named.claimId }),
        lane,
        outputHash: keccak256(outputs[side]),
        accepted: lane === LANE.EXECUTION ? side === "right" : evidence === FORGERY,
      },
      action: actions.settle(request, named?.claim, lane, INPUT, outputs[side], evidence),
    };
  }

  /** Several proofs at once, by the broken proof system: all of them settle, or none. */
  function batch(common: Common): Proposal {
    const settlements = Array.from({ length: rng.int(1, 3) }, () => {
      const request = rng.pick(requests.slice(-3));
      const requestId = requestIdOf(game, request);
      const live = claims.find(
        ({ claim, claimId }) =>
          claim.requestId === requestId && state.claims.get(claimId)?.word.state === "ACTIVE",
      );
      const claim = rng.chance(0.9) ? live : rng.pick([...claims, undefined]);
      const output = outputs[rng.chance(0.6) ? "right" : "wrong"];
      return { request, claim, output, evidence: rng.chance(0.9) ? FORGERY : ("0x" as Hex) };
    });
    const moves = settlements.map(
      ({ request, claim, output }): Move => ({
        ...common,
        kind: "settle",
        requestId: requestIdOf(game, request),
        ...(claim === undefined ? {} : { claimId: claim.claimId }),
        lane: LANE.PROOF,
        outputHash: keccak256(output),
        accepted: true,
      }),
    );
    const submitter = rng.chance(0.9) ? common.from : rng.pick(PLAYERS);
    return {
      move: moves[0] as Move,
      further: moves.slice(1),
      refusedAs: {
        before: submitter === common.from ? undefined : "NotSubmitter",
        after: settlements.every(({ evidence }) => evidence === FORGERY) ? undefined : "BatchRejected",
      },
      action: actions.settleBatch(
        (settlements[0] as { request: Request }).request.modelId,
        submitter,
        settlements.map((one) => ({ ...one, claim: one.claim?.claim, input: INPUT })),
      ),
    };
  }

  function delivery(common: Common, request: Request): Proposal {
    const requestId = requestIdOf(game, request);
    const held = state.requests.get(requestId);
    const final = claims.find(
      ({ claim, claimId }) =>
        claim.requestId === requestId && state.claims.get(claimId)?.word.state === "FINAL",
    );
    const result = held?.result ?? final?.claim.outputHash;
    const side: Side = (result === keccak256(outputs.right)) === rng.chance(0.9) ? "right" : "wrong";
    return {
      move: {
        ...common,
        kind: "deliver",
        requestId,
        outputMatches: keccak256(outputs[side]) === result,
        gasEnough: true,
        callbackSucceeds: request.callback === callbacks[0],
      },
      action: actions.deliver(request, final?.claim, outputs[side]),
    };
  }

  function newRequest(requester: Address, now: number): Request {
    const callback = rng.pick([ZERO_ADDRESS, ...callbacks]) as Address;
    return {
      requester,
      modelId,
      inputHash: keccak256(INPUT),
      lanes: rng.chance(0.6) ? ALL_LANES : LANE.BOND,
      fee: BigInt(rng.int(0, 999)),
      deliveryFee: callback === ZERO_ADDRESS && rng.chance(0.9) ? 0n : BigInt(rng.int(0, 99)),
      minBond: BigInt(rng.int(0, 2 ** 50)),
      window: rng.chance(0.05) ? 119 : rng.int(120, 140),
      expiry: now + rng.int(1, 400),
      exclusiveProver: rng.chance(0.2) ? rng.pick(PLAYERS) : ZERO_ADDRESS,
      exclusiveUntil: now + (rng.chance(0.1) ? 601 : rng.int(0, 20)),
      callback,
      callbackGas: 50_000,
      salt: BigInt(toHex(rng.bytes(8))),
    };
  }

  /** Reads all at once: the client makes one request of it. */
  async function compare(now: number, labels: string): Promise<void> {
    const reader = new StateReader(system.chain);
    const request = requests.at(-1);
    const newest = claims.slice(-3);
    const ids =
      request === undefined
        ? []
        : [requestIdOf(game, request), ...newest.map(({ claim }) => claim.requestId)];
    const blockOverrides = { time: BigInt(now) };
    const isFinalNow = async (claimId: ClaimId): Promise<boolean> => {
      const call = { to: game.assay, data: isFinalData(claimId), blockOverrides };
      return BigInt((await local.client.call(call)).data ?? 0) === 1n;
    };
    const [words, claimStates, finals, credits, burned] = await Promise.all([
      Promise.all(ids.map((id) => reader.requestWord(id))),
      Promise.all(newest.map(({ claimId, claim }) => reader.claim(claimId, claim, PLAYERS, POSITIONS))),
      Promise.all(newest.map(({ claimId }) => isFinalNow(claimId))),
      Promise.all(PLAYERS.map((player) => reader.credits(player))),
      local.client.readContract({ address: game.assay, abi: iAssayAbi, functionName: "burned" }),
    ]);
    const expected = newest.map(({ claimId }) => state.claims.get(claimId));
    expect(words, labels).toEqual(ids.map((id) => state.requests.get(id)?.word));
    expect(claimStates, labels).toEqual(expected);
    expect(finals, labels).toEqual(
      expected.map((claim) => claim !== undefined && isFinal(claim.word, CONSTANTS.answerSeconds, now)),
    );
    expect(credits, labels).toEqual(PLAYERS.map((player) => state.credits.get(player) ?? 0n));
    expect(burned, labels).toBe(state.burned);
  }

  await local.control.setAutomine(false);
  let now = await local.now();
  for (let i = 0; i < MOVES; i += 1) {
    // Rarely past the week after which nobody has to deliver any more.
    now += rng.chance(0.004) ? 8 * 86_400 : rng.chance(0.02) ? rng.int(2, 200) : 1;
    const proposal = propose(now);
    const { move, further, action, side } = proposal;
    // Whoever sends it on the chain is whoever moves.
    const result = playAll(state, proposal);
    const refusal = await sendAs(local, move, action);
    const kind = further === undefined ? move.kind : "settleBatch";
    const label = `move ${i}, ${kind} at ${now}`;
    const expected = result.ok ? undefined : result.refusal;
    // An opening that is no position's content is refused before it is folded.
    const isContent = expected === "TraceMismatch" && refusal !== undefined;
    expect(isContent ? expected : refusal, label).toBe(expected);
    if (result.ok) {
      state = result.state;
      if (move.kind === "request") requests.push(move.request);
      if (result.claimId !== undefined && side !== undefined) {
        const { claim } = state.claims.get(result.claimId) as { claim: Claim };
        claims.push({ claimId: result.claimId, claim, side });
      }
    }
    const counts = result.ok ? accepted : refused;
    const name = result.ok ? kind : result.refusal;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    await compare(now, label);
  }
  const audited = await expectInOrder(system.chain);
  expect(audited.money).toMatchObject({
    received: state.received,
    withdrawn: state.withdrawn,
    burned: state.burned,
  });
  // Moves that never happened would agree on nothing.
  const ends = [...state.claims.values()].map(({ word, tickets }) => ({ ...word, holders: tickets.size }));
  const byTruth = ends.filter(({ truthShare, holders }) => truthShare && holders > 0);
  expect(byTruth.length).toBeGreaterThan(0);
  expect([...accepted.keys()].sort().join(" ")).toMatchInlineSnapshot(
    `"challenge claim collect commitTrace convict deliver demand finalize refund request reveal settle settleBatch timeoutDemand timeoutTrace withdraw"`,
  );
  expect([...refused.keys()].sort().join(" ")).toMatchInlineSnapshot(
    `"AlreadyAnswered AlreadyCollected AlreadyDemanded AlreadyHolding CallbackMissing ClaimIsFinal ClaimNotActive ClaimNotFallen ClaimNotFinal DeadlineNotPassed DeadlinePassed DemandTooLate ExclusiveTooLong GasPriceOutOfRange LaneNotAllowed NoCredit NoFault NotChallenged NotDemanded NotExpired NotProver NotYet OutputMismatch PositionOutside QuotaUsed RequestExpired RequestNotDone RequestNotOpen RequestSettled TicketMissing TraceAlreadyCommitted TraceMissing ValueWrong WindowEnded WindowOutOfRange WrongClaim"`,
  );
});

const isFinalData = (claimId: ClaimId): Hex =>
  encodeFunctionData({ abi: iAssayAbi, functionName: "isFinal", args: [claimId] });
