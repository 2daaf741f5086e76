/** `assay agent devchain`: a local chain with a language model behind a precompile. */
import type { Command } from "commander";
import { encodeDeployData, getContractAddress, type Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { integer, loadConfig, type Settings, text } from "../../protocol/service/config.ts";
import { ensureCompiled } from "../../tools/compile.ts";
import { ANVIL_KEYS } from "../anvil.ts";
import { loadArtifact } from "../artifacts.ts";
import { withSettings } from "../chain.ts";
import { stopSignal } from "../daemon.ts";
import { createLogger } from "../log.ts";
import { printResult, withJson } from "../output.ts";
import { closeModels, MODEL_SETTINGS, modelConfig, openModels } from "./models.ts";

const DEVCHAIN_SETTINGS = {
  port: { schema: integer(0, 65_535), default: 8_546, description: "TCP port, 0 for any" },
  chainId: { schema: integer(1, 2 ** 53 - 1), default: 31_338, description: "chain id" },
  file: { schema: text, description: "file that keeps the blocks with the model's answers" },
} as const satisfies Settings;

export function addDevChainCommand(agent: Command): void {
  const command = agent
    .command("devchain")
    .description(
      "run a local chain whose agents ask a language model inside their transaction; what the model says is attested by this process, and verified by nobody",
    );
  withJson(withSettings(withSettings(command, DEVCHAIN_SETTINGS), MODEL_SETTINGS)).action(
    async (_flags, self: Command) => {
      const settings = loadConfig(DEVCHAIN_SETTINGS, { flags: self.optsWithGlobals(), env: {} });
      const config = modelConfig(self);
      const log = createLogger("devchain", self);
      const signal = stopSignal(log);
      // Loaded here: an EVM in this process takes seconds, and the other commands need none.
      const { startDevChain } = await import("../../agent/devchain/main.ts");
      const { PRECOMPILE } = await import("../../agent/devchain/precompile.ts");
      const models = await openModels(config);
      try {
        const { port, chainId, file } = settings;
        const accounts = ANVIL_KEYS.map((key) => ({ address: privateKeyToAddress(key), key }));
        const running = await startDevChain({
          chainId,
          port,
          models,
          tries: config.tries,
          log,
          accounts: accounts.map(({ address }) => address),
          firstContract: { initCode: executorWith(PRECOMPILE), key: ANVIL_KEYS[0] },
          ...(file === undefined ? {} : { file }),
        });
        const executor = getContractAddress({ from: privateKeyToAddress(ANVIL_KEYS[0]), nonce: 0n });
        printResult(self, { rpcUrl: running.url, chainId, precompile: PRECOMPILE, executor, accounts }, [
          `Chain ${chainId} at ${running.url}, a block for each transaction`,
          `The model is behind ${PRECOMPILE}; agents take the executor ${executor}`,
          "Accounts with ether, their keys public and worthless elsewhere:",
          ...accounts.map(({ address, key }) => `  ${address}  ${key}`),
        ]);
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        await running.close();
      } finally {
        await closeModels(models);
      }
    },
  );
}

/** The executor, which every new chain gets as its first contract. */
function executorWith(precompile: Hex): Hex {
  ensureCompiled("contracts");
  const { abi, bytecode } = loadArtifact("EmbeddedExecutor");
  return encodeDeployData({ abi, bytecode, args: [precompile] });
}
