/** The commands of the `assay` program, each in a file of its own. */

import { Command } from "commander";
import { VERSION } from "../base/version.ts";
import { onnxruntimeEngine } from "../inference/runtime/named-engine.ts";
import { flagName, LOG_SETTINGS } from "../protocol/service/config.ts";
import { addAgentCommands } from "./agent/commands.ts";
import { addAgentHttpCommands } from "./agent/http.ts";
import { addAuditCommand } from "./audit.ts";
import { addActCommands } from "./challenger/act.ts";
import { addAttentionCommand } from "./challenger/attention.ts";
import { addDrillCommand } from "./challenger/drill/command.ts";
import { addInvestigateCommand } from "./challenger/investigate.ts";
import { addResetBreakerCommand } from "./challenger/reset-breaker.ts";
import { addShowCommands } from "./challenger/show.ts";
import { addChallengerCommand } from "./challenger.ts";
import { addClaimCommands } from "./claim.ts";
import { addCompletionCommand } from "./completion/command.ts";
import { addConformanceCommands } from "./conformance.ts";
import { addDeliverCommand } from "./deliver.ts";
import { addDeployCommand } from "./deploy/command.ts";
import { addDoctorCommand } from "./doctor/command.ts";
import { addExecutionCommands } from "./execution.ts";
import { addExplorerCommand } from "./explorer.ts";
import { addFeedCommands } from "./feed/command.ts";
import { addGatewayCommands } from "./gateway.ts";
import { addInitCommand } from "./init.ts";
import { addKeyCommands } from "./key.ts";
import { addMcpCommand } from "./mcp.ts";
import { addMetadataCommands } from "./metadata.ts";
import { addModelCommands } from "./model/commands.ts";
import { addNodeCommands } from "./node.ts";
import { EXIT } from "./output.ts";
import { addPlanCommand } from "./plan.ts";
import { addBatchCommands } from "./promises/batch.ts";
import { addPromiseCommands } from "./promises/promise.ts";
import { addStakeCommands } from "./promises/stake.ts";
import { addProofCommands } from "./proof/commands.ts";
import { addProverCommand } from "./prover.ts";
import { addPullCommand } from "./pull.ts";
import { addReceiptCommand } from "./receipt.ts";
import { addRegisterCommand } from "./register.ts";
import { addRequestCommands } from "./request.ts";
import { addSettleCommand } from "./settle.ts";
import { addWithdrawCommand } from "./withdraw.ts";

/** A program that has not run: parse arguments with it once. */
export function createProgram(): Command {
  const program = new Command("assay")
    .description("Use the output of a model that somebody else ran, without trusting who ran it.")
    .version(VERSION)
    .option("--config <file>", "configuration file (default assay.json if it is there)")
    .option(`${flagName("logFormat")} <format>`, LOG_SETTINGS.logFormat.description)
    .option(`${flagName("logLevel")} <level>`, `${LOG_SETTINGS.logLevel.description} (default info)`)
    .option("--debug", "print the causes of errors")
    .showHelpAfterError("(--help shows what is possible)")
    .exitOverride()
    .addHelpText(
      "after",
      `\nExit codes: ${EXIT.failed} failed or refused, ${EXIT.usage} wrong arguments or configuration, ${EXIT.retryable} try again later, ${EXIT.finding} the check found something, ${EXIT.unexpected} a fault of this program.`,
    );

  const model = program.command("model").description("import, run, check, register and pull models");
  addModelCommands(program, { onnxruntime: onnxruntimeEngine });
  addRegisterCommand(model);
  addPullCommand(model);
  addExecutionCommands(model);
  addProverCommand(program);
  const challenger = addChallengerCommand(program);
  addShowCommands(challenger);
  addActCommands(challenger);
  addAttentionCommand(challenger);
  addInvestigateCommand(challenger);
  addResetBreakerCommand(challenger);
  addDrillCommand(challenger);
  addGatewayCommands(program);
  addRequestCommands(program);
  addSettleCommand(program);
  addClaimCommands(program);
  addReceiptCommand(program);
  addStakeCommands(program);
  addPromiseCommands(program);
  addBatchCommands(program);
  addAgentCommands(program);
  addDeliverCommand(program);
  addWithdrawCommand(program);
  addAuditCommand(program);
  addExplorerCommand(program);
  addDeployCommand(program);
  addKeyCommands(program);
  addPlanCommand(program);
  addMcpCommand(program);
  addMetadataCommands(program);
  addAgentHttpCommands(program);
  addFeedCommands(program);
  addProofCommands(program);
  addNodeCommands(program);
  addConformanceCommands(program);
  addInitCommand(program);
  addDoctorCommand(program);
  addCompletionCommand(program);
  return program;
}
