import { BaseError } from "../../base/errors.ts";

/** @param name of the file, for errors @throws FILE_NOT_JSON */
export function readJsonFile(content: Uint8Array, name: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(content));
  } catch (cause) {
    throw new BaseError({
      code: "FILE_NOT_JSON",
      shortMessage: `${name} is no JSON: ${cause instanceof Error ? cause.message : String(cause)}.`,
      nextStep: "Correct the file.",
      details: { path: name },
      cause,
    });
  }
}
