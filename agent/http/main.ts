/** Entry of an agent's container. Variables say which agent: ASSAY_AGENT (an example's name), or ASSAY_AGENT_METADATA
 *  and ASSAY_AGENT_HANDLERS (files); ASSAY_AGENT_HOST and ASSAY_AGENT_PORT where it listens, 0.0.0.0:80 unless told. */
import { pino, stdTimeFunctions } from "pino";
import { DEFAULT_CALLER_LIMITS } from "../../protocol/service/http/service.ts";
import { type AgentFiles, exampleFiles, serveAgent } from "./serve.ts";

const { env } = process;
const log = pino({
  name: "agent",
  timestamp: stdTimeFunctions.isoTime,
  serializers: { error: pino.stdSerializers.err },
});

function filesOf(): AgentFiles {
  const { ASSAY_AGENT_METADATA: metadata, ASSAY_AGENT_HANDLERS: handlers } = env;
  if (metadata !== undefined && handlers !== undefined) return { metadata, handlers };
  return exampleFiles(env.ASSAY_AGENT ?? "");
}

try {
  const server = await serveAgent({
    ...filesOf(),
    host: env.ASSAY_AGENT_HOST ?? "0.0.0.0",
    port: Number(env.ASSAY_AGENT_PORT ?? 80),
    environment: env,
    limits: DEFAULT_CALLER_LIMITS,
    log,
  });
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => void server.close().then(() => process.exit(0)));
  }
} catch (error) {
  log.fatal({ error }, "the agent did not start");
  process.exitCode = 1;
}
