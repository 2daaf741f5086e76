/** What the canonical executor's threads are asked, and what they answer. */
import type { BaseErrorOptions } from "../../base/errors.ts";
import type { Level } from "../commit/tree.ts";
import type { OutputCheck } from "../executor/execute.ts";
import type { ProfileReport } from "../profile/prove.ts";
import type { Model, TensorData } from "../program/form.ts";

/** A model that a thread can run. */
export interface CanonicalModel {
  readonly model: Model;
  /** 4 bytes */
  readonly selector: Uint8Array;
  /** what is proven of it, as far as that is known */
  readonly profile?: Pick<ProfileReport, "bounds">;
}

export const TASKS = ["output", "check", "trace"] as const;
export type Task = (typeof TASKS)[number];

export interface CanonicalRun {
  readonly task: Task;
  readonly id: string;
  /** present where this thread has not run the model before */
  readonly model: CanonicalModel | undefined;
  readonly calldata: Uint8Array;
  /** return data that somebody states, as `checkOutput` and `trace` take them */
  readonly claimed: Uint8Array | undefined;
  /** descriptor of the file that a trace's tensors are written to; absent: they stay in memory */
  readonly file: number | undefined;
}

/** What the tree of a step's tensor is made of. */
export interface StepTree {
  /** absent: it is in the file */
  readonly data?: TensorData;
  readonly levels: readonly Level[];
}

export interface ToThread {
  /** In the order in which they are run: short ones travel together, since a message takes longer than they do. */
  readonly runs: readonly CanonicalRun[];
  /** whether the thread says when it is ready for them: it has to make ready for one of them first */
  readonly tellsReady: boolean;
  /** whether no other thread of the pool runs: then a run may take a second core */
  readonly isAlone: boolean;
}

export type CanonicalAnswer =
  | {
      readonly kind: "output";
      readonly output: Uint8Array;
      /** of this run, ms */
      readonly ms: number;
    }
  | { readonly kind: "check"; readonly check: OutputCheck; readonly ms: number }
  /** Buffers in it travel without a copy. */
  | { readonly kind: "trace"; readonly trees: readonly StepTree[] }
  /** `code` absent: a fault of the program */
  | {
      readonly kind: "failed";
      readonly error: Partial<BaseErrorOptions> & { readonly shortMessage: string };
    };

/** One answer for each run of a message; before them, where it is to tell, that it is ready. */
export type FromThread = readonly CanonicalAnswer[] | "ready";
