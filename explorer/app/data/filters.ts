const FILTERS = [
  "state",
  "model",
  "lane",
  "requester",
  "prover",
  "challenger",
  "fall",
  "disputed",
  "role",
] as const;

/** What may stand behind the question mark of a list: filters, by name. */
export type Filters = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;

/** Those of an address, each a text. */
export const filters = (search: Record<string, unknown>): Filters =>
  Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = String(search[name] ?? "");
      return value === "" ? [] : [[name, value]];
    }),
  );
