/** `assay node anvil`: a local chain for development. */
import type { Command } from "commander";
import { privateKeyToAddress } from "viem/accounts";
import { integer, loadConfig, type Settings, text } from "../protocol/service/config.ts";
import { ANVIL_KEYS, startAnvil } from "./anvil.ts";
import { withSettings } from "./chain.ts";
import { printResult, withJson } from "./output.ts";

const NODE_SETTINGS = {
  port: { schema: integer(0, 65_535), default: 8_545, description: "TCP port, 0 for any" },
  chainId: { schema: integer(1, 2 ** 53 - 1), default: 31_337, description: "chain id" },
  blockTime: { schema: integer(1, 3_600), default: 1, description: "seconds between blocks" },
  state: { schema: text, description: "file to load the chain from and save it to" },
} as const satisfies Settings;

export function addNodeCommands(program: Command): void {
  const node = program.command("node").description("local chains");
  const anvil = node.command("anvil").description("start a local chain; ends with Ctrl-C");
  withJson(withSettings(anvil, NODE_SETTINGS)).action(async (_options, command: Command) => {
    // These are of one command, not of a deployment: no variables, no file.
    const settings = loadConfig(NODE_SETTINGS, { flags: command.optsWithGlobals(), env: {} });
    const { port, chainId, blockTime: blockTimeSeconds, state } = settings;
    const chain = await startAnvil({
      port,
      chainId,
      blockTimeSeconds,
      ...(state === undefined ? {} : { state }),
    });
    const accounts = ANVIL_KEYS.map((key) => ({ address: privateKeyToAddress(key), key }));
    printResult(command, { rpcUrl: chain.rpcUrl, chainId, pid: chain.pid, accounts }, [
      `Chain ${chainId} at ${chain.rpcUrl}, a block every ${blockTimeSeconds} s`,
      "Accounts with ether, their keys public and worthless elsewhere:",
      ...accounts.map(({ address, key }) => `  ${address}  ${key}`),
    ]);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void chain.stop());
    await chain.ended;
  });
}
