/** Events as text: JSON with big integers. */
export const encodeEvent = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? { $integer: `${part}` } : part));

export const decodeEvent = (text: string): unknown =>
  JSON.parse(text, (_key, part: unknown) =>
    typeof part === "object" && part !== null && "$integer" in part ? BigInt(String(part.$integer)) : part,
  );
