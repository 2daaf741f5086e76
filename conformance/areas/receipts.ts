/** Receipts over states that are made up: a header, the account's trie, the storage's. */
import { concatHex, type Hex, hexToBigInt, keccak256, toRlp } from "viem";
import { toHex } from "../../base/bytes.ts";
import { claimIdOf, requestIdOf } from "../../protocol/rules/ids.ts";
import type { Trust } from "../../protocol/rules/receipt/evidence.ts";
import { verifyReceipt } from "../../protocol/rules/receipt/verify.ts";
import { claimSlot, requestSlot, resultSlot } from "../../protocol/rules/storage-slots.ts";
import { LANE, type Policy, type RequestId, ZERO_HASH } from "../../protocol/rules/types.ts";
import {
  EMPTY_CLAIM_WORD,
  EMPTY_REQUEST_WORD,
  encodeClaimWord,
  encodeRequestWord,
} from "../../protocol/rules/words.ts";
import { type Area, type Case, refusedCase, wordCase } from "../case.ts";
import { createRng, type Rng } from "../generate/rng.ts";
import { buildTrie, nodesTo } from "../generate/state-trie.ts";
import { claimWords, packed, requestWords } from "../lines.ts";
import { gameWords, randomAddress, randomClaim, randomGame, randomHash, randomRequest } from "./game.ts";

const T = 600;
const NOW = 1_700_000_000;

/** Words of Assay's storage around a final output, or one that is not final yet. */
function randomState(rng: Rng) {
  const game = randomGame(rng);
  const output = toHex(rng.bytes(32 * rng.int(1, 4)));
  const request = { ...randomRequest(rng, false), window: 4 * T + rng.int(0, 9_000) };
  const requestId = requestIdOf(game, request);
  const claimed = rng.chance(0.1) ? randomHash(rng) : keccak256(output);
  const claim = randomClaim(
    rng,
    rng.chance(0.1) ? (randomHash(rng) as RequestId) : requestId,
    request.modelId,
    claimed,
  );
  const isTruth = rng.chance(0.3);
  const windowEnd = NOW + rng.pick([-9_000, -1, 0, 1, 500]);
  const claimWord = encodeClaimWord({
    ...EMPTY_CLAIM_WORD,
    ...{ state: rng.pick(["ACTIVE", "ACTIVE", "FINAL", "FALLEN"]), windowEnd },
    lastEvent: rng.pick([0, windowEnd - T - 1, NOW - T - 1, NOW - T, NOW - 5]),
    hardEnd: NOW + rng.pick([-1, 0, 1, 5_000]),
    pending: rng.chance(0.15) ? rng.int(1, 3) : 0,
    tickets: rng.int(0, 3),
    depth: 3,
  });
  const requestWord = encodeRequestWord({
    ...EMPTY_REQUEST_WORD,
    state: isTruth ? "DONE" : rng.pick(["BUSY", "BUSY", "DONE", "OPEN", "REFUNDED"]),
    lane: isTruth ? rng.pick([LANE.EXECUTION, LANE.PROOF]) : LANE.BOND,
    requestedAt: NOW - 10_000,
  });
  // The contract's own copies stand above the fields.
  const copies = BigInt(rng.u32()) << 136n;
  const words = new Map([
    [requestSlot(requestId), requestWord | copies],
    [claimSlot(claimIdOf(game, claim)), claimWord],
  ]);
  if (isTruth) words.set(resultSlot(requestId), hexToBigInt(keccak256(output)));
  for (let i = rng.int(0, 60); i > 0; i--) words.set(randomHash(rng), BigInt(rng.u32()) + 1n);
  return { game, output, request, requestId, claim, words };
}

const rlpNumber = (value: bigint | number): Hex => (BigInt(value) === 0n ? "0x" : toRlpBytes(value));
/** Big-endian without leading zeros. */
function toRlpBytes(value: bigint | number): Hex {
  const digits = value.toString(16);
  return `0x${digits.length % 2 === 0 ? "" : "0"}${digits}`;
}

function headerOf(rng: Rng, stateRoot: Hex): Hex {
  const bloom = `0x${"00".repeat(256)}` as Hex;
  const numbers = [0, rng.int(1, 2 ** 30), 30_000_000, rng.int(0, 30_000_000), NOW].map(rlpNumber);
  const roots = [
    randomHash(rng),
    randomHash(rng),
    randomAddress(rng),
    stateRoot,
    randomHash(rng),
    randomHash(rng),
  ];
  return toRlp([
    ...roots,
    bloom,
    ...numbers,
    "0x",
    randomHash(rng),
    "0x0000000000000000",
    rlpNumber(rng.int(0, 2 ** 30)),
  ]);
}

