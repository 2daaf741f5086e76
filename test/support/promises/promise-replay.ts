/** A game of promises that was played on the machine, played again on the contracts: each move must have the same answer
 *  and leave the same accounts, promises, batches, credits and ether. */
import {
  type Address,
  concatHex,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
} from "viem";
import { sign } from "viem/accounts";
import { toHex } from "../../../base/bytes.ts";
import { decodePosition } from "../../../inference/commit/positions.ts";
import { revealAt, topsOf } from "../../../inference/commit/reveal.ts";
import { type Action, Actions } from "../../../protocol/chain/actions.ts";
import { iPromisesAbi } from "../../../protocol/rules/generated/abis.ts";
import type { Move as AssayMove } from "../../../protocol/rules/machine.ts";
import type { BatchId } from "../../../protocol/rules/promises/batch.ts";
import type { PromiseMove, SignatureFacts } from "../../../protocol/rules/promises/moves.ts";
import { digestOf } from "../../../protocol/rules/promises/signed-claim.ts";
import { accountOf, type BatchState, type PromisesState } from "../../../protocol/rules/promises/state.ts";
import { claimSlot } from "../../../protocol/rules/storage-slots.ts";
import { type Claim, type ClaimId, LANE, type Request } from "../../../protocol/rules/types.ts";
import { decodeClaimWord } from "../../../protocol/rules/words.ts";
import type { EvmWorld, Sent } from "../evm-world.ts";
import {
  batchTree,
  KEYS,
  leafOf,
  MODELS,
  notCanonical,
  otherInput,
  PEOPLE,
  type Side,
  tooLong,
} from "./promise-models.ts";
import { type PromiseTable, PromiseViolation } from "./promise-table.ts";

/** Names by which the contract tells apart what the machine refuses by one. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  SignatureInvalid: ["SignatureLengthWrong"],
};
const STATUSES = ["NONE", "QUEUED", "OPEN", "CLOSED"] as const;
const STRANGER = keccak256("0x5743");

/** The bytes behind each hash of a game. */
const BYTES = new Map<Hex, Hex>(
  MODELS.flatMap((model) => [
    model.input,
    otherInput(model),
    notCanonical(model),
    model.outputs.right,
    model.outputs.wrong,
    tooLong(model),
  ]).map((bytes) => [keccak256(bytes), bytes]),
);
const bytesOf = (hash: Hex): Hex => BYTES.get(hash) as Hex;

