/** The machine and the contract play the same random moves and must agree after each: on refusals by name, on
 *  every word, on all credits. */
import { type Address, encodeFunctionData, type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toHex } from "../../inference/bytes.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { encodeOutput } from "../../inference/codecs/output.ts";
import { commitModel, commitTrace } from "../../inference/commit/commitments.ts";
import { decodePosition, encodePosition } from "../../inference/commit/positions.ts";
import { revealAt, topsOf } from "../../inference/commit/reveal.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import type { Model, Tensor } from "../../inference/program/form.ts";
import { type Action, Actions } from "../../protocol/chain/actions.ts";
import { decodeRevert } from "../../protocol/chain/errors.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import { iAssayAbi } from "../../protocol/generated/abis.ts";
import { requestIdOf } from "../../protocol/ids.ts";
import { type GameState, isFinal, type Move, modelFacts, newGame, play } from "../../protocol/machine.ts";
import { bondsOf } from "../../protocol/money.ts";
import {
  type Claim,
  type ClaimId,
  LANE,
  type Request,
  type RequestId,
  ZERO_ADDRESS,
} from "../../protocol/terms.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import {
  LOCAL_CONSTANTS,
  openLocalSystem,
  QUICK,
  TINY_IDENTITY,
  TINY_MODEL,
  TINY_SELECTOR,
} from "../support/deploy.ts";
import { createRng } from "../support/rng.ts";

const MOVES = 800;
/** One move a second: time for many within each answer. */
const CONSTANTS = { ...LOCAL_CONSTANTS, answerSeconds: 30 };
const BYTES = 64 * 64;

/** raw(bytes) of 64 rows of 64 bytes to itself: one tensor of height 7, dispute depth 2. */
const MODEL: Model = {
  program: {
    ...TINY_MODEL.program,
    inputSize: BYTES,
    steps: TINY_MODEL.program.steps.map((step) => ({ ...step, dims: [64, 64] })),
  },
  weights: [],
};
const { program } = MODEL;
const IDENTITY = { ...TINY_IDENTITY, ...commitModel(MODEL) };
const PLAYERS = [1, 2, 3, 4].map((index) => accountAt(index).address);
const POSITIONS = [
  { step: 0, level: 7, index: 0 },
  { step: 0, level: 6, index: 0 },
  { step: 0, level: 6, index: 1 },
  { step: 0, level: 6, index: 2 },
  { step: 1, level: 0, index: 0 },
].map(encodePosition);

