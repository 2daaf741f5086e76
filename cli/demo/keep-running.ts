/** What is left running, and where, until Ctrl-C. */
import type { Chain } from "../../protocol/chain/connect.ts";
import type { Agent } from "./agent.ts";
import type { Daemon } from "./processes.ts";

/** @param pages addresses to open in a browser */
export async function keepRunning(
  rpcUrl: string,
  chain: Chain,
  deployment: string,
  daemons: readonly Daemon[],
  agents: Readonly<Record<string, Agent>>,
  pages: Readonly<Record<"explorer" | "conviction", string>>,
): Promise<void> {
  const prover = daemons.find(({ name }) => name === "honest-prover");
  const { url } = await (prover as Daemon).logged("prover is up");
  console.log(`\nStill running; stop it with Ctrl-C.
  explorer    ${pages.explorer}
  conviction  ${pages.conviction}
  chain       ${rpcUrl}, chain id ${chain.game.chainId}
  assay       ${chain.game.assay}
  deployment  ${deployment}
  prover      ${url}
${Object.entries(agents)
  .map(([name, { address }]) => `  agent       ${address} (${name})`)
  .join("\n")}
${daemons.map(({ name, log }) => `  log         ${log} (${name})`).join("\n")}`);
  await new Promise((resolve) => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
}
