/** What the routes need of the gateway. */

import type { Logger } from "../../../base/log.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import type { CallerLimits } from "../../../protocol/service/http/service.ts";
import type { AgentService } from "../store/agent-service.ts";
import type { Turns } from "../store/turns.ts";
import type { TurnRunner } from "../turn-runner.ts";
import type { Callers } from "./callers.ts";

export interface AppParts {
  readonly agents: AgentService;
  readonly runner: TurnRunner;
  readonly turns: Turns;
  readonly limits: { readonly maxMessageChars: number; readonly maxHistory: number };
  readonly callers: Callers;
  readonly callerLimits: CallerLimits;
  /** names by which browsers reach it */
  readonly hosts: readonly string[];
  /** absent: no claims can be looked up */
  readonly chain: Chain | undefined;
  /** of the chat page's bundle */
  readonly pageFolder: string;
  readonly log: Logger;
  readonly nowMs: () => number;
}
