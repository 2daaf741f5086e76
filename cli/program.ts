/** The commands of the `assay` program, each in a file of its own that is loaded where the command is asked for. */

import { Command } from "commander";
import { VERSION } from "../base/version.ts";
import { flagName, LOG_SETTINGS } from "../protocol/service/config.ts";
import { EXIT } from "./output.ts";

/** Adds commands to a program that has none of their names. */
type AddCommands = (program: Command) => void;

interface CommandGroup {
  /** of the commands that it adds */
  readonly names: readonly string[];
  load(): Promise<AddCommands>;
}

const group = (names: string, load: () => Promise<AddCommands>): CommandGroup => ({
  names: names.split(" "),
  load,
});

/** In the order of the help. */
const GROUPS: readonly CommandGroup[] = [
  group("model", loadModelCommands),
  group("prover", async () => (await import("./prover.ts")).addProverCommand),
  group("worker", async () => (await import("./worker.ts")).addWorkerCommand),
  group("challenger", loadChallengerCommands),
  group("gateway", async () => (await import("./gateway.ts")).addGatewayCommands),
  group("request refund", async () => (await import("./request.ts")).addRequestCommands),
  group("settle", async () => (await import("./settle.ts")).addSettleCommand),
  group("claim", async () => (await import("./claim.ts")).addClaimCommands),
  group("receipt", async () => (await import("./receipt.ts")).addReceiptCommand),
  group("stake", async () => (await import("./promises/stake.ts")).addStakeCommands),
  group("promise", async () => (await import("./promises/promise.ts")).addPromiseCommands),
  group("batch", async () => (await import("./promises/batch.ts")).addBatchCommands),
  group("agent", loadAgentCommands),
  group("deliver", async () => (await import("./deliver.ts")).addDeliverCommand),
  group("withdraw", async () => (await import("./withdraw.ts")).addWithdrawCommand),
  group("migrate", async () => (await import("./migrate.ts")).addMigrateCommand),
  group("audit", async () => (await import("./audit.ts")).addAuditCommand),
  group("explorer", async () => (await import("./explorer.ts")).addExplorerCommand),
  group("deploy", async () => (await import("./deploy/command.ts")).addDeployCommand),
  group("key", async () => (await import("./key.ts")).addKeyCommands),
  group("plan", async () => (await import("./plan.ts")).addPlanCommand),
  group("mcp", async () => (await import("./mcp.ts")).addMcpCommand),
  group("metadata", async () => (await import("./metadata.ts")).addMetadataCommands),
  group("feed", async () => (await import("./feed/command.ts")).addFeedCommands),
  group("proof", async () => (await import("./proof/commands.ts")).addProofCommands),
  group("node", async () => (await import("./node.ts")).addNodeCommands),
  group("conformance", async () => (await import("./conformance.ts")).addConformanceCommands),
  group("init", async () => (await import("./init.ts")).addInitCommand),
  group("doctor", async () => (await import("./doctor/command.ts")).addDoctorCommand),
  group("completion", async () => (await import("./completion/command.ts")).addCompletionCommand),
];

async function loadModelCommands(): Promise<AddCommands> {
  const [model, register, pull, execution, engine] = await Promise.all([
    import("./model/commands.ts"),
    import("./register.ts"),
    import("./pull.ts"),
    import("./execution.ts"),
    import("../inference/runtime/named-engine.ts"),
  ]);
  return (program) => {
    const command = program.command("model").description("import, run, check, register and pull models");
    model.addModelCommands(program, { onnxruntime: engine.onnxruntimeEngine });
    register.addRegisterCommand(command);
    pull.addPullCommand(command);
    execution.addExecutionCommands(command);
  };
}

async function loadChallengerCommands(): Promise<AddCommands> {
  const [challenger, show, act, attention, investigate, reset, drill] = await Promise.all([
    import("./challenger.ts"),
    import("./challenger/show.ts"),
    import("./challenger/act.ts"),
    import("./challenger/attention.ts"),
    import("./challenger/investigate.ts"),
    import("./challenger/reset-breaker.ts"),
    import("./challenger/drill/command.ts"),
  ]);
  return (program) => {
    const command = challenger.addChallengerCommand(program);
    show.addShowCommands(command);
    act.addActCommands(command);
    attention.addAttentionCommand(command);
    investigate.addInvestigateCommand(command);
    reset.addResetBreakerCommand(command);
    drill.addDrillCommand(command);
  };
}

async function loadAgentCommands(): Promise<AddCommands> {
  const [agent, http] = await Promise.all([import("./agent/commands.ts"), import("./agent/http.ts")]);
  return (program) => {
    agent.addAgentCommands(program);
    http.addAgentHttpCommands(program);
  };
}

/** Loads what the arguments need: the command that they begin with, which is quick, or else all.
 *  @param args without the program's name; absent: all */
export async function loadCommands(args: readonly string[] = []): Promise<readonly AddCommands[]> {
  const [first = ""] = args;
  if (first === "--version" || first === "-V") return [];
  // Completion tells of all the others.
  const asked = first === "completion" ? undefined : GROUPS.find(({ names }) => names.includes(first));
  return Promise.all((asked === undefined ? GROUPS : [asked]).map(({ load }) => load()));
}

/** A program that has not run: parse arguments with it once. */
export function createProgram(commands: readonly AddCommands[]): Command {
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

  for (const add of commands) add(program);
  return program;
}
