/** `assay deliver`: brings a final output to the callback of its request, as anybody may. */
import type { Command } from "commander";
import { formatAmount } from "../base/amounts.ts";
import { BaseError } from "../base/errors.ts";
import { Actions } from "../protocol/chain/actions.ts";
import { resultOf } from "../protocol/chain/await-result.ts";
import { probeDelivery } from "../protocol/chain/delivery-probe.ts";
import { historyOf } from "../protocol/chain/history.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import type { Sender, SigningChain } from "../protocol/chain/sender.ts";
import { requireSent } from "../protocol/chain/sent.ts";
import { isModelId, type RequestId } from "../protocol/rules/types.ts";
import { chainConfig, withChain, withSender } from "./chain.ts";
import { printResult, refuseArgument, withJson } from "./output.ts";
import { unknownRequest } from "./request.ts";
import { orByDaemon } from "./withdraw.ts";

export function addDeliverCommand(program: Command): void {
  const command = program
    .command("deliver")
    .description("bring a final output to its callback, also one that a prover gave up")
    .argument("<request>", "its id");
  withJson(withChain(command)).action(async (id: string, _options: object, self: Command) => {
    if (!isModelId(id)) refuseArgument("request", id, "32 bytes as hex");
    const requestId = id as string as RequestId;
    const config = chainConfig(self);
    const result = await orByDaemon(config, "deliver", { requestId }, () =>
      withSender(config, (chain, sender) => deliver(chain, sender, requestId)),
    );
    printResult(self, result, [
      "feeWei" in result
        ? `Delivered to ${result.callback} for ${formatAmount(BigInt(String(result.feeWei)))}`
        : "The running prover tries it again; its log says what comes of it.",
    ]);
  });
}

/** @throws BaseError REQUEST_UNKNOWN, REQUEST_REFUNDED, NOT_FINAL, CALLBACK_FAILS, REFUSED; faults of the node */
async function deliver(chain: SigningChain, sender: Sender, requestId: RequestId) {
  const events = await historyOf(chain, requestId);
  const requested = events.find((event) => event.name === "Requested");
  if (requested?.name !== "Requested") throw unknownRequest(requestId);
  const { request } = requested.args;
  const final = await resultOf(chain, request);
  if (final === undefined) throw notFinal(requestId);
  const own = events.filter(
    (event) => event.name === "Delivered" && !event.args.success && event.args.by === chain.account.address,
  );
  const probed = await probeDelivery(chain, request, final.claim, final.output);
  if (probed.kind === "fails") throw callbackFails(request.callback, probed.usesItsGas);
  const action = new Actions(chain.game).deliver(request, final.claim, final.output, own.length);
  const inclusion = requireSent("deliver", await sender.send(action));
  const { delivered } = await new StateReader(chain).requestWord(requestId);
  if (delivered !== "DELIVERED") throw callbackFails(request.callback, false);
  return { requestId, callback: request.callback, feeWei: request.deliveryFee, hash: inclusion?.hash };
}

const notFinal = (requestId: RequestId) =>
  new BaseError({
    code: "NOT_FINAL",
    shortMessage: `Request ${requestId} has no final output yet.`,
    nextStep: "Wait until it is final.",
    retryable: true,
  });

const callbackFails = (callback: string, usesItsGas: boolean) =>
  new BaseError({
    code: "CALLBACK_FAILS",
    shortMessage: `The callback ${callback} ${usesItsGas ? "uses its whole gas" : "reverts"}, so nothing was delivered.`,
    nextStep: "Correct the contract; whoever asked for too little gas has to ask again.",
  });
