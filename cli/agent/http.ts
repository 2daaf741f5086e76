/** `assay agent http …`: agents behind HTTP. */
import type { Command } from "commander";
import { EXAMPLES, exampleFiles, serveAgent } from "../../agent/http/serve.ts";
import { integer, loadConfig } from "../../protocol/service/config.ts";
import { CALLER_SETTINGS, callerLimits } from "../caller-limits.ts";
import { stopSignal } from "../daemon.ts";
import { createLogger } from "../log.ts";
import { refuseArgument } from "../output.ts";

interface ServeFlags {
  readonly metadata?: string;
  readonly handlers?: string;
  readonly host: string;
  readonly port: string;
  readonly ratePerMinute: string;
  readonly trustProxy?: string;
}

/** The command that holds all agent commands, made if it is not there. */
export function agentCommand(program: Command): Command {
  const found = program.commands.find((command) => command.name() === "agent");
  return found ?? program.command("agent").description("run, serve and check agents");
}

export function addAgentHttpCommands(program: Command): void {
  const http = agentCommand(program).command("http").description("agents behind HTTP");
  http
    .command("serve")
    .description("answer calldata at POST / until stopped")
    .argument("[example]", `one of ${EXAMPLES.join(", ")}; else name both files`)
    .option("--metadata <file>", "metadata JSON")
    .option("--handlers <module>", "module that exports createHandlers(environment)")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <number>", "port to listen on, 0: any", "8080")
    .option(
      "--rate-per-minute <number>",
      CALLER_SETTINGS.ratePerMinute.description,
      `${CALLER_SETTINGS.ratePerMinute.default}`,
    )
    .option("--trust-proxy <proxies>", CALLER_SETTINGS.trustProxy.description)
    .addHelpText("after", "\nExamples read ASSAY_AGENT_* variables: docs/AGENT-METADATA.md.")
    .action(serve);
}

async function serve(example: string | undefined, flags: ServeFlags, self: Command): Promise<void> {
  const { metadata, handlers, host } = flags;
  const named = example === undefined ? { metadata: "", handlers: "" } : exampleFiles(example);
  const files = { metadata: metadata ?? named.metadata, handlers: handlers ?? named.handlers };
  if (files.metadata === "") refuseArgument("--metadata", metadata, "a file, where no example is named");
  if (files.handlers === "") refuseArgument("--handlers", handlers, "a module, where no example is named");
  const port = integer(0, 65_535).safeParse(flags.port);
  if (!port.success) return refuseArgument("--port", flags.port, "an integer from 0 to 65535");
  const limits = callerLimits(
    loadConfig(CALLER_SETTINGS, { flags: { ...flags, config: undefined }, env: {} }),
  );
  const log = createLogger("agent", self);
  const signal = stopSignal(log);
  const server = await serveAgent({ ...files, host, port: port.data, environment: process.env, limits, log });
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await server.close();
}
