/** SQLite for the Node.js that runs. better-sqlite3 13 crashes on Node.js 20; 12, compiled for Node.js 24.19 or later,
 *  aborts when a statement is collected (nodejs/node issue 65446). */
import { createRequire } from "node:module";
import type BetterSqlite3 from "better-sqlite3";
import { BaseError } from "../../../base/errors.ts";
import { ensureBinary } from "./sqlite-node-20.ts";

/** First major version of Node.js that gets better-sqlite3 13. */
const FIRST_WITH_13 = 22;

/** @param node version of Node.js, as process.versions has it */
export const packageFor = (node: string): "better-sqlite3" | "better-sqlite3-13" =>
  Number.parseInt(node, 10) < FIRST_WITH_13 ? "better-sqlite3" : "better-sqlite3-13";

/** @throws BaseError SQLITE_MISSING */
function load(name: string): typeof BetterSqlite3 {
  try {
    if (name === "better-sqlite3") ensureBinary();
    return createRequire(import.meta.url)(name) as typeof BetterSqlite3;
  } catch (cause) {
    throw new BaseError({
      code: "SQLITE_MISSING",
      shortMessage: `The package ${name} cannot be loaded on Node.js ${process.versions.node}.`,
      nextStep:
        name === "better-sqlite3"
          ? "Run `npm install better-sqlite3@12` and `npm rebuild better-sqlite3 --ignore-scripts=false` where a C++ compiler and Python are, or use Node.js 22 or later, which needs neither."
          : "Run `npm ci` again.",
      cause,
    });
  }
}

/** Loaded when it is first used, and kept by Node.js: most commands need no database. */
const driver = () => load(packageFor(process.versions.node));

export type SqliteDatabase = BetterSqlite3.Database;

/** @throws BaseError SQLITE_MISSING; what better-sqlite3 throws */
export function openSqlite(path: string, options?: BetterSqlite3.Options): SqliteDatabase {
  const Database = driver();
  return new Database(path, options);
}

/** @param code of SQLite, or how it begins */
export function isSqliteError(
  error: unknown,
  code: string,
): error is InstanceType<typeof BetterSqlite3.SqliteError> {
  return error instanceof driver().SqliteError && error.code.startsWith(code);
}
