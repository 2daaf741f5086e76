/** `assay proof settle REQUEST…`: proves requests of one model and settles them, several in one transaction. */
import type { Command } from "commander";
import { fromHex } from "../../inference/bytes.ts";
import { Actions, type Settlement } from "../../protocol/chain/actions.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import type { SigningChain } from "../../protocol/chain/sender.ts";
import { proofLaneOf } from "../../protocol/proof/store-key.ts";
import { LANE, type RequestId } from "../../protocol/terms.ts";
import { compileCircuit } from "../../prover/proof/groth16/compile.ts";
import { proveInference } from "../../prover/proof/groth16/prove-inference.ts";
import { SnarkjsProver } from "../../prover/proof/groth16/snark/prover.ts";
import { chainConfig, withChain, withSender } from "../chain.ts";
import { isModelId } from "../model-source.ts";
import { printProgress, printResult, refuseArgument, withJson } from "../output.ts";
import { unknownRequest } from "../request.ts";
import { requireSent } from "../sent.ts";
import { type KeyOptions, provableModel, withKeys } from "./keys.ts";

interface Options extends KeyOptions {
  readonly model: string;
}

export function addSettleCommand(parent: Command): void {
  const command = parent
    .command("settle <requests...>")
    .description("end requests, or the disputes about them, by proofs; several in one transaction")
    .requiredOption("--model <model>", "name or folder of the model of all of them");
  withJson(withKeys(withChain(command))).action(settle);
}

async function settle(ids: readonly string[], options: Options, self: Command): Promise<void> {
  for (const id of ids) if (!isModelId(id)) refuseArgument("request", id, "32 bytes as hex");
  const { loaded, keys } = await provableModel(options.model, options);
  const circuit = compileCircuit(loaded.model);
  const prover = new SnarkjsProver();
  const { modelId } = loaded;
  try {
    const result = await withSender(chainConfig(self), async (chain, sender) => {
      const proofLane = proofLaneOf(chain);
      const submitter = chain.account.address;
      const binding = { chainId: chain.game.chainId, proofLane, modelId, submitter };
      const settlements: Settlement[] = [];
      for (const id of ids) {
        const open = await openRequest(chain, id as string as RequestId);
        if (open.request.modelId !== modelId) refuseArgument("request", id, `of model ${modelId}`);
        printProgress(`prove request ${id}`);
        const proven = await proveInference(loaded, fromHex(open.input), binding, keys, prover, circuit);
        settlements.push({ ...open, output: proven.output, evidence: proven.evidence });
      }
      const actions = new Actions(chain.game);
      const [only, ...more] = settlements as [Settlement, ...Settlement[]];
      const action =
        more.length > 0
          ? actions.settleBatch(submitter, settlements)
          : actions.settle(only.request, only.claim, LANE.PROOF, only.input, only.output, only.evidence);
      const inclusion = requireSent("settle", await sender.send(action));
      return { requests: ids, outputs: settlements.map(({ output }) => output), hash: inclusion?.hash };
    });
    printResult(self, result, [
      result.hash === undefined ? "Settled before:" : "Final in the PROOF lane:",
      ...ids.map((id, i) => `  ${id}: ${result.outputs[i]}`),
    ]);
  } finally {
    prover.close();
  }
}

/** @throws BaseError REQUEST_UNKNOWN */
async function openRequest(chain: SigningChain, requestId: RequestId) {
  const events = await historyOf(chain, requestId);
  const requested = events.find((event) => event.name === "Requested");
  if (requested?.name !== "Requested") throw unknownRequest(requestId);
  const { request, input } = requested.args;
  const { state } = await new StateReader(chain).requestWord(requestId);
  const claimed = events.findLast((event) => event.name === "Claimed");
  const claim = state === "BUSY" && claimed?.name === "Claimed" ? claimed.args.claim : undefined;
  return { request, claim, input };
}
