/** Answers of services that the operator named: whole, and never larger than is expected. */

/** @throws Error for one that is longer; faults of the connection */
export async function readAtMost({ body }: Response, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) throw new Error(`The answer has more than ${maxBytes} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