const tensorOf = (data: Uint8Array): Tensor => ({ type: "u8", dims: [64, 64], data });
const RIGHT = Uint8Array.from({ length: BYTES }, (_, i) => i % 251);
const WRONG = RIGHT.map((byte, i) => (i === 1_234 ? byte ^ 1 : byte));
const INPUT = toHex(encodeInput(program, TINY_SELECTOR, { codec: "raw", bytes: RIGHT }));
const traces = {
  right: commitTrace(program, [tensorOf(RIGHT)]),
  wrong: commitTrace(program, [tensorOf(WRONG)]),
};
const outputs = {
  right: toHex(encodeOutput(program, tensorOf(RIGHT))),
  wrong: toHex(encodeOutput(program, tensorOf(WRONG))),
};
type Side = keyof typeof traces;

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local, accountAt(9), QUICK, CONSTANTS);
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
  let state: GameState = newGame(game, CONSTANTS, new Map([[modelId, modelFacts(program, LANE.BOND)]]));
  const requests: Request[] = [];
  const claims: { claimId: ClaimId; claim: Claim; side: Side }[] = [];
  const accepted = new Map<string, number>();
  const refused = new Map<string, number>();
  const requestOf = (id: RequestId) => state.requests.get(id)?.request as Request;

  /** A random move of both worlds. */
  function propose(now: number): { move: Move; action: Action; side?: Side } {
    const holders = [...(state.claims.get(claims.at(-1)?.claimId as ClaimId)?.tickets.keys() ?? [])];
    const from = holders.length > 0 && rng.chance(0.5) ? rng.pick(holders) : rng.pick(PLAYERS);
    const common = { from, now };
    const kind = rng.int(0, 15);
    if (requests.length === 0 || (kind === 0 && rng.chance(0.3))) {
      const request = newRequest(from, now);
      const value = request.fee + (rng.chance(0.1) ? 1n : 0n);
      const input = { hash: keccak256(INPUT), canonical: true };
      return {
        move: { ...common, kind: "request", value, request, input },
        action: { ...actions.request(request, INPUT), value },
      };
    }
    const request = rng.pick(requests.slice(-2));
    const requestId = requestIdOf(game, request);
    const attempt = state.requests.get(requestId)?.word.attempt ?? 0;
    if (claims.length === 0 || kind <= 1) {
      const side: Side = rng.chance(0.5) ? "right" : "wrong";
      const gasPrice = (CONSTANTS.gasPriceFloor * BigInt(rng.int(1, 20))) / 8n;
      const { bond } = bondsOf(CONSTANTS, { ...request, gasPrice, depth: 2, attempt });
      const output = { hash: keccak256(outputs[side]), length: outputs[side].length / 2 - 1 };
      const operator = rng.chance(0.5) ? rng.pick(PLAYERS) : ZERO_ADDRESS;
      return {
        side,
        move: { ...common, kind: "claim", value: bond, requestId, operator, gasPrice, output, baseFee: 1n },
        action: actions.claim(request, attempt, operator, gasPrice, outputs[side], bond),
      };
    }
    const { claimId, claim, side } = rng.pick(claims.slice(-2));
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
      case 14:
        return { move: { ...on, kind: "collect", owner: from }, action: actions.collect(claim, from) };
      default:
        return rng.chance(0.5)
          ? { move: { ...common, kind: "withdraw" }, action: actions.withdraw(from, "") }
          : { move: { ...common, kind: "refund", requestId }, action: actions.refund(request) };
    }
  }

  function newRequest(requester: Address, now: number): Request {
    return {
      requester,
      modelId,
      inputHash: keccak256(INPUT),
      lanes: LANE.BOND,
      fee: BigInt(rng.int(0, 999)),
      deliveryFee: 0n,
      minBond: BigInt(rng.int(0, 2 ** 50)),
      window: rng.chance(0.05) ? 119 : rng.int(120, 140),
      expiry: now + rng.int(1, 400),
      exclusiveProver: rng.chance(0.2) ? rng.pick(PLAYERS) : ZERO_ADDRESS,
      exclusiveUntil: now + (rng.chance(0.1) ? 601 : rng.int(0, 20)),
      callback: ZERO_ADDRESS,
      callbackGas: 0,
      salt: BigInt(toHex(rng.bytes(8))),
    };
  }

  /** Sends the action in a block of this second; the refusal's name, or undefined. */
  async function send({ from, now }: Move, { to, data, value }: Action): Promise<string | undefined> {
    await local.control.setNextBlockTimestamp({ timestamp: BigInt(now) });
    await local.control.setNextBlockBaseFeePerGas({ baseFeePerGas: 1n });
    const call = {
      from,
      to,
      data,
      value: `0x${value.toString(16)}`,
      gas: "0x5b8d80",
      maxFeePerGas: "0x2",
      maxPriorityFeePerGas: "0x1",
    };
    const hash = (await local.control.request({
      method: "eth_sendTransaction",
      params: [call],
    } as never)) as Hex;
    await local.control.mine({ blocks: 1 });
    const receipt = await local.client.getTransactionReceipt({ hash });
    if (receipt.status === "success") return undefined;
    const blockNumber = receipt.blockNumber - 1n;
    const blockOverrides = { time: BigInt(now), baseFeePerGas: 1n };
    try {
      await local.client.call({
        account: from,
        to,
        data,
        value,
        gas: 6_000_000n,
        blockNumber,
        blockOverrides,
      });
    } catch (error) {
      return decodeRevert(error)?.name;
    }
    throw new Error("it reverted, and its repetition did not");
  }

  async function compare(now: number, labels: string): Promise<void> {
    const reader = new StateReader(system.chain);
    const request = requests.at(-1);
    const ids =
      request === undefined
        ? []
        : [requestIdOf(game, request), ...claims.slice(-3).map(({ claim }) => claim.requestId)];
    for (const id of ids) expect(await reader.requestWord(id), labels).toEqual(state.requests.get(id)?.word);
    for (const { claimId, claim } of claims.slice(-3)) {
      const expected = state.claims.get(claimId);
      expect(await reader.claim(claimId, claim, PLAYERS, POSITIONS), labels).toEqual(expected);
      const blockOverrides = { time: BigInt(now) };
      const { data } = await local.client.call({
        to: game.assay,
        data: isFinalData(claimId),
        blockOverrides,
      });
      expect(BigInt(data ?? 0) === 1n, labels).toBe(
        expected !== undefined && isFinal(expected.word, CONSTANTS.answerSeconds, now),
      );
    }
    const credits = await Promise.all(PLAYERS.map((player) => reader.credits(player)));
    expect(credits, labels).toEqual(PLAYERS.map((player) => state.credits.get(player) ?? 0n));
    const burned = await local.client.readContract({
      address: game.assay,
      abi: iAssayAbi,
      functionName: "burned",
    });
    expect(burned, labels).toBe(state.burned);
  }

  await local.control.setAutomine(false);
  let now = await local.now();
  for (let i = 0; i < MOVES; i += 1) {
    now += rng.chance(0.02) ? rng.int(2, 200) : 1;
    const { move, action, side } = propose(now);
    // Whoever sends it on the chain is whoever moves.
    const result = play(state, move);
    const refusal = await send(move, action);
    const label = `move ${i}, ${move.kind} at ${now}`;
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
    const name = result.ok ? move.kind : result.refusal;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    await compare(now, label);
  }
  // Moves that never happened would agree on nothing.
  expect([...accepted.keys()].sort()).toMatchInlineSnapshot(`
    [
      "challenge",
      "claim",
      "collect",
      "commitTrace",
      "convict",
      "demand",
      "finalize",
      "refund",
      "request",
      "reveal",
      "timeoutDemand",
      "withdraw",
    ]
  `);
  expect([...refused.keys()].sort()).toMatchInlineSnapshot(`
    [
      "AlreadyDemanded",
      "AlreadyHolding",
      "ClaimIsFinal",
      "ClaimNotActive",
      "ClaimNotFallen",
      "ClaimNotFinal",
      "DeadlineNotPassed",
      "DeadlinePassed",
      "ExclusiveTooLong",
      "GasPriceOutOfRange",
      "NoCredit",
      "NoFault",
      "NotChallenged",
      "NotDemanded",
      "NotExclusiveProver",
      "NotExpired",
      "NotProver",
      "PositionOutside",
      "RequestExpired",
      "RequestNotOpen",
      "TicketMissing",
      "TraceAlreadyCommitted",
      "TraceMissing",
      "ValueWrong",
      "WindowEnded",
      "WindowOutOfRange",
    ]
  `);
});

const isFinalData = (claimId: ClaimId): Hex =>
  encodeFunctionData({ abi: iAssayAbi, functionName: "isFinal", args: [claimId] });
