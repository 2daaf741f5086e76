/** Answers in the encoding that a browser takes: gzip or Brotli. */
import compression from "compression";
import type { RequestHandler } from "express";

/** Answers that this process compresses at once; more are sent as they are. Each holds up to 8 MiB until whoever asked has read it
 *  or left, and one connection may ask for thousands without reading any. */
const MOST_AT_ONCE = 64;

let running = 0;

/** A part of a file stays as it is: it counts the file's own bytes. Whatever is sent, caches are told that it depends on the
 *  encodings that were asked for. */
export function compressed(mostAtOnce = MOST_AT_ONCE): RequestHandler {
  const compress = compression({
    filter: (request, response) => {
      if (running >= mostAtOnce || request.headers.range !== undefined) return false;
      if (!compression.filter(request, response)) return false;
      running += 1;
      response.once("close", () => {
        running -= 1;
      });
      return true;
    },
  });
  return (request, response, next) => {
    response.vary("Accept-Encoding");
    compress(request, response, next);
  };
}
