/** A file that a command's argument names. */
import { readFileSync } from "node:fs";
import { BaseError } from "../base/errors.ts";

/** @throws BaseError FILE_UNREADABLE */
export function readNamedFile(path: string, nextStep = "Name a file that is there."): Uint8Array {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new BaseError({
      code: "FILE_UNREADABLE",
      shortMessage: `${path} cannot be read: ${(cause as Error).message}.`,
      nextStep,
      cause,
    });
  }
}
