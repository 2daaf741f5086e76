/** Settings of answers that a prover signs, and the key that signs them. */
import { z } from "zod";
import { BaseError } from "../base/errors.ts";
import { keyOf, loadKey } from "../protocol/chain/account.ts";
import { PROMISE_LIMITS } from "../protocol/rules/promises/limits.ts";
import { type Config, integer, type Settings, wei } from "../protocol/service/config.ts";
import type { SigningOptions } from "../prover/promises/open.ts";
import type { ChainConfig } from "./chain.ts";

export const SIGNING_SETTINGS = {
  sign: {
    schema: z.enum(["on", "off"], "must be on or off"),
    default: "off",
    description: "on: sign answers for callers of HTTP, backed by this account's stake in Promises",
  },
  signBond: { schema: wei, default: "0", description: "least bond that a signed claim names" },
  minFreeStake: {
    schema: wei,
    default: "0.01 ether",
    description: "free stake below which nothing is signed",
  },
  batchSeconds: {
    schema: integer(0, 86_400),
    description:
      "longest that an answer waits for its batch, seconds: while callers ask, each model posts a transaction in this time; absent: no batches",
  },
  batchSize: {
    schema: integer(1, PROMISE_LIMITS.maxLeaves),
    default: PROMISE_LIMITS.maxLeaves,
    description: "most answers of a batch",
  },
  batchWindow: {
    schema: integer(1, PROMISE_LIMITS.maxBatchWindow),
    description: "in which answers of a batch can be disputed, seconds; absent: the shortest, 4 T",
  },
  leafBond: { schema: wei, default: "0", description: "bond that stands for each answer of a batch" },
} as const satisfies Settings;

/** @param env ASSAY_SIGN_KEY, 32 bytes as hex; absent: the account's own key
 *  @returns undefined where nothing is signed
 *  @throws BaseError KEY_INVALID, SIGN_KEY_MISSING, and as loadKey */
export function signingOptions(
  {
    sign,
    signBond,
    minFreeStake,
    batchSeconds,
    batchSize,
    batchWindow,
    leafBond,
  }: Config<typeof SIGNING_SETTINGS>,
  config: ChainConfig,
  env: Readonly<Record<string, string | undefined>>,
): SigningOptions | undefined {
  if (sign === "off") return undefined;
  const { ASSAY_SIGN_KEY: own } = env;
  const isOwn = own !== undefined && own !== "";
  const key = isOwn ? keyOf(own, "ASSAY_SIGN_KEY") : loadKey(config, env);
  if (key === undefined) {
    throw new BaseError({
      code: "SIGN_KEY_MISSING",
      shortMessage: "Answers are to be signed, and the account's key is held by a remote signer.",
      nextStep: "Set ASSAY_SIGN_KEY to another key; this account binds it to its stake.",
    });
  }
  return { key, signBond, minFreeStake, batchSeconds, batchSize, batchWindow, leafBond };
}
