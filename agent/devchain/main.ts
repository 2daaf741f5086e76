/** Wires a development chain together. */
import { type Address, type Hex, parseGwei } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { fromHex } from "../../base/bytes.ts";
import type { Logger } from "../../base/log.ts";
import { type HttpServer, listen } from "../../protocol/service/http/listen.ts";
import { createEngineRegistry } from "../executor/engine/engine.ts";
import type { ModelRegistry } from "../executor/models/language-model.ts";
import { BlockFile } from "./block-file.ts";
import { DevChain } from "./dev-chain.ts";
import { embeddedModel } from "./embedded-model.ts";
import { BLOCK_GAS } from "./genesis.ts";
import { createMethods } from "./rpc/methods.ts";
import { createRpcApp } from "./rpc/server.ts";

export interface DevChainSettings {
  readonly chainId: number;
  readonly accounts: readonly Address[];
  readonly models: ModelRegistry;
  readonly tries: number;
  /** where blocks are kept; absent: in memory alone */
  readonly file?: string;
  /** what a new chain has in its first block, before anybody is answered */
  readonly firstContract?: FirstContract;
  /** 0: any free one */
  readonly port: number;
  readonly log: Logger;
}

export interface FirstContract {
  /** its creation code and its constructor's arguments */
  readonly initCode: Hex;
  /** of an account with ether, which deploys it */
  readonly key: Hex;
}

export interface RunningDevChain extends HttpServer {
  readonly chain: DevChain;
}

/** Opens the chain, executing again what its file holds, and listens on this machine alone: its keys are public.
 *  @throws BaseError BLOCK_DIVERGED, CHAIN_FILE_OTHER, CHAIN_FILE_MALFORMED, PORT_TAKEN */
export async function startDevChain(settings: DevChainSettings): Promise<RunningDevChain> {
  const { chainId, accounts, models, tries, file, port, log } = settings;
  const chain = await DevChain.open({
    chainId,
    accounts,
    ask: embeddedModel({ models, engines: createEngineRegistry(), tries, log }),
    nowSeconds: () => Math.floor(Date.now() / 1_000),
    ...(file === undefined ? {} : { file: new BlockFile(file) }),
  });
  if (settings.firstContract !== undefined && chain.blocks.length === 1) {
    await mineFirst(chain, settings.firstContract);
  }
  const server = await listen(createRpcApp(createMethods(chain), log), "127.0.0.1", port);
  // Plainly: nobody checks what the model decides.
  log.info({ url: server.url, blocks: chain.blocks.length - 1, reasoning: "attested" }, "devchain is up");
  return { ...server, chain };
}

async function mineFirst(chain: DevChain, { initCode, key }: FirstContract): Promise<void> {
  const raw = await privateKeyToAccount(key).signTransaction({
    chainId: Number(chain.chainId),
    nonce: 0,
    data: initCode,
    gas: BLOCK_GAS,
    maxFeePerGas: parseGwei("2"),
    maxPriorityFeePerGas: 0n,
    type: "eip1559",
  });
  await chain.mine(fromHex(raw));
}
