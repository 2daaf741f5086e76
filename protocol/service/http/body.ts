/** Reading of bodies, bounded. */
import type { Request } from "express";
import { concatBytes } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";

/** The body's bytes.
 *  @param limit most bytes
 *  @throws BaseError BODY_TOO_LARGE, BODY_INCOMPLETE, CONTENT_TYPE_UNSUPPORTED for a compressed one */
export async function readBody(request: Request, limit: number): Promise<Uint8Array> {
  const encoding = request.get("Content-Encoding") ?? "identity";
  if (encoding !== "identity") {
    throw new BaseError({
      code: "CONTENT_TYPE_UNSUPPORTED",
      shortMessage: `The body has the content encoding ${JSON.stringify(encoding.slice(0, 40))}.`,
      nextStep: "Send it uncompressed.",
    });
  }
  const announced = Number(request.get("Content-Length") ?? 0);
  if (announced > limit) throw tooLarge(announced, limit);
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of request as AsyncIterable<Uint8Array>) {
      size += part.length;
      if (size > limit) throw tooLarge(size, limit);
      parts.push(part);
    }
  } catch (error) {
    throw error instanceof BaseError ? error : incomplete(size, error);
  }
  // In memory of its own: a small Buffer is a piece of a larger one, which would go along to other threads.
  return concatBytes(...parts);
}

/** @param accepted media types; an absent header counts as the first
 *  @throws BaseError CONTENT_TYPE_UNSUPPORTED */
export function requireType(request: Request, accepted: string): void {
  const given = request.get("Content-Type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (given === undefined || given === "" || given === accepted) return;
  throw new BaseError({
    code: "CONTENT_TYPE_UNSUPPORTED",
    shortMessage: `The body is ${JSON.stringify(given.slice(0, 80))}, this route takes ${accepted}.`,
    nextStep: `Send it with Content-Type: ${accepted}.`,
  });
}

/** Calldata comes as bytes, under any content type (specs/003 sends none).
 *  @throws BaseError BODY_NOT_BYTES for hexadecimal text instead of the bytes that it stands for */
export function refuseText(body: Uint8Array): void {
  if (body.length < 10 || !/^(0x)?[0-9a-fA-F]+\s*$/.test(Buffer.from(body).toString("latin1"))) return;
  throw new BaseError({
    code: "BODY_NOT_BYTES",
    shortMessage: `The body is hexadecimal text of ${body.length} characters.`,
    nextStep: "Send the bytes themselves: selector, then ABI-encoded parameters.",
  });
}

function tooLarge(bytes: number, limit: number): BaseError {
  return new BaseError({
    code: "BODY_TOO_LARGE",
    shortMessage: `The body has ${bytes} bytes or more, at most ${limit} are read.`,
    nextStep: "Shorten the input.",
    details: { bytes, limit },
  });
}

function incomplete(bytes: number, cause: unknown): BaseError {
  return new BaseError({
    code: "BODY_INCOMPLETE",
    shortMessage: `The body ended after ${bytes} bytes, before it was complete.`,
    nextStep: "Send it again.",
    cause,
  });
}
