/** Search by anything that has a name: id, address, transaction, block, model. */
import type { SearchResult, Transaction } from "../api/types.ts";
import { eventView } from "./events.ts";
import type { ReadParts } from "./parts.ts";
import { transactionUnknown } from "./unknown.ts";

type Hit = SearchResult["hits"][number];
/** Hits of one kind. */
const MAX_HITS = 8;
/** Digits from which on the beginning of an id is looked for. */
const LEAST_DIGITS = 4;

export function searchResult(parts: ReadParts, query: string): SearchResult {
  const text = query.trim();
  return {
    query,
    hits: [...byName(parts, text), ...byHex(parts, text.toLowerCase()), ...byBlock(parts, text)],
  };
}

function byName({ library, index }: ReadParts, text: string): Hit[] {
  const wanted = text.toLowerCase();
  if (wanted === "" || wanted.startsWith("0x")) return [];
  return [...library.models]
    .filter(({ id }) => index.tables.model(id as `0x${string}`) !== undefined)
    .filter(({ folder, manifest }) => `${folder}\n${manifest.name}`.toLowerCase().includes(wanted))
    .slice(0, MAX_HITS)
    .map(({ id, folder, manifest }) => ({
      kind: "model",
      id,
      label: `${manifest.name} (${folder})`,
      model: id,
    }));
}

function byHex({ index, library }: ReadParts, text: string): Hit[] {
  const hex = text.startsWith("0x") ? text : `0x${text}`;
  if (!new RegExp(`^0x[0-9a-f]{${LEAST_DIGITS},64}$`).test(hex)) return [];
  const { sql } = index.tables;
  const below = (
    table: string,
    column: string,
    more = "",
  ): { id: string; model: string | null; label: string }[] =>
    sql<unknown[], { id: string; model: string | null; label: string }>(
      `SELECT ${column} AS id, ${more === "" ? "NULL AS model, '' AS label" : more} FROM ${table} WHERE ${column} >= ? AND ${column} < ? LIMIT ?`,
    ).all(hex, `${hex}g`, MAX_HITS);
  const named = (model: string | null): string => (model && library.get(model)?.manifest.name) ?? "";
  const hits = (
    kind: Hit["kind"],
    rows: ReturnType<typeof below>,
    label: (row: (typeof rows)[number]) => string,
  ) =>
    rows.map(
      (row): Hit => ({
        kind,
        id: row.id,
        label: label(row).trim(),
        ...(row.model === null ? {} : { model: row.model }),
      }),
    );
  return [
    ...hits("model", below("models", "id", "id AS model, '' AS label"), ({ id }) => named(id) || "model"),
    ...hits(
      "request",
      below("requests", "id", "model, state AS label"),
      ({ label, model }) => `request, ${label} ${named(model)}`,
    ),
    ...hits(
      "claim",
      below("claims", "id", "model, state AS label"),
      ({ label, model }) => `claim, ${label} ${named(model)}`,
    ),
    ...hits("transaction", below("transactions", "hash"), () => "transaction"),
    ...byAddress(index.tables, hex),
  ];
}

/** Addresses are kept with their checksum; LIKE takes letters in either case. */
const byAddress = ({ sql }: ReadParts["index"]["tables"], hex: string): Hit[] =>
  sql<unknown[], { id: string }>("SELECT id FROM sums WHERE scope = 'account' AND id LIKE ? LIMIT ?")
    .all(`${hex}%`, MAX_HITS)
    .map(({ id }) => ({ kind: "account", id, label: "account" }));

function byBlock({ index }: ReadParts, text: string): Hit[] {
  if (!/^\d{1,12}$/.test(text)) return [];
  return index.tables
    .sql<unknown[], { hash: string }>("SELECT hash FROM transactions WHERE block = ? LIMIT ?")
    .all(Number(text), MAX_HITS)
    .map(({ hash }) => ({ kind: "transaction", id: hash, label: `transaction of block ${text}` }));
}

/** Events of one transaction that are shown. */
const MAX_EVENTS = 500;

/** @throws BaseError TRANSACTION_UNKNOWN */
export function transactionView({ index }: ReadParts, hash: `0x${string}`): Transaction {
  const found = index.tables.transaction(hash);
  if (found === undefined) throw transactionUnknown(hash);
  const { block, time, sender, to, gasUsed, fee } = found;
  const events = index.tables.moves("m.tx = ?", "ORDER BY m.seq LIMIT ?", [hash, MAX_EVENTS]).map(eventView);
  return { hash, block, time, sender, ...(to === null ? {} : { to }), gasUsed, fee, events };
}