export interface PromiseReplay {
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

/** @param promises address of the contract
 *  @param skipsRepeated true to play a refusal once: a random game has many of a kind
 *  @param onMove told of each move that the contracts accepted
 *  @throws PromiseViolation where contracts and machine differ */
export async function replayPromises(
  world: EvmWorld,
  promises: Address,
  table: PromiseTable,
  skipsRepeated = false,
  onMove: (sent: Sent, move: PromiseMove) => void = () => undefined,
): Promise<PromiseReplay> {
  const accepted: string[] = [];
  const refused = new Set<string>();
  let state = table.start;
  for (const { move, result } of table.attempts) {
    if (!result.ok) {
      // The same refusal again and again says nothing new.
      const name = `${move.kind} ${result.refusal}`;
      if (skipsRepeated && refused.has(name)) continue;
      refused.add(name);
    }
    const call = await callOf(table, state, promises, move);
    const sent = await world.send(move.from, call, move.now, move.baseFee);
    const { refusal } = sent;
    const expected = result.ok ? undefined : result.refusal.replace("Assay: ", "");
    if (refusal !== expected && !(expected !== undefined && ALSO[expected]?.includes(refusal ?? ""))) {
      throw new PromiseViolation(
        0,
        `${move.kind} at ${move.now}: the contract says ${refusal ?? "yes"}, the machine ${expected ?? "yes"}`,
      );
    }
    if (!result.ok) continue;
    accepted.push(move.kind);
    onMove(sent, move);
    state = result.state;
    await compare(world, promises, state, move);
  }
  return { accepted, refused: [...refused] };
}

/** Accounts, and what the move was about. */
async function compare(
  world: EvmWorld,
  promises: Address,
  state: PromisesState,
  move: PromiseMove,
): Promise<void> {
  const { now } = move;
  const read = async (functionName: string, args: readonly unknown[]): Promise<unknown> => {
    const data = encodeFunctionData({ abi: iPromisesAbi, functionName, args } as never);
    const returned = await world.call({ to: promises, data }, now);
    return decodeFunctionResult({ abi: iPromisesAbi, functionName, data: returned } as never);
  };
  const same = (what: string, actual: unknown, required: unknown) => {
    const [a, b] = [actual, required].map((value) =>
      JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `${v}` : v)),
    );
    if (a !== b)
      throw new PromiseViolation(
        0,
        `${move.kind} at ${now}: ${what} is ${a} on the chain, ${b} in the machine`,
      );
  };
  for (const prover of [PEOPLE.cheat, PEOPLE.honest]) {
    const { free, leaving, exitAt, away, slots, hotSince, head, tail } = (await read("accountOf", [
      prover,
    ])) as never;
    const account = accountOf(state, prover);
    const none = numberToHex(0, { size: 32 });
    same(
      `an account`,
      [free, leaving, exitAt, away, slots, hotSince, head, tail],
      [
        ...[account.free, account.leaving, account.exitAt, account.away, account.slots, account.hotSince],
        ...[account.queue[0] ?? none, account.queue.at(-1) ?? none],
      ],
    );
  }
  const digest =
    move.kind === "takeBack"
      ? move.digest
      : move.kind === "open" || move.kind === "openNext"
        ? digestOf(state.address, move.claim)
        : undefined;
  if (digest !== undefined) {
    const entry = state.signed.get(digest);
    const { status, shown, opener, deposit } = (await read("signedState", [digest])) as {
      status: number;
      shown: boolean;
      opener: Address;
      deposit: bigint;
    };
    same(
      "a promise",
      [STATUSES[status], shown, opener, deposit],
      [entry?.status, true, entry?.opener, entry?.deposit],
    );
  }
  const batchId = "batchId" in move ? move.batchId : undefined;
  if (batchId !== undefined) {
    const batch = state.batches.get(batchId) as BatchState;
    const { windowEnd, open, idle, fallen, bond } = (await read("batchState", [batchId])) as never;
    same(
      "a batch",
      [windowEnd, open, idle, fallen, bond],
      [batch.windowEnd, batch.open, batch.idleSlots, batch.isFallen, batch.bond],
    );
  }
  same("what burned", await read("burned", []), state.burned);
  same("the balance", await world.balance(promises), state.balance);
  for (const account of [PEOPLE.friend, PEOPLE.victim, PEOPLE.challenger]) {
    same("a credit", await read("credits", [account]), state.credits.get(account) ?? 0n);
  }
  const claimId = "claimId" in move ? move.claimId : [...state.filed.keys()].at(-1);
  const held = claimId === undefined ? undefined : state.assay.claims.get(claimId);
  if (claimId !== undefined && held !== undefined) {
    same("a claim", decodeClaimWord(await world.stored(claimSlot(claimId))), held.word);
  }
}

type Call = Pick<Action, "to" | "data" | "value">;

/** The transaction of a move. */
async function callOf(
  table: PromiseTable,
  state: PromisesState,
  promises: Address,
  move: PromiseMove,
): Promise<Call> {
  const call = (functionName: string, args: readonly unknown[]): Call => ({
    to: promises,
    data: encodeFunctionData({ abi: iPromisesAbi, functionName, args } as never),
    value: move.value ?? 0n,
  });
  const claimOf = (id: ClaimId) => state.assay.claims.get(id)?.claim as Claim;
  const requestOf = (id: ClaimId) => state.assay.requests.get(claimOf(id).requestId)?.request as Request;
  switch (move.kind) {
    case "deposit":
      return call("deposit", [move.prover]);
    case "announceExit":
      return call("announceExit", [move.amount]);
    case "exit":
      return call("exit", [move.to]);
    case "setSigner":
      return call("setSigner", [move.key, move.until]);
    case "open": {
      const signature = await signatureOf(digestOf(state.address, move.claim), move.signature);
      return call("open", [move.claim, signature, bytesOf(move.input.hash), bytesOf(move.output.hash)]);
    }
    case "openNext":
      return call("openNext", [move.claim, bytesOf(move.input.hash), bytesOf(move.output.hash)]);
    case "passNext":
      return call("passNext", [move.prover, move.behind]);
    case "takeBack":
      return call("takeBack", [move.digest]);
    case "commitTrace":
      return call("commitTrace", [claimOf(move.claimId), topsBy(table, move.claimId, move.traceRoot)]);
    case "close":
      return call("close", [requestOf(move.claimId), claimOf(move.claimId)]);
    case "post":
      return call("post", [move.prover, move.modelId, move.window, move.leafBond, dataOf(table, move)]);
    case "openLeaf": {
      const { batch, leaves, model } = batchOf(table, state, move.batchId);
      const path = batchTree(model, leaves).paths[move.index];
      return call("openLeaf", [batch, BigInt(move.index), payloadOf(model, move.output.hash), path]);
    }
    case "nextLeaf": {
      const { batch, model } = batchOf(table, state, move.batchId);
      return call("nextLeaf", [batch, payloadOf(model, move.output.hash)]);
    }
    case "dropLeaf":
    case "release":
      return call(move.kind, [batchOf(table, state, move.batchId).batch]);
    case "withdraw":
      return call("withdraw", [move.to]);
    case "pullBurn":
      return call("pullBurn", []);
    case "assay":
      return assayCall(table, state, move.move);
  }
}

