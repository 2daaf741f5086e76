/** The database of a browser, in Node.js. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import { EXPLORER_SCHEMA } from "../../explorer/index/schema.ts";
import { loadSqlite, openInMemory } from "../../explorer/site/sqlite.ts";
import type { SqliteConnection } from "../../explorer/store/sqlite-store.ts";
import { migrationsOf } from "../../protocol/service/journal/database.ts";

const WASM = createRequire(import.meta.url).resolve("@sqlite.org/sqlite-wasm/sqlite3.wasm");
const TABLES = migrationsOf(EXPLORER_SCHEMA).map((name) =>
  readFileSync(join(EXPLORER_SCHEMA.folder, name), "utf8"),
);

let loaded: Promise<Sqlite3Static> | undefined;

/** Loads SQLite's WebAssembly, which a process does once. @returns makes an empty database with the explorer's tables */
export async function browserDatabases(): Promise<() => SqliteConnection> {
  loaded ??= load();
  const sqlite = await loaded;
  return () => openInMemory(sqlite, TABLES);
}

async function load(): Promise<Sqlite3Static> {
  const original = globalThis.fetch;
  // It fetches its code, as in a browser; Node.js fetches no file.
  globalThis.fetch = async () =>
    new Response(readFileSync(WASM), { headers: { "content-type": "application/wasm" } });
  try {
    const { default: start } = (await import(WASM.replace(/wasm$/, "mjs"))) as {
      default: () => Promise<Sqlite3Static>;
    };
    return await loadSqlite(start);
  } finally {
    globalThis.fetch = original;
  }
}
