/** Requests for models/sentiment in a system, each with an input of its own, and what is known of them. */
import type { Hex } from "viem";
import { toHex } from "../../base/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import type { Request, RequestId } from "../../protocol/rules/types.ts";
import type { Args } from "./event-log.ts";
import { type System, systemAccount } from "./system.ts";

export interface Case {
  readonly request: Request;
  readonly requestId: RequestId;
  readonly model: LoadedModel;
  readonly calldata: Uint8Array;
  /** the only right output */
  readonly right: Hex;
  /** The first claim on it, now or later. */
  claimed(): Promise<Args<"Claimed">>;
}

/** Even seeds stay near usual values. */
let seed = 0;

/** Files a request. @param prover index of the account that alone may claim; absent: anybody may
 *  @param exclusiveSeconds for how long; absent: that of `System.ask` */
export async function fileCase(system: System, prover?: number, exclusiveSeconds?: number): Promise<Case> {
  const model = system.model("sentiment");
  seed += 2;
  const calldata = selfTestCalldata(model.model.program, model.selector, seed);
  const right = toHex(execute(prepare(model.model, model.selector), calldata));
  const only = prover === undefined ? {} : { prover: systemAccount(prover).address };
  const seconds = exclusiveSeconds === undefined ? {} : { exclusiveSeconds };
  const asked = await system.ask({ model, calldata, ...only, ...seconds });
  const claimed = () => system.events.until("Claimed", (event) => event.requestId === asked.requestId);
  return { ...asked, model, calldata, right, claimed };
}

/** Whether an event is about this claim. */
export const of =
  ({ claimId }: { readonly claimId: string }) =>
  (event: { readonly claimId: string }): boolean =>
    event.claimId === claimId;

/** Whether an event is about this request or a claim on it. */
export function isAbout(
  { events }: System,
  { requestId }: Pick<Case, "requestId">,
  { args }: ChainEvent,
): boolean {
  if ("requestId" in args && args.requestId === requestId) return true;
  const claims = events.all("Claimed", (claimed) => claimed.requestId === requestId);
  return "claimId" in args && claims.some(({ claimId }) => claimId === args.claimId);
}
