/** Faults of the disk below a database, told apart without loading SQLite: not everybody who meets errors has one. */
import { BaseError } from "./errors.ts";

const FAULTS = ["SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY"] as const;

/** What SQLite says when it can write nothing: the disk is full, or fails, or may only be read. What is not written is
 *  not done either, and is tried again.
 *  @returns undefined for any other error */
export function storageFault(error: unknown): BaseError | undefined {
  const { code } = error instanceof Error ? (error as Error & { code?: unknown }) : {};
  if (typeof code !== "string" || !FAULTS.some((fault) => code.startsWith(fault))) return undefined;
  return new BaseError({
    code: "DATABASE_NOT_WRITABLE",
    shortMessage: `The data folder's database cannot be written: ${(error as Error).message}.`,
    nextStep:
      "Free space on its disk, or mend it: this process then goes on by itself, but deadlines on the chain do not wait for it.",
    retryable: true,
    cause: error,
  });
}
