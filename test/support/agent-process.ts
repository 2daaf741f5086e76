/** Agents behind HTTP as processes of their own. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface AgentProcess {
  readonly url: string;
  stop(): void;
}

/** @param args of node; it logs its URL when it is up
 *  @param env all of its environment but PATH */
export async function startAgentProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd = ".",
): Promise<AgentProcess> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = () => void child.kill();
  for await (const line of createInterface({ input: child.stdout })) {
    const { url, msg } = JSON.parse(line) as { url?: string; msg: string };
    // The rest of its log must not fill the pipe.
    child.stdout.resume();
    if (url !== undefined) return { url, stop };
    stop();
    throw new Error(msg);
  }
  throw new Error("the agent ended before it was up");
}

/** The entry of the examples' container. */
export const startExampleProcess = (example: string, env: Readonly<Record<string, string>>) =>
  startAgentProcess(["--import", "tsx", "agent/http/main.ts"], {
    ASSAY_AGENT: example,
    ASSAY_AGENT_HOST: "127.0.0.1",
    ASSAY_AGENT_PORT: "0",
    ...env,
  });
