/** What keeps the demo's deployment alive: a question every few seconds, in all lanes, and one a minute that the
 *  dishonest prover answers first, so that there is a dispute to look at. */
import { join } from "node:path";
import type { Address, LocalAccount } from "viem";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { type Chain, connect } from "../../protocol/chain/connect.ts";
import { pause } from "../../protocol/chain/follower.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import { modelFolder } from "../model-source.ts";
import type { Agent } from "./agent.ts";
import { askLanes } from "./lanes.ts";

export interface TrafficParts {
  readonly chain: Chain;
  /** folder for the requester's journal */
  readonly folder: string;
  readonly requester: LocalAccount;
  readonly agents: { readonly sentiment: Agent; readonly forecast: Agent };
  readonly provers: { readonly honest: Address; readonly dishonest: Address };
  readonly headlines: readonly string[];
  readonly prices: Readonly<Record<"closes" | "highs" | "lows", readonly string[]>>;
  /** told of questions that could not be asked */
  readonly onFault: (error: unknown) => void;
}

const EVERY_MS = 6_000;
/** Questions of one round: a minute. */
const ROUND = 10;
const EXCLUSIVE_SECONDS = { honest: 300, dishonest: 5 } as const;

/** Asks until the signal aborts. A question that fails is left out. */
export async function keepAsking(parts: TrafficParts, signal: AbortSignal): Promise<void> {
  const { chain, folder, requester } = parts;
  const own = requireAccount(
    await connect({
      rpcUrl: chain.client.transport.url ?? "",
      deployment: chain.deployment,
      account: requester,
    }),
  );
  const { sender, close } = openDataFolder(join(folder, "traffic"), own, [], { pollIntervalMs: 100 });
  try {
    for (let i = 0; !signal.aborted; i++) {
      try {
        await ask(parts, i, (name, inputs) =>
          askLanes(
            { chain: own, sender },
            loadModelFolder(modelFolder(name)),
            { name, label: `question ${i}`, inputs },
            parts.provers.honest,
            () => {},
          ),
        );
      } catch (error) {
        parts.onFault(error);
      }
      await pause(EVERY_MS, signal);
    }
  } finally {
    await close();
  }
}

type AskLanes = (name: string, inputs: Readonly<Record<string, unknown>>) => Promise<unknown>;

async function ask({ agents, provers, headlines, prices }: TrafficParts, i: number, inLanes: AskLanes) {
  const text = `${headlines[i % headlines.length]} (${i})`;
  switch (i % ROUND) {
    case 2:
      return agents.forecast.ask({
        label: `forecast ${i}`,
        inputs: prices,
        prover: provers.honest,
        exclusiveSeconds: EXCLUSIVE_SECONDS.honest,
      });
    case 4:
      return inLanes("sentiment", { text });
    case 7:
      return inLanes("sentiment-words", { text });
    default: {
      const isLie = i % ROUND === 0;
      return agents.sentiment.ask({
        label: `headline ${i}`,
        inputs: { text },
        prover: isLie ? provers.dishonest : provers.honest,
        exclusiveSeconds: isLie ? EXCLUSIVE_SECONDS.dishonest : EXCLUSIVE_SECONDS.honest,
      });
    }
  }
}
