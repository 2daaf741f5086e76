import { presetOf, transactionGasOn } from "../../../../protocol/chain/presets.ts";
import type { Overview } from "../../../api/types.ts";
import type { PlanWishes } from "../../import/forms.ts";
import { deploymentOf } from "../../wallet/deployment.ts";

/** Answering times in a window, as `assay plan` has it. */
const WINDOW_ANSWERS = 4;
/** Of a chain that is not known. */
const BLOCK_SECONDS = 12;

/** What a plan takes from the deployment. @param value wei at stake on one output */
export function wishesOf(overview: Overview, value: bigint): PlanWishes {
  const { constants } = deploymentOf(overview);
  return {
    constants,
    value,
    gasPrice: overview.gasPrice === undefined ? constants.gasPriceFloor : BigInt(overview.gasPrice),
    transactionGas: BigInt(transactionGasOn(overview.chainId)),
    blockSeconds: presetOf(overview.chainId)?.blockSeconds ?? BLOCK_SECONDS,
    window: WINDOW_ANSWERS * constants.answerSeconds,
  };
}
