/** Which PostgreSQL is used. Its password stays in here: neither messages nor logs name more than host and database. */
import { readFileSync } from "node:fs";
import { BaseError } from "../../../base/errors.ts";

export interface DatabaseTerms {
  /** postgres://USER@HOST:PORT/DATABASE, with the password if there is one */
  readonly url: string;
  /** host, port and database, for people */
  readonly name: string;
}

const SCHEMES = ["postgres:", "postgresql:"];

/** @param url as configured @param passwordFile its first line is the password
 *  @throws BaseError DATABASE_URL_INVALID, DATABASE_PASSWORD_UNREADABLE; no message holds the URL */
export function databaseTerms(url: string, passwordFile: string | undefined): DatabaseTerms {
  if (!URL.canParse(url) || !SCHEMES.includes(new URL(url).protocol))
    throw databaseUrlInvalid("it is no such URL");
  const parsed = new URL(url);
  if (parsed.pathname.length < 2) throw databaseUrlInvalid("it names no database");
  if (passwordFile !== undefined) parsed.password = encodeURIComponent(readPassword(passwordFile));
  const port = parsed.port === "" ? "5432" : parsed.port;
  return { url: parsed.href, name: `${parsed.hostname}:${port}${parsed.pathname}` };
}

/** True for a URL that must not stand in arguments, which every user of the machine can read, nor in a file. */
export const holdsPassword = (url: string): boolean =>
  URL.canParse(url) && (new URL(url).password !== "" || new URL(url).searchParams.has("password"));

function readPassword(path: string): string {
  try {
    return readFileSync(path, "utf8").split(/\r?\n/, 1)[0] ?? "";
  } catch (cause) {
    throw new BaseError({
      code: "DATABASE_PASSWORD_UNREADABLE",
      shortMessage: `Cannot read ${path}: ${(cause as NodeJS.ErrnoException).code ?? "unknown reason"}.`,
      nextStep: "Check --database-password-file (ASSAY_DATABASE_PASSWORD_FILE).",
    });
  }
}

/** @param why without the URL */
export const databaseUrlInvalid = (why: string) =>
  new BaseError({
    code: "DATABASE_URL_INVALID",
    shortMessage: `The database's URL cannot be used: ${why}.`,
    nextStep: "Set --database (ASSAY_DATABASE) to postgres://USER@HOST:PORT/DATABASE.",
  });