async function signatureOf(digest: Hex, { signer, isEcdsa }: SignatureFacts): Promise<Hex> {
  if (!isEcdsa) return `0x${"5a".repeat(64)}`;
  const keys = [...KEYS.cheat, ...KEYS.honest, ...KEYS.thief];
  const privateKey = keys.find(({ address }) => address === signer)?.privateKey ?? STRANGER;
  return sign({ hash: digest, privateKey, to: "hex" });
}

/** What whoever posts would send. */
function dataOf(table: PromiseTable, move: Extract<PromiseMove, { kind: "post" }>): Hex {
  const model = table.ids.indexOf(move.modelId);
  const sides = table.rootsOf.get(move.root) as readonly Side[];
  return concatHex(
    sides.map((side) => leafOf(MODELS[model === -1 ? 0 : model] as (typeof MODELS)[number], side)),
  );
}

const payloadOf = (model: number, outputHash: Hex): Hex => {
  const { outputs, ...rest } = MODELS[model] as (typeof MODELS)[number];
  return leafOf({ ...rest, outputs }, outputHash === keccak256(outputs.wrong) ? "wrong" : "right");
};

function batchOf(table: PromiseTable, state: PromisesState, batchId: BatchId) {
  const { prover, modelId, window, count, root } = state.batches.get(batchId) as BatchState;
  const { leaves, model } = table.posted.find((posted) => posted.batchId === batchId) as never as {
    leaves: readonly Side[];
    model: number;
  };
  return { batch: { prover, modelId, window, count, root }, leaves, model };
}

function topsBy(table: PromiseTable, claimId: ClaimId, traceRoot: Hex): Hex[] {
  const { traces } = MODELS[table.modelOf(claimId)] as (typeof MODELS)[number];
  const trace = [traces.right, traces.wrong].find(({ root }) => toHex(root) === traceRoot);
  return trace === undefined ? [traceRoot] : topsOf(trace).map(toHex);
}

/** Anybody's move in Assay. */
function assayCall(table: PromiseTable, state: PromisesState, move: AssayMove): Call {
  const actions = new Actions(state.assay.address);
  if (!("claimId" in move) || move.claimId === undefined) throw new Error(`nobody here plays ${move.kind}`);
  const held = state.assay.claims.get(move.claimId);
  const claim = held?.claim as Claim;
  const request = state.assay.requests.get(claim.requestId)?.request as Request;
  const model = MODELS[table.modelOf(move.claimId)] as (typeof MODELS)[number];
  const input = bytesOf(request.inputHash);
  switch (move.kind) {
    case "challenge":
      return actions.challenge(claim);
    case "commitTrace":
      return actions.commitTrace(claim, topsBy(table, move.claimId, move.traceRoot));
    case "demand":
      return actions.demand(claim, move.traceRoot, move.position);
    case "reveal": {
      const { content, path } = revealAt(model.traces.right, decodePosition(move.position));
      return actions.reveal(claim, move.position, content.map(toHex), path.map(toHex));
    }
    case "convict": {
      if (move.reason === "CODEC")
        return actions.convictCodec(request, claim, 0, input, held?.traceRoot as Hex, []);
      const side = held?.traceRoot === toHex(model.traces.right.root) ? "right" : "wrong";
      return actions.convictOutput(claim, bytesOf(claim.outputHash), model.wrongAt, [model.openings[side]]);
    }
    case "timeoutTrace":
      return actions.timeoutTrace(claim);
    case "timeoutDemand":
      return actions.timeoutDemand(claim, move.position);
    case "settle": {
      const output = bytesOf(move.outputHash);
      return actions.settle(
        request,
        claim,
        move.lane,
        input,
        output,
        move.lane === LANE.PROOF ? "0x01" : "0x",
      );
    }
    default:
      throw new Error(`nobody here plays ${move.kind}`);
  }
}
