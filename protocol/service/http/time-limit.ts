/** Work for a caller, cancelled when he leaves or its time is over. */
import { setMaxListeners } from "node:events";
import type { Response } from "express";
import { BaseError } from "../../../base/errors.ts";

export const CANCELLED_BY = ["left", "timeout"] as const;
export type CancelledBy = (typeof CANCELLED_BY)[number];

export interface TimeLimit {
  readonly timeoutMs: number;
  /** told once, if it was cancelled */
  readonly onCancel?: (by: CancelledBy) => void;
  /** what the caller is told who waited too long */
  readonly late: () => BaseError;
}

/** Ends with the work, or before it when its signal aborts, whether or not the work looks at that.
 *  @throws BaseError CALLER_LEFT, which nobody hears; what `late` makes; what the work throws */
export async function withinTime<T>(
  response: Response,
  { timeoutMs, onCancel, late }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const cancel = new AbortController();
  // Each of many runs listens.
  setMaxListeners(0, cancel.signal);
  let cancelled: (error: BaseError) => void = () => {};
  const whenCancelled = new Promise<never>((_resolve, reject) => {
    cancelled = reject;
  });
  const end = (by: CancelledBy) => {
    if (cancel.signal.aborted) return;
    cancelled(by === "left" ? callerLeft() : late());
    onCancel?.(by);
    cancel.abort();
  };
  const timer = setTimeout(() => end("timeout"), timeoutMs);
  const leave = () => end("left");
  response.once("close", leave);
  try {
    if (response.destroyed) leave();
    return await Promise.race([whenCancelled, cancel.signal.aborted ? whenCancelled : work(cancel.signal)]);
  } catch (error) {
    // Of several runs the others have nobody left who waits for them.
    cancel.abort();
    throw error;
  } finally {
    clearTimeout(timer);
    response.off("close", leave);
  }
}

const callerLeft = () =>
  new BaseError({
    code: "CALLER_LEFT",
    shortMessage: "The caller closed the connection before the answer.",
    nextStep: "Ask again, and wait longer.",
    retryable: true,
  });
