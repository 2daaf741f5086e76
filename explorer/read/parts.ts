/** What answers are made from. */
import type { Chain } from "../../protocol/chain/connect.ts";
import type { NodePulse } from "../../protocol/service/metrics/node-pulse.ts";
import type { Glossary } from "../api/types.ts";
import type { ExplorerIndex, IndexView } from "../index/explorer-index.ts";
import type { Watcher } from "../operator/watcher.ts";
import type { Provers } from "../provers.ts";
import type { Shelf } from "../shelf.ts";
import type { NodeReads } from "./node-reads.ts";

export interface AnswerParts {
  readonly index: ExplorerIndex;
  readonly chain: Chain;
  readonly library: Shelf;
  /** the terms that pages explain */
  readonly glossary: Glossary;
  readonly reads: NodeReads;
  readonly pulse: Pick<NodePulse, "newest" | "silentSinceMs">;
  readonly provers: Pick<Provers, "serving" | "ask">;
  /** absent: no daemon is watched */
  readonly watcher?: Pick<Watcher, "watched" | "alerts"> | undefined;
  readonly nowMs: () => number;
}

/** The same, with the index at one block. */
export type ReadParts = Omit<AnswerParts, "index"> & { readonly index: IndexView };

/** Reads at one block. What is asked of the node is asked before or after: nobody else may have to wait for it. */
export const atOneBlock = <Result>(
  { index, ...parts }: AnswerParts,
  read: (parts: ReadParts) => Promise<Result>,
): Promise<Result> => index.read((view) => read({ ...parts, index: view }));

/** What needs only the names of models. */
export type Shelved = Pick<AnswerParts, "library">;

/** Second of the newest indexed block: what is final or overdue is judged by it. */
export const chainNow = ({ index }: Pick<ReadParts, "index">): number => index.head?.timestamp ?? 0;
