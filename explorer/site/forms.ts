/** What the pages of an exported site and the worker behind them say to each other. */
import type { StreamMessage } from "../read/changes.ts";

export interface Question {
  readonly method: "GET" | "POST";
  /** with its query */
  readonly path: string;
  /** JSON, of a POST */
  readonly body?: string;
}

export interface Answer {
  /** of HTTP */
  readonly status: number;
  /** JSON */
  readonly body: string;
}

/** Why something does not go on, for whoever looks at the page. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly nextStep: string;
}

/** How far the chain is read. */
export interface Progress {
  /** block of the deployment */
  readonly first: number;
  /** newest block that is read */
  readonly at: number;
  /** newest block of the chain */
  readonly newest: number;
  readonly events: number;
  /** blocks that the node answers for at once; absent: it has refused none */
  readonly atOnce?: number;
}

export type Reading =
  | { readonly state: "connecting"; readonly fault?: Fault }
  /** `fault`: the last question to the node failed, and is asked again */
  | { readonly state: "reading"; readonly progress: Progress; readonly fault?: Fault }
  | { readonly state: "live"; readonly fault?: Fault }
  /** reading has ended: there are more events than a browser reads */
  | { readonly state: "full"; readonly progress: Progress; readonly limit: number }
  /** nothing can be read */
  | { readonly state: "failed"; readonly fault: Fault };

export interface Listener {
  reading(state: Reading): void;
  emit(message: StreamMessage): void;
}

export interface SiteWorker {
  answer(question: Question): Promise<Answer>;
  /** The listener hears how it stands at once, and whatever comes. One is enough. */
  listen(listener: Listener): void;
}
