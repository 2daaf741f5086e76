/** Answers of services that the operator named: whole, and never larger than is expected. */

/** @throws Error for one that is longer; faults of the connection */
export async function readAtMost({ body }: Response, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Streams of Node.js can be iterated; the browsers' types, by which pages are checked, do not say so.
  const stream = body as unknown as AsyncIterable<Uint8Array> | null;
  for await (const part of stream ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) throw new Error(`The answer has more than ${maxBytes} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
