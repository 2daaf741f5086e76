/** Events of callback agents. */
import { type Address, getAddress, type Hex, type ParseEventLogsReturnType, parseEventLogs } from "viem";
import type { BlockRef } from "../../../protocol/chain/connect.ts";
import type { LogSource } from "../../../protocol/chain/follower.ts";
import { iCallbackAgentAbi } from "../../../protocol/rules/generated/abis.ts";

type Decoded = ParseEventLogsReturnType<typeof iCallbackAgentAbi, undefined, true>[number];
type Named<Log> = Log extends { eventName: infer Name; args: infer Args }
  ? { readonly name: Name; readonly args: Args }
  : never;

/** What happened to one run of one agent; narrow it by `name`. */
export type AgentEvent = Extract<Named<Decoded>, { readonly args: { readonly runId: bigint } }> & {
  readonly agent: Address;
  readonly block: BlockRef;
  readonly logIndex: number;
  readonly transactionHash: Hex;
};

/** Events of these agents that belong to a run. */
export const agentEvents = (agents: readonly Address[]): LogSource<AgentEvent> => ({
  addresses: agents,
  decode: (logs) =>
    parseEventLogs({ abi: iCallbackAgentAbi, logs: [...logs], strict: true })
      .filter(({ args }) => "runId" in args)
      .map(
        (log) =>
          ({
            name: log.eventName,
            args: log.args,
            agent: getAddress(log.address),
            block: { number: log.blockNumber, hash: log.blockHash },
            logIndex: log.logIndex,
            transactionHash: log.transactionHash,
          }) as AgentEvent,
      ),
});
