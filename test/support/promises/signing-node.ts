import type { Logger } from "../../../base/log.ts";
import { connect } from "../../../protocol/chain/connect.ts";
import { requireAccount, type Sender, type SigningChain } from "../../../protocol/chain/sender.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import { openDataFolder } from "../../../protocol/service/data-folder.ts";
import { EventStore } from "../../../protocol/service/store/event-store.ts";
import { EVENTS_SCHEMA, PROMISE_EVENTS_SCHEMA } from "../../../protocol/service/store/events-schema.ts";
import type { PromiseNode } from "../../../prover/promises/node.ts";
import { openSigning, type SigningOptions } from "../../../prover/promises/open.ts";
import { type openLocalSystem, QUICK } from "../deploy.ts";
import { systemAccount } from "../system.ts";

export interface RunningNode {
  readonly node: PromiseNode;
  readonly chain: SigningChain;
  readonly sender: Sender;
  /** may be called again */
  stop(): Promise<void>;
}

interface NodeParts {
  readonly rpcUrl: string;
  readonly system: Pick<Awaited<ReturnType<typeof openLocalSystem>>, "deployment" | "modelId">;
  /** of the prover's account */
  readonly index: number;
  /** its folder */
  readonly data: string;
  readonly options: SigningOptions;
  readonly log: Logger;
}

/** Starts a node that signs, in this process. */
export async function startSigningNode(parts: NodeParts): Promise<RunningNode> {
  const { rpcUrl, system, index, data, options, log } = parts;
  const { deployment, modelId } = system;
  const chain = requireAccount(await connect({ rpcUrl, deployment, account: systemAccount(index) }));
  const folder = openDataFolder(data, chain, [EVENTS_SCHEMA, PROMISE_EVENTS_SCHEMA], QUICK);
  const { db, sender } = folder;
  const ending = new AbortController();
  const opened = await openSigning(options, {
    ...{ chain, sender, store: new EventStore(db), db, data, log, signal: ending.signal },
    ...{ models: new Map([[modelId, {} as never]]), pollIntervalMs: 20, confirmations: 0 },
  });
  const running = opened.run(ending.signal);
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    ending.abort();
    await running;
    await opened.close();
    await folder.close();
  };
  return { node: opened.node, chain, sender, stop };
}

/** Asks again and again, until there is something. */
export async function until<T>(read: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await read();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Why the node signs nothing for a model; undefined: it does. */
export function refusalOf(node: PromiseNode, modelId: ModelId): string | undefined {
  try {
    node.requireReady(modelId);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
