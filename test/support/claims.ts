/** Claims filed manually, in place of a prover. */
import type { Hex } from "viem";
import { type Action, Actions } from "../../protocol/chain/actions.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import type { Sender } from "../../protocol/chain/sender.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { gasPriceRange } from "../../protocol/rules/money.ts";
import { type Request, ZERO_ADDRESS } from "../../protocol/rules/types.ts";

/** A claim on a request, by default its first one, with the least bond that it takes. */
export async function claimAction(chain: Chain, request: Request, output: Hex, attempt = 0): Promise<Action> {
  const { baseFeePerGas } = await chain.client.getBlock();
  const gasPrice = (gasPriceRange(chain.constants, baseFeePerGas ?? 0n).least * 3n) / 2n;
  const { bond } = await new StateReader(chain).bonds(request, gasPrice);
  return new Actions(chain.game).claim(request, attempt, ZERO_ADDRESS, gasPrice, output, bond);
}

/** @throws Error if the chain refuses the claim */
export async function claimOutput(
  chain: Chain,
  sender: Sender,
  request: Request,
  output: Hex,
): Promise<void> {
  const { status } = await sender.send(await claimAction(chain, request, output));
  if (status !== "sent") throw new Error(`The claim is not on the chain: ${status}.`);
}

/** Return data of the tiny model for these bytes. */
export const bytesOutput = (data: Hex): Hex =>
  encodeCall({ selector: "0x", inputs: [{ name: "o", type: "bytes" }], outputs: [] }, { o: data });
