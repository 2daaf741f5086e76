/** What commands that verify without a node are told to trust. */
import type { Hex } from "viem";
import type { Deployment } from "../protocol/chain/deployment.ts";
import type { Trust } from "../protocol/rules/receipt/evidence.ts";
import { refuseArgument } from "./output.ts";

/** @param block hash of a block, as `--block` gives it @throws BaseError ARGUMENT_INVALID */
export const trustOf = ({ chainId, contracts, constants }: Deployment, block: string): Trust => ({
  chainId,
  assay: contracts.assay,
  answerSeconds: constants.answerSeconds,
  blockHash: hashArgument("--block", block),
});

/** @throws BaseError ARGUMENT_INVALID */
export const hashArgument = <Id extends Hex>(flag: string, text: string): Id =>
  /^0x[0-9a-f]{64}$/i.test(text) ? (text.toLowerCase() as Id) : refuseArgument(flag, text, "32 bytes as hex");