export const RECEIPTS: Area = {
  name: "receipts",
  about:
    "receipts of final outputs and of others, by policies that are met or not, and with a node changed or missing",
  lines: ["receipt"],
  *cases(seed) {
    const rng = createRng(seed);
    const { game, output, request, requestId, claim, words } = randomState(rng);
    const storage = buildTrie(
      new Map([...words].map(([slot, word]) => [keccak256(slot), toRlp(rlpNumber(word))] as const)),
    );
    const codeHash = randomHash(rng);
    const account = toRlp([rlpNumber(rng.int(0, 9)), rlpNumber(rng.u32()), storage.root, codeHash]);
    const accounts = new Map([[keccak256(game.assay), account]]);
    for (let i = rng.int(0, 40); i > 0; i--)
      accounts.set(
        randomHash(rng),
        toRlp([rlpNumber(i), rlpNumber(rng.u32()), randomHash(rng), randomHash(rng)]),
      );
    const state = buildTrie(accounts);
    const header = headerOf(rng, state.root);
    const slots = [requestSlot(requestId), resultSlot(requestId), claimSlot(claimIdOf(game, claim))];
    const nodes = [
      ...nodesTo(state, keccak256(game.assay)),
      ...slots.flatMap((slot) => nodesTo(storage, keccak256(slot))),
    ];
    const shown = { header, nodes: [...new Set(nodes)], output };
    const trust: Trust = { ...game, answerSeconds: T, blockHash: keccak256(header) };
    const policy: Policy = {
      modelId: request.modelId,
      inputHash: request.inputHash,
      lanes: rng.pick([7, 7, 7, LANE.BOND, LANE.EXECUTION, LANE.PROOF]),
      minBond: rng.pick([0n, 0n, claim.bond, claim.bond + 1n]) & ((1n << 96n) - 1n),
      minWindow: request.window + rng.pick([-1, 0, 0, 1]),
    };
    const given = { ...shown, request, claim: rng.chance(0.9) ? claim : undefined };
    yield receiptCase(trust, policy, given);
    yield receiptCase({ ...trust, codeHash: rng.chance(0.5) ? codeHash : randomHash(rng) }, policy, given);
    yield receiptCase({ ...trust, blockHash: randomHash(rng) }, policy, given);
    yield receiptCase({ ...trust, chainId: trust.chainId + 1 }, policy, given);
    yield receiptCase(trust, { ...policy, modelId: randomHash(rng) as never }, given);
    yield receiptCase(trust, policy, { ...given, output: concatHex([output, "0x00"]) });
    const at = rng.int(0, given.nodes.length - 1);
    yield receiptCase(trust, policy, { ...given, nodes: given.nodes.filter((_, i) => i !== at) });
    const node = given.nodes[at] as Hex;
    const digit = rng.int(2, node.length - 1);
    const other = ((Number.parseInt(node[digit] as string, 16) + rng.int(1, 15)) % 16).toString(16);
    const changed = `${node.slice(0, digit)}${other}${node.slice(digit + 1)}` as Hex;
    yield receiptCase(trust, policy, {
      ...given,
      nodes: given.nodes.map((one, i) => (i === at ? changed : one)),
    });
  },
};

type Given = Omit<Parameters<typeof verifyReceipt>[0], "format">;

function receiptCase(trust: Trust, policy: Policy, given: Given): Case {
  const { request, claim, output, header, nodes } = given;
  const line = [
    "receipt",
    ...gameWords(trust),
    ...[packed(trust.answerSeconds, 5), trust.blockHash, trust.codeHash ?? ZERO_HASH],
    ...[policy.modelId, policy.inputHash, packed(policy.lanes, 1), packed(policy.minBond, 12)],
    ...[packed(policy.minWindow, 4), ...requestWords(request), packed(claim === undefined ? 0 : 1, 1)],
    ...(claim === undefined ? [] : claimWords(claim)),
    ...[output, header, ...nodes],
  ] as const;
  const verdict = verifyReceipt({ format: "assay-receipt-1", ...given }, trust, policy);
  if (!verdict.valid) return refusedCase(line);
  const shown = [
    verdict.requestId,
    verdict.claimId ?? ZERO_HASH,
    packed(verdict.lane, 1),
    packed(verdict.block.timestamp, 8),
  ];
  return wordCase(line, shown, ["request id", "claim id", "lane", "block's time"]);
}
