/** Settlements as `settleBatch` takes them (docs/PROTOCOL.md, section 2). */
import { concatHex, type Hex, numberToHex, size } from "viem";
import { encodeClaim } from "./ids.ts";
import { encodeFiled } from "./orders.ts";
import type { Claim, Request } from "./types.ts";

/** One request of a batch that proofs settle. */
export interface Settlement {
  readonly request: Request;
  /** absent: the request has no live claim */
  readonly claim?: Claim | undefined;
  /** the model's calldata, selector included */
  readonly input: Hex;
  readonly output: Hex;
  readonly evidence: Hex;
}

/** Bytes of a part's length. */
const LENGTH_BYTES = 3;

/** @throws BaseError INPUT_MISMATCH if the request is about another input */
export function encodeSettlement({ request, claim, input, output, evidence }: Settlement): Hex {
  const order = encodeFiled(request, input);
  const parts = [order, claim === undefined ? "0x" : encodeClaim(claim), output] as const;
  return concatHex([
    ...parts.flatMap((part) => [numberToHex(size(part), { size: LENGTH_BYTES }), part]),
    evidence,
  ]);
}
