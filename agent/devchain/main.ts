/** Wires a development chain together. */
import type { Address } from "viem";
import type { Logger } from "../../base/log.ts";
import { type HttpServer, listen } from "../../protocol/service/http/listen.ts";
import { createEngineRegistry } from "../executor/engine/engine.ts";
import type { ModelRegistry } from "../executor/models/language-model.ts";
import { BlockFile } from "./block-file.ts";
import { DevChain } from "./dev-chain.ts";
import { embeddedModel } from "./embedded-model.ts";
import { createMethods } from "./rpc/methods.ts";
import { createRpcApp } from "./rpc/server.ts";

export interface DevChainSettings {
  readonly chainId: number;
  readonly accounts: readonly Address[];
  readonly models: ModelRegistry;
  readonly tries: number;
  /** where blocks are kept; absent: in memory alone */
  readonly file?: string;
  /** 0: any free one */
  readonly port: number;
  readonly log: Logger;
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
  const server = await listen(createRpcApp(createMethods(chain), log), "127.0.0.1", port);
  // Plainly: nobody checks what the model decides.
  log.info({ url: server.url, blocks: chain.blocks.length - 1, reasoning: "attested" }, "devchain is up");
  return { ...server, chain };
}
