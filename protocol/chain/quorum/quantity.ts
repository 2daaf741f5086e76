/** A number as JSON-RPC writes it; undefined for anything else, which a node that lies may say. */
export const quantity = (value: unknown): bigint | undefined =>
  typeof value === "string" && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : undefined;
