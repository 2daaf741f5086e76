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

export async function searchResult(parts: ReadParts, query: string): Promise<SearchResult> {
  const text = query.trim();
  const hits = await Promise.all([
    byName(parts, text),
    byHex(parts, text.toLowerCase()),
    byBlock(parts, text),
  ]);
  return { query, hits: hits.flat() };
}

async function byName({ library, index }: ReadParts, text: string): Promise<Hit[]> {
  const wanted = text.toLowerCase();
  if (wanted === "" || wanted.startsWith("0x")) return [];
  const named = [...library.models].filter(({ folder, manifest }) =>
    `${folder}\n${manifest.name}`.toLowerCase().includes(wanted),
  );
  const registered = await Promise.all(named.map(({ id }) => index.tables.model(id as `0x${string}`)));
  return named
    .filter((_, i) => registered[i] !== undefined)
    .slice(0, MAX_HITS)
    .map(({ id, folder, manifest }) => ({
      kind: "model",
      id,
      label: `${manifest.name} (${folder})`,
      model: id,
    }));
}

/** What a hit is made of. */
interface Found {
  readonly id: string;
  readonly model: string | null;
  readonly state: string | null;
}

async function byHex({ index, library }: ReadParts, text: string): Promise<Hit[]> {
  const hex = text.startsWith("0x") ? text : `0x${text}`;
  if (!new RegExp(`^0x[0-9a-f]{${LEAST_DIGITS},64}$`).test(hex)) return [];
  const { sql } = index.tables;
  const named = (model: string | null): string => (model && library.get(model)?.manifest.name) ?? "";
  const below = async (
    kind: Hit["kind"],
    [table, id, model, state]: readonly [string, string, string, string],
    label: (found: Found) => string,
  ): Promise<Hit[]> => {
    const rows = await sql.all<Found>(
      `SELECT ${id} AS id, ${model} AS model, ${state} AS state FROM ${table}
        WHERE ${id} >= ? AND ${id} < ? ORDER BY ${id} LIMIT ?`,
      ...[hex, `${hex}g`, MAX_HITS],
    );
    return rows.map((row) => ({
      kind,
      id: row.id,
      label: label(row).trim(),
      ...(row.model === null ? {} : { model: row.model }),
    }));
  };
  const hits = await Promise.all([
    below("model", ["models", "id", "id", "NULL"], ({ id }) => named(id) || "model"),
    below(
      "request",
      ["requests", "id", "model", "state"],
      ({ state, model }) => `request, ${state} ${named(model)}`,
    ),
    below(
      "claim",
      ["claims", "id", "model", "state"],
      ({ state, model }) => `claim, ${state} ${named(model)}`,
    ),
    below("batch", ["batches", "id", "model", "NULL"], ({ model }) => `batch ${named(model)}`),
    below(
      "signed claim",
      ["signed_claims", "id", "model", "state"],
      ({ state, model }) => `signed claim, ${state} ${named(model)}`,
    ),
    below("transaction", ["transactions", "hash", "NULL", "NULL"], () => "transaction"),
    byAddress(index.tables, hex),
  ]);
  return hits.flat();
}

/** Addresses are kept with their checksum. */
async function byAddress({ sql }: ReadParts["index"]["tables"], hex: string): Promise<Hit[]> {
  const rows = await sql.all<{ id: string }>(
    `SELECT id FROM sums WHERE scope = 'account' AND lower(id) >= ? AND lower(id) < ? ORDER BY lower(id), id LIMIT ?`,
    ...[hex, `${hex}g`, MAX_HITS],
  );
  return rows.map(({ id }) => ({ kind: "account", id, label: "account" }));
}

async function byBlock({ index }: ReadParts, text: string): Promise<Hit[]> {
  if (!/^\d{1,12}$/.test(text)) return [];
  const rows = await index.tables.sql.all<{ hash: string }>(
    "SELECT hash FROM transactions WHERE block = ? ORDER BY hash LIMIT ?",
    ...[Number(text), MAX_HITS],
  );
  return rows.map(({ hash }) => ({ kind: "transaction", id: hash, label: `transaction of block ${text}` }));
}

/** Events of one transaction that are shown. */
const MAX_EVENTS = 500;

/** @throws BaseError TRANSACTION_UNKNOWN */
export async function transactionView({ index }: ReadParts, hash: `0x${string}`): Promise<Transaction> {
  const found = await index.tables.transaction(hash);
  if (found === undefined) throw transactionUnknown(hash);
  const { block, time, sender, to, gasUsed, fee } = found;
  const moves = await index.tables.moves("m.tx = ?", "ORDER BY m.seq LIMIT ?", [hash, MAX_EVENTS]);
  const events = moves.map(eventView);
  return { hash, block, time, sender, ...(to === null ? {} : { to }), gasUsed, fee, events };
}
