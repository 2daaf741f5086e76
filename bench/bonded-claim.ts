/** A request and a claim on it, as the moves of a measured game need them. */
import { type Hex, keccak256, type LocalAccount, slice } from "viem";
import { StateReader } from "../protocol/chain/reads.ts";
import { gasPriceRange } from "../protocol/rules/money.ts";
import { type Claim, LANE, type ModelId, type Request, ZERO_ADDRESS } from "../protocol/rules/types.ts";
import { accountAt } from "../test/support/anvil.ts";
import { type BenchChain, eventOf, type Mined } from "./chain.ts";

export const REQUESTER: LocalAccount = accountAt(1);
export const PROVER: LocalAccount = accountAt(2);
export const CHALLENGER: LocalAccount = accountAt(3);
export const OPERATOR: LocalAccount = accountAt(4);

export interface BondedClaim {
  readonly request: Request;
  readonly claim: Claim;
  readonly requested: Mined;
  readonly claimed: Mined;
}

export interface FiledRequest {
  readonly request: Request;
  readonly requested: Mined;
}

/** Asks for the input. @param lanes those that are accepted */
export async function fileRequest(
  bench: BenchChain,
  { modelId, input, lanes }: { modelId: ModelId; input: Hex; lanes: number },
): Promise<FiledRequest> {
  const { answerSeconds } = bench.chain.constants;
  const request: Request = {
    requester: REQUESTER.address,
    modelId,
    inputHash: keccak256(input),
    lanes,
    fee: 10n ** 15n,
    deliveryFee: 0n,
    minBond: 0n,
    window: 4 * answerSeconds,
    expiry: (await bench.now()) + 86_400,
    exclusiveProver: ZERO_ADDRESS,
    exclusiveUntil: 0,
    callback: ZERO_ADDRESS,
    callbackGas: 0,
    salt: BigInt(slice(keccak256(input), 0, 8)),
  };
  return { request, requested: await bench.send(REQUESTER, bench.actions.request(request, input)) };
}

/** Asks for the input and claims the output. */
export async function fileBondedClaim(
  bench: BenchChain,
  { modelId, input, output }: { modelId: ModelId; input: Hex; output: Hex },
): Promise<BondedClaim> {
  const { request, requested } = await fileRequest(bench, { modelId, input, lanes: LANE.BOND });
  const gasPrice = await allowedGasPrice(bench);
  const { bond } = await new StateReader(bench.chain).bonds(request, gasPrice);
  const claimed = await bench.send(
    PROVER,
    bench.actions.claim(request, 0, OPERATOR.address, gasPrice, output, bond),
  );
  return { request, claim: eventOf(claimed, "Claimed").claim, requested, claimed };
}

/** In the middle of what the next block allows. */
async function allowedGasPrice({ client, chain }: BenchChain): Promise<bigint> {
  const { baseFeePerGas } = await client.getBlock();
  const { least, greatest } = gasPriceRange(chain.constants, baseFeePerGas ?? 0n);
  return (least + greatest) / 2n;
}
