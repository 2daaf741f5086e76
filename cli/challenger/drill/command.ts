/** `assay challenger drill`: one wrong claim on purpose, to see whether and how soon it is convicted. */
import type { Command } from "commander";
import { keccak256 } from "viem";
import { toHex } from "../../../base/bytes.ts";
import type { Program } from "../../../inference/program/form.ts";
import { demandDepth } from "../../../inference/program/shape.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import type { Sender, SigningChain } from "../../../protocol/chain/sender.ts";
import { requireSent } from "../../../protocol/chain/sent.ts";
import { claimIdOf, requestIdOf } from "../../../protocol/rules/ids.ts";
import { type Claim, type Request, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import { chainConfig, withChain, withSender } from "../../chain.ts";
import { stopSignal } from "../../daemon.ts";
import { FAULTS, falsify, parseFault } from "../../demo/dishonest/faults.ts";
import { EXIT, printProgress, printResult, refuseArgument, withJson } from "../../output.ts";
import { PROGRESS } from "../progress.ts";
import { costOf, type DrillCost, describeCost, requireFunds } from "./cost.ts";
import { playDrill } from "./play.ts";
import { describeReport, reportOf } from "./report.ts";
import { type Filed, fileRequest, type SubjectOptions, subjectOf } from "./subject.ts";

interface Options extends SubjectOptions {
  readonly fault?: string;
  readonly yes?: boolean;
}

const kinds = Object.entries(FAULTS).map(([kind, { takesStep, fall, does }]) => {
  const form = takesStep ? `${kind}:<step>` : kind;
  return `  ${form.padEnd(16)} ${does}; falls by ${fall}`;
});

export function addDrillCommand(challenger: Command): void {
  const command = challenger
    .command("drill")
    .description(
      `file one wrong claim with this key and its bond, and see who convicts it and how soon; the bond is lost; exit code ${EXIT.finding} if nobody does`,
    )
    .argument("[model]", "name or folder of a registered model, for a request of the drill's own")
    .option("--request <id>", "claim on this open request instead")
    .option("--inputs <file>", "JSON object of the function's parameters by name (default: random ones)")
    .option("--text <text>", "the one text of a model that takes a text")
    .option("--fault <kind[:step]>", "what is wrong (default: an element of the last DOT step)")
    .option("--yes", "agree to the cost; needed on a chain that is not local")
    .addHelpText(
      "after",
      `\nKinds of --fault:\n${kinds.join("\n")}\n\nUse a key that no other process uses.`,
    );
  withJson(withChain(command)).action(drill);
}

async function drill(name: string | undefined, options: Options, self: Command): Promise<void> {
  const { request } = options;
  if (name === undefined && request === undefined)
    refuseArgument("MODEL or --request", undefined, "one of the two");
  if (name !== undefined && request !== undefined)
    refuseArgument("--request", request, "absent where a model is named");
  const config = chainConfig(self);
  const signal = stopSignal(PROGRESS);
  const report = await withSender(config, async (chain, sender) => {
    const subject = await subjectOf(chain, name, options);
    const { model, prepared, calldata, there } = subject;
    const fault = parseFault(options.fault ?? defaultFault(prepared.program));
    const run = falsify(prepared, calldata, fault);
    const cost = await costOf(chain, {
      depth: demandDepth(prepared.program),
      outputLength: run.output.length,
      ...(there === undefined ? { inputLength: calldata.length } : {}),
      minBond: there?.request.minBond ?? 0n,
      attempt: there?.attempt ?? 0,
    });
    const what = `A drill on ${model}, with ${FAULTS[fault.kind].does}, costs`;
    printProgress([what, ...describeCost(cost)].join("\n"));
    await requireFunds(chain, cost, options.yes === true);
    const filed = there ?? (await fileRequest(chain, sender, subject, signal));
    const claim = wrongClaim(chain, filed, run.output, cost);
    const { claimId, inclusion } = await fileClaim(chain, sender, filed.request, claim, run.output, signal);
    printProgress(`wrong claim ${claimId}`);
    const { pollIntervalMs } = config;
    const parts = {
      chain,
      sender,
      program: prepared.program,
      fault: fault.kind,
      run,
      pollIntervalMs,
      signal,
    };
    const played = await playDrill(parts, claimId, filed.block);
    const facts = { ...chain.game, model, fault, requestId: claim.requestId, claimId };
    return { ...facts, ...(await reportOf(chain, played, [filed.inclusion, inclusion])) };
  });
  printResult(self, report, describeReport(report));
  if (!report.convicted) process.exitCode = EXIT.finding;
}

/** As a demonstration's: far from the output, so that the dispute goes all the way down. */
function defaultFault({ steps }: Program): string {
  const dot = steps.findLastIndex(({ opcode }) => opcode === "dot");
  const step = dot === -1 ? steps.findLastIndex(({ opcode }) => opcode !== "codec") : dot;
  return step === -1 ? "output" : `element:${step}`;
}

function wrongClaim(
  { game, account }: SigningChain,
  { request, attempt }: Filed,
  output: Uint8Array,
  { claimGasPrice: gasPrice, bond, ticketBond }: DrillCost,
): Claim {
  return {
    requestId: requestIdOf(game, request),
    modelId: request.modelId,
    attempt,
    prover: account.address,
    operator: ZERO_ADDRESS,
    outputHash: keccak256(output),
    bond,
    ticketBond,
    gasPrice,
  };
}

async function fileClaim(
  { game }: SigningChain,
  sender: Sender,
  request: Request,
  claim: Claim,
  output: Uint8Array,
  signal: AbortSignal,
) {
  const { attempt, operator, gasPrice, bond } = claim;
  const action = new Actions(game).claim(request, attempt, operator, gasPrice, toHex(output), bond);
  const inclusion = requireSent("claim", await sender.send(action, signal));
  return { claimId: claimIdOf(game, claim), inclusion };
}
