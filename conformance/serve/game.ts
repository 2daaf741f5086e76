/** The lines about requests: ids, orders and receipts. */
import type { Hex } from "viem";
import { toHex } from "../../base/bytes.ts";
import { claimIdOf, type GameAddress, requestIdOf } from "../../protocol/rules/ids.ts";
import { decodeOrder, encodeOrder } from "../../protocol/rules/orders.ts";
import { verifyReceipt } from "../../protocol/rules/receipt/verify.ts";
import {
  type Claim,
  type ClaimId,
  type ModelId,
  type Request,
  type RequestId,
  ZERO_HASH,
} from "../../protocol/rules/types.ts";
import { packed, requestWords } from "../lines.ts";
import type { Words } from "./words.ts";

export const CHAIN_ID_BITS = 53;

const gameOf = (words: Words): GameAddress => ({
  chainId: words.number(CHAIN_ID_BITS),
  assay: words.hex(20),
});

const requestOf = (words: Words): Request => ({
  requester: words.hex(20),
  modelId: words.hex(32) as ModelId,
  inputHash: words.hex(32),
  lanes: words.number(8),
  fee: words.bigint(96),
  deliveryFee: words.bigint(96),
  minBond: words.bigint(96),
  window: words.number(32),
  expiry: words.number(40),
  exclusiveProver: words.hex(20),
  exclusiveUntil: words.number(40),
  callback: words.hex(20),
  callbackGas: words.number(32),
  salt: words.bigint(64),
});

const claimOf = (words: Words): Claim => ({
  requestId: words.hex(32) as RequestId,
  modelId: words.hex(32) as ModelId,
  attempt: words.number(32),
  prover: words.hex(20),
  operator: words.hex(20),
  outputHash: words.hex(32),
  bond: words.bigint(96),
  ticketBond: words.bigint(96),
  gasPrice: words.bigint(64),
});

export const requestLine = (words: Words): string[] => [requestIdOf(gameOf(words), requestOf(words))];
export const claimLine = (words: Words): string[] => [claimIdOf(gameOf(words), claimOf(words))];

export function orderLine(words: Words): string[] {
  const { request, input } = decodeOrder(words.hex(32) as ModelId, toHex(words.bytes()));
  return [...requestWords(request), input];
}

export const packLine = (words: Words): string[] => [encodeOrder(requestOf(words), toHex(words.bytes()))];

/** What a receipt says, if it shows it. */
export function receiptLine(words: Words): string[] {
  const game = gameOf(words);
  const answerSeconds = words.number(40);
  const blockHash = words.hex(32);
  const codeHash = words.hex(32);
  const policy = {
    modelId: words.hex(32) as ModelId,
    inputHash: words.hex(32),
    lanes: words.number(8),
    minBond: words.bigint(96),
    minWindow: words.number(32),
  };
  const request = requestOf(words);
  const isClaimed = words.number(1) === 1;
  const claim = isClaimed ? claimOf(words) : undefined;
  const [output, header] = [toHex(words.bytes()), toHex(words.bytes())];
  const nodes: Hex[] = [];
  while (words.left > 0) nodes.push(toHex(words.bytes()));
  const receipt = { format: "assay-receipt-1", request, claim, output, header, nodes } as const;
  const trust = { ...game, answerSeconds, blockHash, ...(codeHash === ZERO_HASH ? {} : { codeHash }) };
  const verdict = verifyReceipt(receipt, trust, policy);
  if (!verdict.valid) throw verdict.error;
  const claimId: ClaimId | Hex = verdict.claimId ?? ZERO_HASH;
  return [verdict.requestId, claimId, packed(verdict.lane, 1), packed(verdict.block.timestamp, 8)];
}
