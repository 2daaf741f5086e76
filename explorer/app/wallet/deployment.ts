import { JUDGE_VERSION } from "../../../inference/program/form.ts";
import type { Deployment } from "../../../protocol/chain/deployment.ts";
import type { Overview } from "../../api/types.ts";

/** The deployment that the explorer follows. */
export function deploymentOf({ chainId, contracts, constants, deployedAt }: Overview): Deployment {
  return {
    chainId,
    judgeVersion: JUDGE_VERSION,
    contracts: contracts as Deployment["contracts"],
    constants: {
      answerSeconds: constants.answerSeconds,
      gasPriceFloor: BigInt(constants.gasPriceFloor),
      gasBase: BigInt(constants.gasBase),
      gasPerDemand: BigInt(constants.gasPerDemand),
    },
    block: { number: BigInt(deployedAt.number), hash: deployedAt.hash as `0x${string}` },
  };
}
