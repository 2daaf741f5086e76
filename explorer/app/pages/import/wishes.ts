import { ASSUMED } from "../../../../protocol/chain/plan/plan.ts";
import { presetOf, transactionGasOn } from "../../../../protocol/chain/presets.ts";
import type { Overview } from "../../../api/types.ts";
import type { PlanWishes } from "../../import/forms.ts";
import { deploymentOf } from "../../wallet/deployment.ts";

/** What a plan takes from the deployment. @param value wei at stake on one output */
export function wishesOf(overview: Overview, value: bigint): PlanWishes {
  const { constants } = deploymentOf(overview);
  return {
    constants,
    value,
    gasPrice: overview.gasPrice === undefined ? constants.gasPriceFloor : BigInt(overview.gasPrice),
    transactionGas: BigInt(transactionGasOn(overview.chainId)),
    blockSeconds: presetOf(overview.chainId)?.blockSeconds ?? ASSUMED.blockSeconds,
    window: ASSUMED.windowAnswers * constants.answerSeconds,
  };
}
